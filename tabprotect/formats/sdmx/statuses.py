"""Which code of the SDMX code lists says what about a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tabprotect.errors import collect, did_you_mean

__all__ = ["ESTAT", "LISTS", "SDMX", "StatusMap"]

LISTS: Final[Mapping[str, Mapping[str, str]]] = {
    "SDMX:CL_CONF_STATUS": {
        "F": "free",
        "A": "primary, small counts",
        "C": "confidential",
        "D": "secondary, set by the sender",
        "E": "under embargo",
        "G": "primary, dominance by one or two",
        "M": "primary, other measures of concentration",
        "N": "not for publication, internal",
        "O": "primary, dominance by one",
        "S": "secondary, set by the receiver",
        "T": "primary, dominance by two",
        "X": "military secrecy",
    },
    "SDMX:CL_OBS_STATUS": {
        "A": "normal",
        "B": "break",
        "D": "definition differs",
        "E": "estimated",
        "F": "forecast",
        "G": "experimental",
        "H": "missing, holiday",
        "I": "imputed",
        "J": "derogation",
        "K": "in another category",
        "L": "missing, not collected",
        "M": "missing, cannot exist",
        "N": "not significant",
        "O": "missing",
        "P": "provisional",
        "Q": "missing, suppressed",
        "S": "strike and the like",
        "U": "low reliability",
        "V": "unvalidated",
        "W": "includes another category",
    },
    "ESTAT:CONF_STATUS": {"C": "confidential", "N": "not for publication", "P": "secrecy of another kind"},
    "ESTAT:OBS_STATUS": {
        "b": "break",
        "d": "definition differs",
        "e": "estimated",
        "f": "forecast",
        "i": "imputed by a receiver",
        "m": "missing, cannot exist",
        "n": "not significant",
        "p": "provisional",
        "u": "low reliability",
    },
}
"""Codes of the cross-domain lists of SDMX, in which data are sent to Eurostat, and of the flags that Eurostat has
published since January 2025; an empty code is allowed in the latter."""

_WORDS: Final = ("published", "suppressed", "primary", "secondary")


@dataclass(frozen=True)
class StatusMap:
    """Codes of CONF_STATUS and OBS_STATUS by the public status of a cell.

    Parameters
    ----------
    conf, obs : mapping of str to str
        By 'published', 'suppressed', 'primary' and 'secondary'; '' writes nothing.
    conf_list, obs_list : str
        The code lists that these codes are from, names in `LISTS`; other names are taken without a check.

    Raises
    ------
    InputError
        Statuses without a code, and codes that the lists have not.

    Examples
    --------
    >>> SDMX.conf["secondary"], SDMX.together().conf["secondary"]
    ('D', 'C')
    """

    conf: Mapping[str, str] = field(hash=False)
    obs: Mapping[str, str] = field(hash=False)
    conf_list: str = "SDMX:CL_CONF_STATUS"
    obs_list: str = "SDMX:CL_OBS_STATUS"

    def __post_init__(self) -> None:
        with collect() as problems:
            for name, codes, source in (("conf", self.conf, self.conf_list), ("obs", self.obs, self.obs_list)):
                for word in _WORDS:
                    if word not in codes:
                        problems.add(f"{name} has no code for '{word}'; '' writes nothing")
                for word, code in codes.items():
                    if word not in _WORDS:
                        problems.add(f"{name} names the status '{word}'{did_you_mean(word, _WORDS)}")
                    known = LISTS.get(source)
                    if known is not None and code and code not in known:
                        problems.add(f"{name}: {source} has no code '{code}'{did_you_mean(code, known)}")
            if self.conf.get("published") == self.conf.get("suppressed"):
                problems.add("published and suppressed cells have the same CONF_STATUS, so nothing tells them apart")

    def together(self) -> StatusMap:
        """Return the map in which primary and secondary cells are told apart by nothing."""
        one = dict.fromkeys(("suppressed", "primary", "secondary"), self.conf["suppressed"])
        two = dict.fromkeys(("suppressed", "primary", "secondary"), self.obs["suppressed"])
        return StatusMap({**self.conf, **one}, {**self.obs, **two}, self.conf_list, self.obs_list)


SDMX: Final = StatusMap(
    {"published": "F", "suppressed": "C", "primary": "C", "secondary": "D"},
    {"published": "A", "suppressed": "Q", "primary": "Q", "secondary": "Q"},
)
"""As data are sent: C for primary cells, D for secondary ones, Q for values that are missing as they are hidden."""

ESTAT: Final = StatusMap(
    {"published": "", "suppressed": "C", "primary": "C", "secondary": "C"},
    {"published": "", "suppressed": "", "primary": "", "secondary": ""},
    "ESTAT:CONF_STATUS",
    "ESTAT:OBS_STATUS",
)
"""As Eurostat publishes: C for every hidden cell."""
