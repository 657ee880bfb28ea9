"""A synthetic business register with real codes: NACE Rev. 2 activities and the NUTS 2021 regions of Ireland.

No record is, or is derived from, a real enterprise. Shares of sections and regions are round numbers; what matters is
what disclosure control meets in practice: many small units, few huge ones, and holdings that own several of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.instances.streams import Stream
from tabprotect.kinds import of_kinds

__all__ = ["BUNDLED_SEED", "BUNDLED_SIZE", "SIZES", "bundle", "codes", "hrc", "register"]

#: Seed and size of the register in ``data/register.csv``.
BUNDLED_SEED, BUNDLED_SIZE = 2021, 20_000

#: Business economy: sections B to N without K. Divisions with the last digits of their groups.
_NACE = {
    "B": "05:12 06:12 07:12 08:19 09:19",
    "C": "10:123456789 11:0 12:0 13:1239 14:123 15:12 16:12 17:12 18:12 19:12 20:123456 21:12 22:12 23:12345679 "
    "24:12345 25:12345679 26:12345678 27:123459 28:12349 29:123 30:12349 31:0 32:123459 33:12",
    "D": "35:123",
    "E": "36:0 37:0 38:123 39:0",
    "F": "41:12 42:129 43:1239",
    "G": "45:1234 46:12345679 47:123456789",
    "H": "49:12345 50:1234 51:12 52:12 53:12",
    "I": "55:1239 56:123",
    "J": "58:12 59:12 60:12 61:1239 62:0 63:19",
    "L": "68:123",
    "M": "69:12 70:12 71:12 72:12 73:12 74:1239 75:0",
    "N": "77:1234 78:123 79:19 80:123 81:123 82:1239",
}
_NUTS = {"IE04": ("IE041", "IE042"), "IE05": ("IE051", "IE052", "IE053"), "IE06": ("IE061", "IE062", "IE063")}

_SECTION_SHARE = {"B": 3, "C": 32, "D": 2, "E": 4, "F": 9, "G": 15, "H": 8, "I": 6, "J": 8, "L": 2, "M": 8, "N": 8}
_NUTS_SHARE = (10, 11, 11, 10, 14, 24, 12, 8)
#: Typical yearly turnover a person, in thousand euro.
_PRODUCTIVITY = {
    "B": 320, "C": 260, "D": 900, "E": 210, "F": 170, "G": 380,
    "H": 180, "I": 70, "J": 240, "L": 260, "M": 130, "N": 110,
}  # fmt: skip
#: Size classes by persons employed.
SIZES = ("0-9", "10-49", "50-249", "250+")
_SIZE_FROM = (10, 50, 250)


def codes() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return section -> division -> groups of the register's activities.

    Examples
    --------
    >>> codes()["F"]["41"]
    ('41.1', '41.2')
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for section, text in _NACE.items():
        divisions = (part.split(":") for part in text.split())
        found[section] = {division: tuple(f"{division}.{digit}" for digit in digits) for division, digits in divisions}
    return found


def hrc(name: str, leader: str = "@") -> str:
    """Return a hierarchy of the register as indented text: one code a line, one `leader` a level, the total left out.

    Parameters
    ----------
    name : {'nace', 'division', 'nuts'}
        Sections, divisions and groups; sections and divisions; regions on two levels below the country.
    """
    if name == "nuts":
        tree: dict[str, dict[str, tuple[str, ...]]] = {top: dict.fromkeys(below, ()) for top, below in _NUTS.items()}
    elif name in ("nace", "division"):
        tree = codes()
    else:
        raise InputError(f"the register has no hierarchy '{name}'{did_you_mean(name, ['nace', 'division', 'nuts'])}")
    lines = []
    for top, middle in tree.items():
        lines.append(top)
        for code, below in middle.items():
            lines.append(leader + code)
            lines += [2 * leader + low for low in (below if name == "nace" else ())]
    return "\n".join(lines) + "\n"


def _zipf(stream: Stream, n: int, exponent: float) -> npt.NDArray[np.float64]:
    weights = (1.0 + stream.order(n)) ** -exponent
    return np.asarray(weights / weights.sum(), dtype=np.float64)


@of_kinds()
def register(n: int = BUNDLED_SIZE, seed: int = BUNDLED_SEED) -> pd.DataFrame:
    """Draw a register.

    Parameters
    ----------
    n : int
        Number of enterprises.
    seed : int

    Returns
    -------
    pandas.DataFrame
        One row an enterprise: ``enterprise_id``; ``group_id`` (the holding it belongs to, missing for independent
        enterprises); ``nace`` (group), ``division``, ``nuts2``, ``nuts`` (level 3), ``size`` (class by persons
        employed); ``employees`` (persons); ``turnover`` (thousand euro, whole numbers >= 1).

    Examples
    --------
    >>> register(3, seed=1)[["enterprise_id", "nace", "nuts", "size"]]
      enterprise_id  nace   nuts   size
    0        E00001  47.9  IE061    0-9
    1        E00002  10.4  IE062  10-49
    2        E00003  62.0  IE061   250+
    """
    if n < 1:
        raise InputError(f"a register needs at least one enterprise, not {n}")
    stream = Stream(seed)
    tree = codes()
    groups: list[str] = []
    shares: list[float] = []
    for section, divisions in tree.items():
        for share, below in zip(_zipf(stream, len(divisions), 0.45), divisions.values(), strict=True):
            groups += below
            shares += (_SECTION_SHARE[section] * share * _zipf(stream, len(below), 0.5)).tolist()
    section_of = {low: section for section, divisions in tree.items() for below in divisions.values() for low in below}
    nace = np.array(groups)[stream.choice(shares, n)]
    regions = np.array([low for below in _NUTS.values() for low in below])
    nuts = regions[stream.choice(_NUTS_SHARE, n)]

    employees = np.floor(2.5 * np.minimum(stream.pareto(0.65, n), 1200.0)).astype(np.int64)
    size = np.array(SIZES)[np.searchsorted(_SIZE_FROM, employees, side="right")]
    productivity = np.array([_PRODUCTIVITY[section_of[code]] for code in nace])
    turnover = np.ceil(employees * productivity * stream.lognormal(-0.2, 0.6, n)).astype(np.int64)

    return pd.DataFrame(
        {
            "enterprise_id": [f"E{i + 1:05d}" for i in range(n)],
            "group_id": _holdings(employees, stream),
            "nace": nace,
            "division": [code[:2] for code in nace],
            "nuts2": [code[:4] for code in nuts],
            "nuts": nuts,
            "size": size,
            "employees": employees,
            "turnover": turnover,
        }
    )


def _holdings(employees: npt.NDArray[np.int64], stream: Stream) -> list[str | None]:
    """Large enterprises belong to a holding more often than small ones; a holding owns three on average."""
    n = len(employees)
    member = np.flatnonzero(stream.uniform(n) < np.minimum(0.02 + 0.06 * np.log10(np.maximum(employees, 1)) ** 2, 0.6))
    holding = stream.integers(0, max(1, len(member) // 3), len(member))
    names: list[str | None] = [None] * n
    for enterprise, group in zip(member.tolist(), holding.tolist(), strict=True):
        names[enterprise] = f"G{group + 1:04d}"
    return names


def bundle(folder: str | Path, files: Sequence[str] = ("register.csv", "nace.hrc", "division.hrc", "nuts.hrc")) -> None:
    """Write the bundled register and its hierarchies, byte for byte as they are in the package.

    Parameters
    ----------
    folder : path
    files : sequence of str
        Which of the files.
    """
    for name in files:
        if name == "register.csv":
            text = register().to_csv(index=False, lineterminator="\n")
        else:
            text = hrc(name.removesuffix(".hrc"))
        (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
