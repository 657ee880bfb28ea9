"""Releases of changed values: what the public folder gives away, and whether everything can be checked."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tabprotect as tp
from tabprotect.attack.certificate import Certificate
from tabprotect.attack.statement import problem_statement
from tabprotect.attack.values import ValuesCertificate
from tabprotect.certificate.document import digest, seal
from tabprotect.certificate.values import SECTIONS
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.formats.folder import changed_files, read_manifest
from tabprotect.methods.cell_key import (
    Flex,
    cell_key,
    cell_key_magnitudes,
    cell_keys,
    design_perturbation,
    record_keys,
)
from tabprotect.methods.recoding import RecodingRules
from tabprotect.methods.record_swapping import swap_records
from tabprotect.release.read import read_release
from tests.quick import first

RULES = ["p%=15", "threshold=3"]
REGIONS = {"T": ["N", "S"], "N": ["n1", "n2", "n3"], "S": ["s1", "s2"]}
SIZES = {"all": ["small", "large", "huge"]}

MAGNITUDES: list[Any] = [
    tp.Round(base=20_000),
    tp.Adjust(),
    tp.Adjust(within=60_000, weights="unit"),
    tp.RandomRound(base=20_000),
    tp.ConventionalRound(base=40_000),
    tp.CellKey(small=0.2),
]
COUNTS: list[Any] = [
    tp.CellKey(), tp.CellKey(deviation=4, variance=3, blocked=1), tp.SmallCounts(), tp.Round(base=4), tp.Adjust(),
    tp.RandomRound(base=3),
]  # fmt: skip


def microdata(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 60
    return pd.DataFrame(
        {
            "region": rng.choice([*REGIONS["N"], *REGIONS["S"]], n),
            "size": rng.choice(SIZES["all"], n),
            "firm": rng.permutation(n),
            "turnover": np.ceil(rng.lognormal(8, 1.5, n)),
        }
    )


def dimensions() -> list[tp.Dimension]:
    return [
        tp.Dimension("region", tp.Hierarchy.from_pairs([(p, c) for p, cs in REGIONS.items() for c in cs])),
        tp.Dimension("size", tp.Hierarchy.flat(SIZES["all"], "all")),
    ]


def make(method: Any, seed: int = 0, counts: bool = False, **options: Any) -> tp.ChangedRelease:
    table: dict[str, Any] = {} if counts else {"value": "turnover", "contributor": "firm"}
    rules = RULES[1:] if counts else RULES
    found = tp.protect(
        microdata(seed), rules, method, by=dimensions(), title="Turnover", limits=tp.Limits(work=2000),
        allow_unsafe=True, **table, **options,
    )  # fmt: skip
    assert isinstance(found, tp.ChangedRelease)
    return found


KINDS = [*((m, False) for m in MAGNITUDES), *((m, True) for m in COUNTS)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}{' of counts' if kind[1] else ''}")
def release(request: pytest.FixtureRequest) -> tp.ChangedRelease:
    method, counts = request.param
    made = make(method, counts=counts, seed=0)
    assert made.values is not None
    assert len(made.problem.primaries)
    return made


@pytest.fixture(scope="module")
def written(release: tp.ChangedRelease, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.write(tmp_path_factory.mktemp("written") / "out", ("csv", "parquet", "xlsx"))


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "out"))


def known(release: tp.ChangedRelease, v: float) -> tuple[float, float]:
    """What the method alone says, written down anew."""
    claim, whole = release.result.claim, 1.0 if release.problem.integer else 0.0
    if claim["method"] == "multiple":
        far = float(claim["base"]) * (claim["steps"] + 1) - whole
        return v - far, v + far
    if claim["method"] == "nearest":
        return v - float(claim["base"]) / 2, v + float(claim["base"]) / 2 - whole
    if claim["method"] == "near":
        far = np.inf if claim["within"] is None else float(claim["within"])
        return v - far, v + far
    if claim["method"] == "share":
        most, half = 3 * 0.2, 0.5
        return (v - half) / (1 + most), (v + half) / (1 - most)
    raise NotImplementedError


@pytest.mark.parametrize("method", MAGNITUDES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_an_intruder_with_the_public_folder_finds_no_more_than_the_audit_allows(
    method: Any, seed: int, tmp_path: Path
) -> None:
    made = make(method, seed)
    made.write(tmp_path / "out")
    frame = pd.read_csv(tmp_path / "out" / "publish" / "table.csv", dtype={"region": str, "size": str})
    assert list(frame.columns) == ["region", "size", "turnover"]
    cells = {codes: i for i, codes in enumerate(zip(frame["region"], frame["size"], strict=True))}
    bounds = [(max(0.0, low), high) for low, high in (known(made, v) for v in frame["turnover"])]
    rows = []
    for k, tree in enumerate((REGIONS, SIZES)):
        others = [("all", *SIZES["all"]), ("T", *REGIONS["T"], *REGIONS["N"], *REGIONS["S"])][k]
        for (parent, children), other in itertools.product(tree.items(), others):
            row = np.zeros(len(cells))
            for code, sign in [(parent, -1.0), *((child, 1.0) for child in children)]:
                row[cells[(code, other) if k == 0 else (other, code)]] = sign
            rows.append(row)
    system = made.table.system.cells
    exposed = False
    for i in made.problem.primaries.tolist():
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(cells))
            cost[cells[system[i]]] = sign
            result = linprog(cost, A_eq=np.array(rows), b_eq=np.zeros(len(rows)), bounds=bounds)
            assert result.status in (0, 3)
            ends.append(np.inf if result.status == 3 else sign * result.fun)
        slack = 1e-6 * max(1.0, abs(made.table.values[i]))
        assert made.audit().interval(i) == pytest.approx(tuple(ends), abs=slack)
        needed = made.table.values[i] - made.problem.lpl[i], made.table.values[i] + made.problem.upl[i]
        exposed |= ends[0] > needed[0] + slack or ends[1] < needed[1] - slack
    # the attackers who know cells may find more, never less
    assert made.safe <= (not exposed)


def test_the_page_and_the_files_say_what_was_proven(release: tp.ChangedRelease, folder: Path) -> None:
    frame = pd.read_csv(folder / "publish" / "table.csv", dtype={"region": str, "size": str})
    assert frame.shape[1] == 3
    value = frame.columns[-1]
    cells = release.table.system.cells
    place = [cells.get_loc((r, s)) for r, s in zip(frame["region"], frame["size"], strict=True)]
    assert frame[value].tolist() == release.certificate.values[place].tolist()
    page = (folder / "publish" / "index.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    assert table["value"] == frame[value].tolist()
    assert set(table["status"]) == {0}
    assert [status["id"] for status in data["statuses"]] == ["published"]
    assert set(data) == {"value", "unit", "decimals", "signs", "statuses", "tables"}
    assert set(table) == {"name", "axes", "at", "value", "status"}
    for kind in ("parquet", "xlsx"):
        read = pd.read_parquet if kind == "parquet" else pd.read_excel
        assert read(folder / "publish" / f"table.{kind}")[value].tolist() == frame[value].tolist()


def test_nothing_public_names_a_rule_a_status_a_seed_or_a_distance(release: tp.ChangedRelease, folder: Path) -> None:
    manifest = read_manifest(folder)
    lost = release.loss
    seed = str(release.settings["seed"])
    secrets = [
        *RULES, "p%", "threshold", "primary", "secondary", "PRIMARY", "sensitive", "suppress", "sha256", "tabprotect",
        "seed", "steps", "norm", "weight", "optimal", "feasible", release.result.knows,
        *manifest["publish"].values(), *manifest["internal"].values(), str(folder), str(folder.parent),
        f"{lost.distance:.0f}", f"{lost.distance:,.0f}", f"{lost.relative:.6f}", f"{lost.mean:.4f}",
    ]  # fmt: skip
    secrets = [secret for secret in secrets if len(secret) > 3]
    if len(seed) > 5:
        secrets.append(seed)
    for path in (folder / "publish").iterdir():
        if path.suffix not in (".csv", ".html"):
            continue
        text = path.read_text().split("</style>")[-1].split("<script>")[0]
        text = text.replace("to keep the information of respondents confidential", "")
        for secret in secrets:
            # numbers as whole ones: 14882 is not in 148822
            assert not re.search(rf"(?<!\d){re.escape(secret)}(?!\d)", text), secret
        assert "confidential" not in text.lower()


def test_what_is_public_depends_on_nothing_but_published_values(release: tp.ChangedRelease) -> None:
    from dataclasses import replace

    from tabprotect.report.public import public_files

    table = release.table
    shuffled = np.random.default_rng(1).permutation(len(table.rows))
    rows = table.rows.iloc[shuffled].copy()
    rows.iloc[:, -1] = -1
    other = replace(
        table, values=np.zeros(table.n_cells), rows=rows.reset_index(drop=True), row_cell=table.row_cell[shuffled],
        counts=None, contributions=None,
    )  # fmt: skip
    # other true values, contributors and order, other statuses and rules: the same bytes
    one = public_files(release.public, ("csv", "parquet"))
    two = public_files(replace(release.public, frame=replace_public(other, release)), ("csv", "parquet"))
    assert one == two


def replace_public(table: Any, release: tp.ChangedRelease) -> pd.DataFrame:
    from tabprotect.report.public import public_values

    assert release.values is not None
    return public_values(table, release.values, title="Turnover", note=release.public.note).frame


def test_the_certificate_holds_and_the_folder_is_what_was_proven(release: tp.ChangedRelease, folder: Path) -> None:
    found = tp.verify(folder / "internal" / "certificate.json", against=problem_statement(release.problem))
    assert found.failures == ()
    assert found.safe == release.safe
    assert changed_files(folder) == []
    released = read_release(folder)
    assert released.failures == ()
    assert isinstance(released.certificate, ValuesCertificate)
    again = tp.audit(released.problem, released.pattern, intervals=False)
    assert again.safe == release.safe
    assert sorted(map(tuple, (e.key for e in again.exposures))) == sorted(
        map(tuple, (e.key for e in release.judgement.exposures))  # type: ignore[union-attr]
    )
    with pytest.raises(tp.InputError, match="not a certificate of the form"):
        Certificate.read(folder / "internal" / "certificate.json")


@pytest.mark.parametrize(
    ("method", "seed"),
    [(tp.Adjust(), 5953566658702994580), (tp.Adjust(), 8956200308053045827), (tp.Adjust(norm="l2"), 1)],
)
def test_an_optimal_distance_is_told_by_no_tighter_measure_than_it_was_found_by(method, seed, tmp_path) -> None:
    """Bounds of distances are known to 1e-6, or 1e-5 of squares; of patterns to 1e-9."""
    release = tp.protect(
        microdata(0), RULES[1:], method, by=dimensions(), seed=seed, limits=tp.Limits(work=2000), allow_unsafe=True
    )
    assert release.optimality.startswith("optimal")
    release.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()


def test_a_gap_that_was_asked_for_is_no_optimum() -> None:
    table = tp.tabulate(microdata(0), dimensions(), "turnover", contributor="firm")
    problem = tp.make_problem(table, RULES)
    for share in (0.3, 0.9):
        found = tp.adjust(problem, limits=tp.Limits(gap=share, work=2000))
        assert found.status == ("optimal" if found.bound >= found.cost * (1 - 1e-6) else "feasible")
    rounded = tp.round(
        tp.instances.load("flat3d-6x6x6"), 7, steps=1, method="exact", limits=tp.Limits(gap=0.9, work=2000)
    )
    assert rounded.bound < 0.9 * rounded.cost
    assert rounded.status == "feasible"


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """A forger computes the seals anew."""
    return {**document, "seal": seal((name, digest(document[name])) for name in SECTIONS)}


def _value(d: dict[str, Any]) -> None:
    d["values"] = [str(float(d["values"][0]) + 7), *d["values"][1:]]


def _sums(d: dict[str, Any]) -> None:
    d["sums"] = "12345"


def _truth(d: dict[str, Any]) -> None:
    values = d["problem"]["values"]
    d["problem"] = {**d["problem"], "values": [str(float(values[0]) + 1), *values[1:]]}


def _verdict(d: dict[str, Any]) -> None:
    d["verdict"] = "safer"


def _entries(d: dict[str, Any]) -> None:
    d["claim"] = {**d["claim"], "further": 1}


@pytest.mark.parametrize("forge", [_value, _sums, _truth, _verdict, _entries])
def test_forged_certificates_are_refused(release: tp.ChangedRelease, forge: Callable[[dict[str, Any]], None]) -> None:
    document = dict(release.certificate.document)
    assert tp.verify(resealed(document)).ok
    forge(document)
    assert not tp.verify(document).ok
    assert not tp.verify(resealed(document)).ok


def test_an_intruder_who_knows_more_than_the_certificate_says_is_found() -> None:
    document = dict(make(tp.Round(base=20_000)).certificate.document)
    for claim in ({"base": "10000"}, {"base": "20000.5"}, {"steps": 1}):
        forged = {**document, "claim": {**document["claim"], **claim}}
        found = tp.verify(resealed(forged))
        # one more step is less knowledge: the intruder of the certificate is the stronger one, so that still holds
        assert found.ok == ("steps" in claim)
    attack = json.loads(json.dumps(document["attack"]))
    attack["problem"]["status"] = [0] * len(attack["problem"]["status"])
    found = tp.verify(resealed({**document, "attack": attack}))
    assert any("asks nothing about" in failure for failure in found.failures)


def test_sensitive_cells_that_did_not_move_are_found() -> None:
    made = make(tp.Adjust())
    document = dict(made.certificate.document)
    forged = {**document, "values": document["problem"]["values"], "sums": "0", "drift": "0"}
    assert any("moved by less" in failure for failure in tp.verify(resealed(forged)).failures)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("all,small,", "all,small,9", "another value than was proven"), ("T,all,", "X,all,", "codes are not those")],
)
def test_altered_files_are_found(tmp_path: Path, old: str, new: str, words: str) -> None:
    made = make(tp.Adjust())
    folder = made.write(tmp_path / "out")
    path = folder / "publish" / "table.csv"
    text = path.read_text()
    at = "T,small," if old.startswith("all") else old
    path.write_text(text.replace(at, at + "9" if old.startswith("all") else new, 1))
    assert any("altered" in failure for failure in changed_files(folder))
    assert any(words in failure for failure in read_release(folder).failures), read_release(folder).failures


def test_random_methods_draw_a_fresh_secret_unless_a_seed_is_given(tmp_path: Path) -> None:
    method = tp.RandomRound(base=20_000)
    one, two = make(method), make(method)
    assert one.settings["seed"] != two.settings["seed"]
    assert one.settings["seed"] > 2**32
    assert one.values is not None
    assert two.values is not None
    assert one.values.tolist() != two.values.tolist()
    # the seed that the internal files keep gives the same values again
    again = tp.protect(
        microdata(0), RULES, method, by=dimensions(), value="turnover", contributor="firm",
        seed=one.settings["seed"], allow_unsafe=True,
    )  # fmt: skip
    assert isinstance(again, tp.ChangedRelease)
    assert again.values is not None
    assert again.values.tolist() == one.values.tolist()
    assert make(tp.Round(base=20_000)).settings["seed"] == 0


def test_cell_keys_come_from_a_column_a_seed_or_the_caller() -> None:
    from tabprotect.methods.cell_key import cell_keys, record_keys

    data = microdata(0)
    keys = record_keys(len(data), 5)
    given: dict[str, Any] = {"by": dimensions(), "allow_unsafe": True, "seed": 5}
    drawn = tp.protect(data, "threshold=3", tp.CellKey(), **given)
    column = tp.protect(data.assign(k=keys), "threshold=3", tp.CellKey(key="k"), **given)
    table = tp.tabulate(data, dimensions())
    own = cell_keys(data.assign(k=keys), dimensions(), "k")
    finished = tp.protect(table, "threshold=3", tp.CellKey(keys=own), allow_unsafe=True)
    for other in (column, finished):
        assert other.values.tolist() == drawn.values.tolist()  # type: ignore[union-attr]
    with pytest.raises(tp.InputError, match="needs the keys of records"):
        tp.protect(table, "threshold=3", tp.CellKey())


def test_one_seed_gives_counts_and_magnitudes_of_the_same_records_the_same_keys() -> None:
    data = microdata(3)
    counts, turnover = (
        tp.protect(data, "threshold=3", tp.CellKey(), by=dimensions(), value=value, seed=5, allow_unsafe=True)
        for value in (None, "turnover")
    )
    data["key"] = record_keys(len(data), 5)
    keys = cell_keys(data, dimensions(), "key")
    assert counts.values is not None
    assert counts.values.tolist() == cell_key(counts.problem, keys, design_perturbation(3, 1.5)).values.tolist()
    noisy = cell_key_magnitudes(
        turnover.problem, keys, design_perturbation(3, 1.5, step=5), Flex(0.1, 0.1, 1.0), turnover.table, decimals=0
    )
    assert turnover.values is not None
    assert turnover.values.tolist() == noisy.values.tolist()
    # and in another table: whoever is counted there again has the same figure
    again = tp.protect(data, "threshold=3", tp.CellKey(key="key"), by="size", value="turnover", allow_unsafe=True)
    whole = turnover.table.system.cells
    for i, (size,) in enumerate(again.table.system.cells):
        place = whole.get_loc(("T", "all" if size == "Total" else size))
        assert again.values is not None
        assert again.values[i] == turnover.values[place]
    assert turnover.result.message.endswith(f"by up to {noisy.additivity.largest:g}")


def test_magnitudes_need_what_their_noise_is_made_of() -> None:
    data = microdata(1)
    for change, options, words in (
        ({"turnover": data.turnover - 5000}, {}, "values below 0"),
        ({"w": 2.0}, {"weight": "w"}, "sampling weights"),
    ):
        with pytest.raises(InputError, match=words):
            tp.protect(
                data.assign(**change), "threshold=3", tp.CellKey(), by="size", value="turnover", bounds=(-1e6, None),
                **options,
            )  # fmt: skip
    with pytest.raises(InputError, match="small, weights belong to magnitudes"):
        tp.protect(data, "threshold=3", tp.CellKey(small=0.2, weights="1"), by="size")
    with pytest.raises(InputError, match="blocked belongs to counts"):
        tp.protect(data, "threshold=3", tp.CellKey(blocked=2), by="size", value="turnover")


def test_what_is_not_safe_is_not_published(tmp_path: Path) -> None:
    made = tp.protect(
        microdata(0), RULES, tp.ConventionalRound(base=10), by=dimensions(), value="turnover", contributor="firm"
    )
    assert not made.safe
    for attempt in (lambda: made.published, lambda: made.write(tmp_path / "out"), lambda: made.certificate):
        with pytest.raises(tp.InfeasibleError, match="not safe, so nothing is published"):
            attempt()
    none = tp.protect(
        microdata(0), RULES, tp.Round(base=10, steps=0), by=dimensions(), value="turnover", contributor="firm",
        limits=tp.Limits(work=2000),
    )  # fmt: skip
    with pytest.raises(tp.InfeasibleError, match="nothing is published: base 10"):
        none.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_totals_and_margins_stay_on_request() -> None:
    made = make(tp.Adjust(fixed="totals"))
    assert made.values is not None
    total = made.table.system.cells.get_loc(("T", "all"))
    assert made.values[total] == made.table.values[total]
    assert made.verify().ok
    assert total in made.result.claim["fixed"]


def test_three_dimensions_are_rounded_layer_by_layer() -> None:
    data = people(1, 200)
    made = tp.protect(data, "threshold=3", tp.SuccessiveRound(base=4), by=["town", "sex", "origin"], allow_unsafe=True)
    assert isinstance(made, tp.ChangedRelease)
    assert made.values is not None
    assert not (made.values % 4).any()
    assert made.loss.off == 0
    assert made.loss.largest < 8
    assert made.result.claim["steps"] == 1
    assert made.verify().ok
    with pytest.raises(InputError, match="three dimensions"):
        tp.protect(data, "threshold=3", tp.SuccessiveRound(base=4), by=["town", "sex"])


def test_means_and_correlations_are_kept_on_request() -> None:
    plain, means, alike = (make(tp.Adjust(senses="up", enlarge=0.0, **kept)) for kept in (
        {}, {"preserve": "means"}, {"preserve": "correlation", "correlation": 0.997},
    ))  # fmt: skip
    inner = tp.methods.inner_cells.inner_cells(plain.table.system)[0]
    assert plain.values is not None
    assert plain.values[0] != plain.table.values[0]
    for made in (means, alike):
        assert made.values is not None
        assert made.values[inner].sum() == made.table.values[inner].sum()
        assert made.verify().ok
    assert np.corrcoef(alike.values[inner], alike.table.values[inner])[0, 1] >= 0.997
    assert np.corrcoef(means.values[inner], means.table.values[inner])[0, 1] < 0.997


def people(seed: int, n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    town = rng.choice(["n1", "n2", "n3", "s1", "s2"], n)
    return pd.DataFrame(
        {
            "region": [code[0].upper() for code in town], "town": town, "sex": rng.choice(["f", "m"], n),
            "origin": rng.choice(list("aaaaaaaabbc"), n), "income": rng.integers(1, 90, n) * 10.0,
        }
    )  # fmt: skip


@pytest.mark.parametrize("seed", first(2, range(4)))
@pytest.mark.parametrize("value", [None, "income"])
def test_swapped_records_make_an_additive_table_of_which_what_cannot_change_is_known(seed: int, value: Any) -> None:
    data = people(seed)
    how: dict[str, Any] = {"geography": ["region", "town"], "risk": ["origin"], "similar": [["sex"]]}
    by = [tp.Dimension(["region", "town"]), "sex", "origin"]
    made = tp.protect(data, "threshold=3", tp.Swap(**how, rate=0.2), by=by, value=value, seed=seed, allow_unsafe=True)
    result = swap_records(data, **how, rate=0.2, seed=seed)
    assert isinstance(made, tp.ChangedRelease)
    assert made.values is not None
    # the same table, added up by pandas
    codes = made.table.system.cells
    for i, (town, sex, origin) in enumerate(codes):
        rows = result.frame[
            ((result.frame.town == town) | (result.frame.region == town) | (town == "Total"))
            & ((result.frame.sex == sex) | (sex == "Total"))
            & ((result.frame.origin == origin) | (origin == "Total"))
        ]
        assert made.values[i] == (len(rows) if value is None else rows["income"].sum())
    assert not made.table.system.residuals(made.values).any()
    # cells over all towns, and counts by town and what partners have in common
    expected = {(t, s, o) for t, s, o in codes if t == "Total" or (value is None and o == "Total")}
    assert {codes[i] for i in made.result.claim["fixed"]} == expected
    assert made.values[made.result.claim["fixed"]].tolist() == made.table.values[made.result.claim["fixed"]].tolist()
    assert not made.safe
    assert made.verify().ok
    assert made.verify().verdict == "not safe"
    told = made.result.result
    moved = result.frame["town"] != data["town"]
    assert told.moved == moved.sum() > 0
    assert told.swapped == 2 * len(result.pairs)
    few = result.frame.groupby(["town", "sex", "origin"])["sex"].transform("size") < 3
    assert (told.shown, told.true) == (few.sum(), (few & ~moved).sum())
    forged = dict(made.certificate.document) | {"verdict": "safe"}
    forged["seal"] = seal((name, digest(forged[name])) for name in SECTIONS)
    assert "leaves doubt" in str(ValuesCertificate(forged).verify().failures)


def test_what_cannot_be_swapped_is_told() -> None:
    data = people(0)
    how: dict[str, Any] = {"geography": ["town"], "risk": ["origin"], "similar": [["sex"]]}
    with pytest.raises(InfeasibleError, match="leaves doubt"):
        _ = tp.protect(data, "threshold=3", tp.Swap(**how), by=["town", "origin"]).published
    for method, options, words in (
        (tp.Swap(**how), {"by": ["sex", "origin"]}, "no dimension of the table is of town"),
        (tp.Swap(**how), {"by": ["town", "sex", "origin"], "empty": "structural"}, "empty='zero'"),
    ):
        with pytest.raises(InputError, match=words):
            tp.protect(data, "threshold=3", method, **options)
    with pytest.raises(InputError, match="made from microdata"):
        tp.protect(tp.tabulate(data, ["town", "origin"]), "threshold=3", tp.Swap(**how))
    with pytest.raises(InputError, match="geography, similar must name columns"):
        tp.Swap(risk=["origin"])


def test_settings_of_hidden_cells_do_not_go_with_changed_values() -> None:
    for option in ({"unions": "off"}, {"separate_statuses": True}, {"decimals": 1}):
        with pytest.raises(tp.InputError, match=f"only for hiding cells, and round hides none: {next(iter(option))}"):
            make(tp.Round(), **option)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: tp.Round(base=0), "base must be above 0, not 0"),
        (lambda: tp.Round(base="5"), "base must be a number, not '5'"),
        (lambda: tp.Round(steps="lest"), "did you mean 'least'"),
        (lambda: tp.Round(steps=-1), "steps must be at least 0"),
        (lambda: tp.Round(levels=3), "levels must be yes or no"),
        (lambda: tp.Adjust(norm="l3"), "norm must be 'l1' or 'l2' or 'linf', not 'l3'"),
        (lambda: tp.Adjust(senses="upp", fixed="total"), "2 problems"),
        (lambda: tp.Adjust(within=float("inf")), "finite"),
        (lambda: tp.CellKey(deviation=1.5), "deviation must be a whole number"),
        (lambda: tp.SmallCounts(base=True), "base must be a whole number, not True"),
    ],
)
def test_options_that_cannot_be_are_refused_at_once(wrong: Callable[[], Any], words: str) -> None:
    with pytest.raises(tp.InputError, match=words):
        wrong()


def test_recoding_leaves_no_sensitive_cell_and_hides_none(tmp_path: Path) -> None:
    made = tp.protect(
        microdata(0), RULES, tp.Recode(), by=dimensions(), value="turnover", contributor="firm", title="Recoded"
    )
    assert isinstance(made, tp.Release)
    assert made.safe
    assert not made.pattern.any()
    assert 1 < made.table.n_cells < 32
    assert "given up" in made.settings["recoding"]
    full = tp.tabulate(microdata(0), dimensions(), "turnover", contributor="firm")
    truth = dict(zip(full.system.cells, full.values, strict=True))
    shown = made.public.frame
    assert all(truth[r, s] == v for r, s, v in zip(shown["region"], shown["size"], shown["turnover"], strict=True))
    made.write(tmp_path / "out")
    assert read_release(tmp_path / "out").failures == ()


def test_recodings_by_hand_come_first_and_what_is_left_is_hidden() -> None:
    rules = RecodingRules.parse("small: small, large")
    by = [dimensions()[0], "size"]
    made = tp.protect(
        microdata(0), RULES, tp.Recode({"size": rules}, least=False), by=by, value="turnover", contributor="firm"
    )
    assert isinstance(made, tp.Release)
    assert made.safe
    assert set(made.table.rows["size"]) == {"Total", "small", "huge"}
    assert made.pattern.any()
    with pytest.raises(tp.InputError, match="finds no such column; did you mean 'size'"):
        tp.protect(microdata(0), RULES, tp.Recode({"siz": rules}), by=by, value="turnover", contributor="firm")


def test_the_report_shows_true_and_published_values(release: tp.ChangedRelease, folder: Path) -> None:
    page = (folder / "internal" / "report.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    (table,) = data["tables"]
    details = {d["name"]: d for d in table["detail"]}
    assert {"Published", "Change", "The intruder's interval", "Sensitive by"} <= set(details)
    changes = np.array(details["Published"]["of"]) - np.array(table["value"])
    np.testing.assert_allclose(details["Change"]["of"], changes, atol=1e-9)
    assert page.count("CONFIDENTIAL") >= 4
    assert ("NOT SAFE" in page) == (not release.safe)
    frame = pd.read_csv(folder / "internal" / "table.csv")
    assert {"published", "change", "interval_low", "cell"} <= set(frame.columns)
    assert "intruders know" in str(release.summary())


def test_fixed_cells_of_an_adjustment_keep_the_digits_of_floating_point():
    """The certificate compares every digit; rounding to the decimals of the table once lost those of fixed cells."""
    data = pd.DataFrame({
        "region": list("cbbaaaaa"), "kind": list("xyyyyyyy"), "firm": list("01234567"),
        "turnover": [9.9, 5.7, 10.8, 20.9, 2.0, 16.1, 5.8, 9.7], "weight": [3.6, 2.6, 1.9, 2.3, 1.1, 1.4, 3.0, 2.9],
    })  # fmt: skip
    release = tp.protect(
        data, "p%=30", tp.Adjust(fixed="margins", enlarge=0), by=["region", "kind"], value="turnover",
        contributor="firm", weight="weight", bounds="100%", seed=3,
    )  # fmt: skip
    fixed = release.result.claim["fixed"]
    assert len(fixed)
    assert np.array_equal(release.values[fixed], release.problem.values[fixed])
    assert release.verify().ok
