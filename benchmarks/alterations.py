"""Releases and certificates of many kinds, and random alterations of them, for `benchmarks.fuzz_verify`."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
from tabprotect.certificate.document import SECTIONS, digest, seal
from tabprotect.certificate.limits import UNLIMITED, Malformed
from tabprotect.certificate.values import SECTIONS as VALUES_SECTIONS
from tabprotect.errors import InputError
from tabprotect.formats.certificate import problem_of, read_certificate
from tabprotect.release.read import rebuilt
from tabprotect.report.layout import Layout

__all__ = [
    "CERTIFICATE",
    "FORGERIES",
    "KINDS",
    "LAYOUT",
    "Alteration",
    "alter",
    "forge",
    "new_digests",
    "published_again",
    "resealed",
]

CERTIFICATE = "internal/certificate.json"
LAYOUT = "internal/layout.json"

ODD: tuple[Any, ...] = (
    float("nan"), float("inf"), 1e308, -1, 0, 1, 2, True, False, None, "", "nan", "inf", "-inf", "1e400", "1e401",
    "1e999999999", "-0", "0x10", "1_0", " 7 ", "1/0", "1/3", "٣", "１２", "9" * 4000, "1/" + "9" * 4000,
    "9" * 5000, [], {}, [[]], {"a": 1}, "x" * 100, 2**63, -(2**63), 10**300, 10**6, 10**9, 1.5, "1.5", "0.1", "1e-400",
    [0, 0], "-5", "+5", ".5", "5.", "e5", "1e+", "1e-", "safe", "=1+1", "\x1b[31m", "a\nb",
)  # fmt: skip


def _microdata(seed: int, n: int = 45) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": rng.choice(["n1", "n2", "s1", "s2"], n),
            "size": rng.choice(["small", "large"], n),
            "kind": rng.choice(["x", "y"], n),
            "firm": rng.permutation(n) * 2 // 3,
            "turnover": np.ceil(rng.lognormal(6, 1.5, n)),
        }
    )


def _magnitude(method: Any, *, by: tuple[str, ...] = ("region", "size"), **options: Any) -> Any:
    given: dict[str, Any] = {"value": "turnover", "contributor": "firm", "limits": tp.Limits(work=2000), **options}
    return tp.protect(_microdata(1), ["p%=15", "threshold=2"], method, by=list(by), seed=1, title="Turnover", **given)


def _counts(method: Any, seed: int = 1, **options: Any) -> Any:
    given: dict[str, Any] = {"limits": tp.Limits(work=2000), **options}
    return tp.protect(_microdata(seed, 40), ["threshold=3"], method, by=["region", "size"], seed=1, title="N", **given)


def _linked(method: Any) -> Any:
    data = _microdata(2)
    shared: dict[str, Any] = {"value": "turnover", "contributor": "firm"}
    tables = {name: tp.tabulate(data, ["region", name], **shared) for name in ("size", "kind")}
    return tp.protect(tp.link(tables), ["p%=15"], method, seed=1, limits=tp.Limits(work=2000))


KINDS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "suppression": (lambda: _magnitude(tp.Suppress(method="exact")), ("csv",)),
    "suppression, three dimensions": (
        lambda: _magnitude(tp.Suppress(method="exact"), by=("region", "size", "kind")),
        ("csv", "xlsx"),
    ),
    "suppression, statuses apart, rounded": (
        lambda: _magnitude(tp.Suppress(method="greedy"), separate_statuses=True, decimals=-1),
        ("csv", "parquet"),
    ),
    "suppression, linked": (lambda: _linked(tp.Suppress(method="local")), ("csv",)),
    "suppression of counts": (lambda: _counts(tp.Suppress(method="exact")), ("csv",)),
    "rounding": (lambda: _magnitude(tp.Round(base=5000)), ("csv",)),
    "rounding of counts": (lambda: _counts(tp.RandomRound(base=5)), ("csv", "parquet")),
    "adjustment": (lambda: _magnitude(tp.Adjust()), ("csv",)),
    "cell key": (lambda: _counts(tp.CellKey()), ("csv",)),
    "small counts": (lambda: _counts(tp.SmallCounts()), ("csv",)),
}
"""What makes a release of every kind, and the formats of its table."""


@dataclass(frozen=True)
class Alteration:
    """What was done to which file."""

    file: str
    place: tuple[Any, ...]
    how: str
    resealed: bool

    def __str__(self) -> str:
        place = "/".join(map(str, self.place))
        return f"{self.file} {place} {self.how}{', sealed anew' if self.resealed else ''}"


def alter(base: Path, target: Path, r: random.Random) -> Alteration:
    """Write a copy of a release with one thing altered, and, half of the time, all digests and seals made anew."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    reseal = r.random() < 0.6
    file = r.choice(
        [CERTIFICATE] * 10
        + ["internal/layout.json"] * 3
        + ["internal/release.json"] * 2
        + ["publish"] * 4
        + ["internal"]
    )
    if file == "publish":
        done = _public(target, r)
    elif file == "internal":
        name = r.choice(["report.html", "table.csv"])
        path = target / "internal" / name
        path.write_bytes(path.read_bytes() + b"\n")
        done = (f"internal/{name}", ("end",), "longer")
    else:
        document = json.loads((target / file).read_text())
        place, how = _mutate(document, r)
        if file == CERTIFICATE and reseal:
            resealed(document)
        (target / file).write_text(json.dumps(document))
        done = (file, place, how)
    if reseal and done[0] != "internal/release.json":
        new_digests(target)
    return Alteration(*done, reseal)


def forge(base: Path, target: Path, r: random.Random) -> Alteration:
    """Write a copy of a release with another layout, its public files made again from that, and all digests anew.

    Whatever the layout smuggles into the public files, they are those that follow from it.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    name = r.choice(list(FORGERIES))
    layout = json.loads((target / LAYOUT).read_text())
    FORGERIES[name](layout, json.loads((target / CERTIFICATE).read_text())["problem"]["values"])
    (target / LAYOUT).write_text(json.dumps(layout))
    # changed values have no statuses, and a cross table has a code in every row
    with contextlib.suppress(Malformed, InputError):
        published_again(target)
    return Alteration(LAYOUT, (), f"{name}, published again", True)


def published_again(folder: Path) -> None:
    """Make the public files again from the certificate and the layout, whatever it is, and all digests."""
    layout = Layout(json.loads((folder / LAYOUT).read_text()))
    certificate = read_certificate(folder / CERTIFICATE, UNLIMITED)
    public, _ = rebuilt(layout, certificate, problem_of(certificate.document["problem"]))
    files = layout.files(public)
    shutil.rmtree(folder / "publish")
    (folder / "publish").mkdir()
    for name, data in files.items():
        (folder / "publish" / name).write_bytes(data)
    new_digests(folder)


def _doubled(layout: dict[str, Any], values: list[str]) -> None:
    """Every row twice, the second time with the true value in a further column."""
    words = list(dict.fromkeys(values))
    further = [k for cell in layout["cell"] for k in (-1, words.index(values[cell]))]
    for column in layout["columns"]:
        column["row"] = [k for k in column["row"] for _ in range(2)]
    for part in layout["parts"]:
        part["at"] = [[k for k in place for _ in range(2)] for place in part["at"]]
    layout["cell"] = [cell for cell in layout["cell"] for _ in range(2)]
    layout["columns"].append({"name": "turnover", "words": words, "row": further})


def _rows(layout: dict[str, Any], values: list[str]) -> None:
    """Rows of a published cell, whose codes tell other cells and their values."""
    part = layout["parts"][-1]
    axes = {axis["name"]: (axis, at) for axis, at in zip(part["axes"], part["at"], strict=True)}
    rows = list(zip(layout["cell"], *(column["row"] for column in layout["columns"]), strict=True))
    for cell, *row in rows[-5:]:
        for column, k in zip(layout["columns"], row, strict=True):
            if column["name"] not in axes:
                column["row"].append(k)
                continue
            axis, at = axes[column["name"]]
            column["words"].append(f"{column['words'][k]} = {values[cell]} ({len(column['words'])})")
            column["row"].append(len(column["words"]) - 1)
            axis["codes"].append(column["words"][-1])
            axis["nodes"].append([len(axis["codes"]) - 1, 0])
            at.append(len(axis["codes"]) - 1)
            if "labels" in axis:
                axis["labels"].append("")
        layout["cell"].append(layout["cell"][0])


def _column(layout: dict[str, Any], name: str) -> None:
    layout["columns"].append({"name": name, "words": [], "row": [-1] * len(layout["cell"])})


def _renamed(layout: dict[str, Any], values: list[str]) -> None:
    """Another name of a dimension, in the table and on the page."""
    old = layout["parts"][0]["axes"][0]["name"]
    for named in (*layout["columns"], *(axis for part in layout["parts"] for axis in part["axes"])):
        if named["name"] == old:
            named["name"] = f"{old}: {', '.join(values)}"


def _tables(layout: dict[str, Any], values: list[str]) -> None:
    """Other names of tables, also in the column that names them."""
    names = {part["name"]: f"{part['name']} {values[k]}" for k, part in enumerate(layout["parts"])}
    for part in layout["parts"]:
        part["name"] = names[part["name"]]
    for column in layout["columns"]:
        if column["name"] == "table":
            column["words"] = [names.get(word, word) for word in column["words"]]


FORGERIES: dict[str, Callable[[dict[str, Any], list[str]], object]] = {
    "rows doubled, with the true values": _doubled,
    "rows more that tell values": _rows,
    "a column more whose name tells values": lambda layout, values: _column(layout, f"of {', '.join(values)}"),
    "a column more": lambda layout, _: _column(layout, "more"),
    "a dimension renamed": _renamed,
    "tables renamed": _tables,
    "the values renamed": lambda layout, values: layout.update(value=f"of {', '.join(values)}"),
    "other decimals": lambda layout, _: layout.update(decimals=-2),
    "statuses apart or not": lambda layout, _: layout.update(separate=not layout["separate"]),
}
"""What is done to a layout, with the true values of the certificate."""


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """Compute the seals of a certificate anew, as far as there is something to seal."""
    sections = SECTIONS
    if isinstance(document.get("attack"), dict):
        resealed(document["attack"])
        sections = VALUES_SECTIONS
    elif "problem" in document and "digest" in document:
        try:
            document["digest"] = digest(document["problem"])
        except (ValueError, TypeError):
            return document
    with contextlib.suppress(KeyError, ValueError, TypeError):
        document["seal"] = seal((name, digest(document[name])) for name in sections)
    return document


def new_digests(folder: Path) -> None:
    """Write the digests of all files into the certificate and the manifest, as a forger would."""
    public = {path.name: _sha(path) for path in sorted((folder / "publish").iterdir()) if path.is_file()}
    certificate = folder / CERTIFICATE
    document = json.loads(certificate.read_text())
    if isinstance(document, dict) and "publication" in document and document["publication"] != public:
        if isinstance(document["publication"], dict):
            document["publication"] = public
        certificate.write_text(json.dumps(resealed(document)))
    manifest = folder / "internal" / "release.json"
    said = json.loads(manifest.read_text())
    said["publish"] = public
    said["internal"] = {p.name: _sha(p) for p in sorted((folder / "internal").iterdir()) if p.name != manifest.name}
    manifest.write_text(json.dumps(said))


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for name in value:
            found += _paths(value[name], (*path, name))
    elif isinstance(value, list):
        for number in range(min(len(value), 60)):
            found += _paths(value[number], (*path, number))
    return found


def _get(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _mutate(document: dict[str, Any], r: random.Random) -> tuple[tuple[Any, ...], str]:
    """Alter one place; every section has the same chance, so that small ones are not forgotten."""
    paths = [path for path in _paths(document) if path[0] not in ("seal", "digest")]
    depth = 1
    while depth <= 3 and len({path[:depth] for path in paths if len(path) >= depth}) > 0:
        heads = sorted({path[:depth] for path in paths if len(path) >= depth}, key=str)
        chosen = r.choice(heads)
        paths = [path for path in paths if path[:depth] == chosen]
        depth += 1
        if not isinstance(_get(document, chosen), dict):
            break
    path = r.choice(paths)
    value, parent = _get(document, path), _get(document, path[:-1])
    how = r.choice(["odd", "odd", "number", "number", "left out", "twice", "swapped"])
    if how == "number" and not (isinstance(value, (bool, int)) or _is_number(value)):
        how = "odd"
    if how in ("twice", "swapped") and not (isinstance(parent, list) and len(parent) > 1):
        how = "left out"
    if how == "odd":
        parent[path[-1]] = copy.deepcopy(r.choice(ODD))
    elif how == "number":
        parent[path[-1]] = _other(value, r)
    elif how == "left out":
        parent.pop(path[-1])
    elif how == "twice":
        parent.insert(path[-1], copy.deepcopy(value))
    else:
        other = r.randrange(len(parent))
        parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
    return path, how


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?[0-9.]+", value) is not None and value.count(".") < 2


def _other(value: Any, r: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + r.choice([-1, 1, 5, -value, 100])
    number = Fraction(value) + r.choice([1, -1, Fraction(1, 100), -Fraction(value), 10**6])
    return str(float(number)).removesuffix(".0")


def _public(folder: Path, r: random.Random) -> tuple[str, tuple[Any, ...], str]:
    """Alter the public folder: what it holds, or one of its files."""
    place = folder / "publish"
    files = sorted(path for path in place.iterdir() if path.is_file())
    path = r.choice(files)
    how = r.choice(["byte", "byte", "foreign file", "report", "left out", "end", "value", "status", "column", "link"])
    table = place / "table.csv"
    if how == "byte":
        data = bytearray(path.read_bytes())
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        path.write_bytes(bytes(data))
    elif how == "foreign file":
        path = place / r.choice(["extra.csv", "sub/extra.csv", ".hidden"])
        path.parent.mkdir(exist_ok=True)
        shutil.copy(folder / "internal" / "table.csv", path)
    elif how == "report":
        path = place / "index.html"
        shutil.copy(folder / "internal" / "report.html", path)
    elif how == "left out":
        path.unlink()
    elif how == "end":
        path.write_bytes(path.read_bytes() + b"\n")
    elif how == "link":
        content = folder / "internal" / "copy"
        path.rename(content)
        path.symlink_to(content)
    else:
        path = table
        lines = [line.split(",") for line in table.read_text().splitlines()]
        row = r.randrange(1, len(lines))
        if how == "column":
            lines = [[*line, str(k)] for k, line in enumerate(lines)]
        else:
            # the last column is the status, or the value where no cell is hidden
            lines[row][-1 if how == "status" else -2] = r.choice(
                ["published", "suppressed", "1", "5", "", "17 (true: 4)"]
            )
        table.write_text("\n".join(",".join(line) for line in lines) + "\n")
    return f"publish/{path.name}", (), how
