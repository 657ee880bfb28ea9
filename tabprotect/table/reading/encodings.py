"""Which encoding of one byte a letter a text has, by the letters of the languages that are written in it."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["likely_encodings"]

_WESTERN: Final = {
    "German": "äöüß",
    "French": "àâçéèêëîïôùûüÿœæ",
    "Spanish": "áéíñóúü",
    "Italian": "àèéìíîòóù",
    "Portuguese": "ãõáâàçéêíóôúü",
    "Catalan": "àçèéíïòóúü",
    "Dutch": "áéëïóöüèê",
    "Swedish, Finnish": "åäöéà",
    "Danish, Norwegian": "æøåéóòôâ",
    "Estonian": "äõöüšž",
}

_CENTRAL: Final = {
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Croatian, Slovene": "čćđšž",
    "Romanian": "ăâîşţ",
}

_TOGETHER: Final = {
    "German, French, Italian, Dutch": "äöüßàâçéèêëîïôùûÿœæìòóá",
    "Spanish, Portuguese, French, Catalan": "áéíñóúüãõâàçêôèëîïùûœò",
    "Scandinavian, German": "åäöæøüßéè",
}
"""Where several languages of one encoding are official."""

_LANGUAGES: Final = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1257": {"Lithuanian": "ąčęėįšųūž", "Latvian": "āčēģīķļņšūž", "Estonian": "äõöüšž"},
    "cp1253": {"Greek": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ"},
    "cp1251": {
        "Russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
        "Ukrainian": "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "Serbian": "абвгдђежзијклљмнњопрстћуфхцчџш",
    },
    "cp1254": {"Turkish": "çğıöşüâîû"},
    "iso8859_15": _WESTERN,
    "iso8859_2": _CENTRAL,
}

_LAST: Final = {"cp1252": {**_TOGETHER, "Icelandic": "áðéíóúýþæö"}, "iso8859_15": _TOGETHER}
"""Taken only where no language before fits as well."""

_OTHER_SCRIPTS: Final = ("cp1253", "cp1251")
"""Greek and Cyrillic, in which almost every byte is a letter."""

SAMPLE: Final = 1_000_000
"""Bytes from the first beyond ASCII on that say which script a text is in."""

ACCENTED: Final = 0.25
"""Share of the bytes beyond ASCII with a letter of ASCII beside them, above which a text is in Latin script."""

IN_WORDS: Final = 0.5
"""Share of the bytes beyond ASCII with another beside them that a text in another script has at least."""

_SIGNS: Final = frozenset("€§°–—‘’“”„…·«»²³µºª‰\u00a0½")


def likely_encodings(data: bytes) -> list[str]:
    """Return the encodings whose letters fit best, the usual ones first.

    An encoding fits by the share of the bytes beyond ASCII that are letters of one language written in it; signs that
    all languages have count by half.

    Parameters
    ----------
    data : bytes
        A text that is no UTF-8.

    Examples
    --------
    >>> [likely_encodings(text.encode(name))[0] for text, name in
    ...     (("Genève, Zürich", "cp1252"), ("Plzeňský, Jihočeský", "cp1250"), ("Győr, közút", "cp1250"))]
    ['cp1252', 'cp1250', 'cp1250']
    """
    bytes_ = np.frombuffer(data, np.uint8)
    count = np.bincount(bytes_, minlength=256)
    count[:128] = 0
    first = int(np.argmax(bytes_ >= 128))
    latin = _is_latin(bytes_[max(0, first - 1) : first + SAMPLE])
    found = [(name, share) for name, share in _shares(count) if not (latin and name in _OTHER_SCRIPTS)]
    best = max(share for _, share in found)
    # by the order of the languages, and the encoding of each once
    return list(dict.fromkeys(name for name, share in found if share >= best - 1e-9))


def _is_latin(data: npt.NDArray[np.uint8]) -> bool:
    """Whether the bytes beyond ASCII stand beside letters of ASCII, or alone, as accented letters do."""
    beyond = data >= 128
    beside_ascii = _beside(np.isin(data, np.frombuffer(ascii_letters.encode(), np.uint8)))[beyond]
    return bool(np.mean(beside_ascii) > ACCENTED or np.mean(_beside(beyond)[beyond]) < IN_WORDS)


def _beside(what: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    near = np.zeros(len(what), bool)
    near[1:] |= what[:-1]
    near[:-1] |= what[1:]
    return near


def _shares(count: npt.NDArray[np.int64]) -> Iterator[tuple[str, float]]:
    total = max(1, int(count.sum()))
    for languages in (_LANGUAGES, _LAST):
        for name, alphabets in languages.items():
            characters = [_decoded(byte, name) for byte in range(256)]
            signs = sum(int(n) for n, c in zip(count, characters, strict=True) if c in _SIGNS)
            for letters in alphabets.values():
                known = set(letters) | {letter.upper() for letter in letters} | ({"İ"} if "ı" in letters else set())
                fits = sum(int(n) for n, c in zip(count, characters, strict=True) if c in known)
                yield name, (fits + signs / 2) / total


def _decoded(byte: int, name: str) -> str:
    return bytes([byte]).decode(name, errors="replace")
