"""The table of the survey (Ciriani et al. 2007, Fig. 2), and what becomes of it there."""

from __future__ import annotations

import pandas as pd


def patients() -> pd.DataFrame:
    """Fig. 2: eleven patients."""
    return pd.DataFrame(
        {
            "Race": ["Asian"] * 4 + ["Black"] * 4 + ["White"] * 3,
            "DoB": [
                "64/09/27", "64/09/30", "64/04/18", "64/04/15", "63/03/13", "63/03/18", "64/09/13", "64/09/07",
                "61/05/14", "61/05/08", "61/09/15",
            ],
            "Sex": list("FFMMMMFFMMF"),
            "ZIP": ["94139"] * 4 + ["94138"] * 2 + ["94141"] * 2 + ["94138"] * 2 + ["94142"],
            "MarStat": ["Divorced"] * 2 + ["Married"] * 6 + ["Single"] * 2 + ["Widow"],
            "Disease": [
                "Hypertension", "Obesity", "Chest pain", "Obesity", "Hypertension", "Short breath", "Short breath",
                "Obesity", "Chest pain", "Obesity", "Short breath",
            ],
            "DH": [3, 1, 40, 7, 2, 3, 5, 60, 7, 10, 5],
            "Chol": [260, 170, 200, 280, 190, 185, 200, 290, 170, 300, 200],
            "Temp": [35.2, 37.7, 38.1, 37.4, 35.3, 38.2, 36.5, 39.8, 37.6, 40.1, 36.9],
        }
    )  # fmt: skip


def swapped() -> pd.DataFrame:
    """Fig. 10: t3 with t5, t7 with t8, t9 with t10."""
    frame = patients()
    order = [0, 1, 4, 3, 2, 5, 7, 6, 9, 8, 10]
    for name in ("Disease", "DH", "Chol", "Temp"):
        frame[name] = frame[name].to_numpy()[order]
    return frame


RANK_SWAPPED = [35.3, 37.4, 38.2, 37.7, 35.2, 38.1, 36.9, 40.1, 37.6, 39.8, 36.5]
"""Fig. 11: column Temp of the same records."""
