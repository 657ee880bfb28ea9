"""A small table as finished cells."""

from __future__ import annotations

import pandas as pd


def cross() -> pd.DataFrame:
    """A 2 x 2 table with margins."""
    return pd.DataFrame(
        {
            "region": ["Total"] * 3 + ["N"] * 3 + ["S"] * 3,
            "size": ["Total", "1", "2"] * 3,
            "v": [20.0, 9.0, 11.0, 8.0, 3.0, 5.0, 12.0, 6.0, 6.0],
            "n": [9, 5, 4, 4, 2, 2, 5, 3, 2],
            "max": [6.0, 4.0, 6.0, 4.0, 2.0, 4.0, 6.0, 4.0, 6.0],
        }
    )


BY = ["region", "size"]
