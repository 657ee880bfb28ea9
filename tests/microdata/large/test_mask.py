"""Masking in batches: as in memory where nothing is drawn, the same for every batch size where something is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import tabprotect.microdata as md
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.microdata.large.part import Part
from tests.microdata.frames import KINDS
from tests.microdata.large.cases import EXACT, RANDOM, SCHEMAS, people


def relation(frame: pd.DataFrame) -> Any:
    return KINDS["duckdb"](frame)


@pytest.mark.parametrize("weighted", ["plain", "weights"])
@pytest.mark.parametrize("name", EXACT)
def test_what_draws_nothing_is_as_in_memory(name: str, weighted: str) -> None:
    data = relation(people())
    schema = SCHEMAS[weighted]
    wanted = md.mask(data, schema, EXACT[name])
    found = md.mask(data, schema, EXACT[name], large=md.Large(batch=100))
    assert found.frame.to_arrow_table().equals(wanted.frame.to_arrow_table())
    assert found.verify()
    assert [s.facts for s in found.steps] == [s.facts for s in wanted.steps]
    assert len(found.claims) == len(wanted.claims)


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_taken(kind: str) -> None:
    frame = people(200)
    steps = [*EXACT["cuts"], *EXACT["quantile"]]
    wanted = md.mask(frame, SCHEMAS["plain"], steps).frame
    found = md.mask(KINDS[kind](frame), SCHEMAS["plain"], steps, large=True).frame.df()
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_and_patterns_are_read_as_in_memory(ending: str, tmp_path: Path) -> None:
    frame = people(300)
    for i, part in enumerate(np.array_split(np.arange(300), 3)):
        data = frame.iloc[part]
        path = tmp_path / f"part-{i}.{ending}"
        data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    steps = [*EXACT["cuts"], *EXACT["mapping"], *EXACT["quantile"]]
    pattern = str(tmp_path / f"*.{ending}")
    wanted = md.mask(pattern, SCHEMAS["plain"], steps).frame
    found = md.mask(pattern, SCHEMAS["plain"], steps, large=True).frame.df()
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert [t.kind for t in found.dtypes] == [t.kind for t in wanted.dtypes]


def test_a_decimal_comma(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("zip;income\n01;1,5\n02; 20,25\n".replace(";", "\t"))
    found = md.mask(str(path), None, md.TopCoding("income", threshold=10), decimal=",", large=True).frame.df()
    assert found.values.tolist() == [["01", 1.5], ["02", 10.0]]


@pytest.mark.parametrize("schema", ["plain", "strata"])
@pytest.mark.parametrize("name", RANDOM)
def test_draws_belong_to_records(name: str, schema: str) -> None:
    frame = people(120)
    steps = RANDOM[name]
    tables = []
    for batch in (40, 100_000):
        found = md.mask(relation(frame), SCHEMAS[schema], steps, seed=5, large=md.Large(batch=batch))
        assert found.verify(), found.verify().summary()
        tables.append(found.frame.to_arrow_table())
    assert tables[0].equals(tables[1])
    other = md.mask(relation(frame), SCHEMAS[schema], steps, seed=6, large=True).frame.to_arrow_table()
    assert not other.equals(tables[0])


def test_draws_follow_the_named_order_and_not_that_of_the_rows() -> None:
    frame = people()
    steps = RANDOM["chain"]
    large = md.Large(order="id", batch=50)
    schema = md.Schema(strata=["region"])
    tables = [
        md.mask(relation(data), schema, steps, seed=5, large=large).frame.to_arrow_table()
        for data in (frame, frame.sample(frac=1, random_state=3))
    ]
    assert tables[0].equals(tables[1])
    assert tables[0].column("id").to_pylist() == sorted(tables[0].column("id").to_pylist())


def test_without_an_order_random_draws_are_refused() -> None:
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    data = connection.sql("SELECT range AS x FROM range(10)")
    with pytest.raises(InputError, match="does not keep the order"):
        md.mask(data, None, md.Noise("x"), large=True)
    assert len(md.mask(data, None, md.Noise("x"), large=md.Large(order="x"))) == 10
    with pytest.raises(InputError, match=r"order=\['x'\] must number the records, but 9 repeat it"):
        md.mask(connection.sql("SELECT 1 AS x FROM range(10)"), None, md.Noise("x"), large=md.Large(order="x"))


def test_pram_follows_its_matrix() -> None:
    n = 40_000
    frame = pd.DataFrame({"s": np.repeat(list("abc"), [n // 2, n // 4, n // 4]), "h": ["x", "y"] * (n // 2)})
    masked = md.mask(relation(frame), md.Schema(strata=["h"]), md.PRAM("s", floor=0.5), seed=2, large=True)
    new = masked.frame.df()["s"]
    facts = masked.steps[0].facts["s"]
    for h, matrix in zip("xy", facts["matrices"], strict=True):
        for i, old in enumerate("abc"):
            here = new[(frame["s"] == old) & (frame["h"] == h)]
            counts = here.value_counts().reindex(list("abc")).to_numpy()
            assert stats.chisquare(counts, np.array(matrix[i]) * len(here)).pvalue > 1e-4
    assert facts["changed"] == int((new != frame["s"]).sum())


def test_noise_has_the_stated_moments() -> None:
    rng = np.random.default_rng(0)
    n = 40_000
    x = rng.multivariate_normal([5, -1], [[4, 1], [1, 9]], n)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    cov = np.cov(x, rowvar=False)
    for kind, factor in (("correlated", 1.3), ("linear", 1.0)):
        step = md.Noise(["a", "b"], kind=kind, alpha=0.3)  # type: ignore[arg-type]
        new = md.mask(relation(frame), None, step, seed=1, large=True).frame.df().to_numpy()
        # standard errors of covariances at 40,000 records are near 0.06
        assert np.abs(np.cov(new, rowvar=False) - factor * cov).max() < 0.3
        assert np.abs(new.mean(axis=0) - x.mean(axis=0)).max() < 0.05
    error = md.mask(relation(frame), None, md.Noise("a", alpha=0.3), seed=1, large=True).frame.df()["a"] - x[:, 0]
    assert stats.kstest(error / np.sqrt(0.3 * x[:, 0].var()), "norm").pvalue > 1e-4
    near = md.Noise("a", kind="multiplicative", least=0.1, most=0.3)
    ratio = md.mask(relation(frame), None, near, seed=1, large=True).frame.df()["a"] / x[:, 0] - 1
    assert stats.kstest(np.abs(ratio), "uniform", args=(0.1, 0.2)).pvalue > 1e-4
    assert stats.binomtest(int((ratio > 0).sum()), n).pvalue > 1e-4


def test_samples_are_simple_ones_within_strata() -> None:
    frame = people(400)
    drawn = np.zeros(400)
    for seed in range(25):
        masked = md.mask(relation(frame), md.Schema(strata=["region"]), md.Sampling(share=0.25), seed=seed, large=True)
        found = masked.frame.df()
        assert found["id"].is_unique
        drawn[found["id"]] += 1
        sizes = found.groupby("region").size()
        wanted = frame.groupby("region").size()
        assert sizes.sum() == 100
        assert found.groupby("region")["weight"].sum().round(9).to_dict() == wanted.to_dict()
    # every record is as likely as the others of its stratum
    for region, share in (sizes / wanted).items():
        here = drawn[frame.loc[frame["region"] == region, "id"]]
        expected = np.full(len(here), here.mean())
        statistic = ((here - expected) ** 2 / (25 * share * (1 - share))).sum()
        assert stats.chi2.sf(statistic, len(here) - 1) > 1e-4


def test_methods_that_need_all_records_are_refused_before_anything_is_read() -> None:
    with pytest.raises(InputError, match=r"step 2 \(microaggregation\): this method needs all records at once"):
        md.mask("nowhere.parquet", None, [md.TopCoding("x", threshold=1), md.Microaggregation("x")], large=True)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (md.TopCoding("income", quantile=0.9, tail="normal"), "tail='normal' needs all records in memory"),
        (md.PRAM(["region", "sector"], joint=True), "joint=True needs all records in memory"),
        (md.Noise("income", kind="romm"), "kind='romm' needs all records in memory"),
        (md.Noise("income", exact=True), "exact=True needs all records in memory"),
        (md.Sampling(share=0.1, design="systematic"), "design='systematic' needs all records in memory"),
        (md.Sampling(size=5000), "5,000 records cannot be drawn from 600"),
        (md.TopCoding("incom", threshold=1), "no column 'incom'; did you mean 'income'"),
        (md.GlobalRecoding("region", width=10), "intervals need a continuous one"),
        (md.GlobalRecoding("region", level=1), "no hierarchy in the schema"),
        (md.GlobalRecoding("region", mapping={"nort": "n"}), "holds no 'nort'; did you mean 'north'"),
        (md.PRAM("region", kind="given", matrix=[[1.0]]), "has 3 categories, the matrix 1 row"),
    ],
)
def test_one_clear_error(step: md.Method, message: str) -> None:
    with pytest.raises(InputError) as caught:
        md.mask(relation(people()), SCHEMAS["plain"], step, large=True)
    assert message in str(caught.value)


def test_wrong_options() -> None:
    data = relation(people(20))
    with pytest.raises(InputError, match="batch must be a whole number"):
        md.Large(batch=0)
    with pytest.raises(InputError, match="memory_limit 'much' is not understood"):
        md.mask(data, None, md.Noise("income"), large=md.Large(memory_limit="much"))
    with pytest.raises(InputError, match="no column 'idd'; did you mean 'id'"):
        md.mask(data, None, md.Noise("income"), large=md.Large(order="idd"))
    with pytest.raises(InputError, match="large must be True, False or Large"):
        md.mask(data, None, md.Noise("income"), large="yes")  # type: ignore[call-overload]
    infinite = relation(pd.DataFrame({"x": [1.0, np.inf]}))
    with pytest.raises(InputError, match="column 'x' is infinite"):
        md.mask(infinite, None, md.Noise("x"), large=True)
    with pytest.raises(InputError, match=r"weights in column 'w' must be above 0; the smallest is -1"):
        md.mask(relation(people(20).assign(w=-1.0)), SCHEMAS["weights"], md.Sampling(share=0.5), large=True)


class _Spoilt:
    """A change of released values behind the back of the methods."""

    def __init__(self, column: str, value: Any) -> None:
        self.column, self.value = column, value

    def __call__(self, part: Part) -> Part:
        frame = part.table.to_pandas()
        at = part.rows == part.rows.max()
        frame.loc[at, self.column] = self.value
        return Part(part.rows, type(part.table).from_pandas(frame, schema=part.table.schema, preserve_index=False))


@pytest.mark.parametrize(
    ("step", "column", "value", "kind"),
    [
        (md.TopCoding("income", threshold=500), "income", 501.0, "at-most"),
        (md.GlobalRecoding("age", width=10), "age", "80-89", "interval"),
        (md.GlobalRecoding("age", width=10), "age", "old", "categories"),
        (md.GlobalRecoding("sector", mapping={"a": "b"}), "sector", "d", "function-of"),
        (md.PRAM("region", kind="given", matrix=np.eye(3).tolist()), "region", "east", "markov"),
        (md.Noise("turnover", kind="multiplicative", least=0.1, most=0.2), "turnover", None, "moved-at-least"),
        (md.Sampling(share=0.5), "income", 1.0, "sampled"),
        (md.Sampling(share=0.5), "weight", 1.0, "weights-by-stratum"),
    ],
)
def test_a_changed_value_is_found(step: md.Method, column: str, value: Any, kind: str, tmp_path: Path) -> None:
    frame = people(300).sort_values("age", ignore_index=True)
    frame.loc[299, ["age", "sector", "region"]] = [3, "a", "north"]
    masked = md.mask(relation(frame), SCHEMAS["plain"], step, seed=1, large=md.Large(batch=100))
    assert masked.verify()
    if value is None:
        value = float(frame["turnover"].iloc[299])
    released = masked.released
    spoilt = type(masked)(
        released.map(_Spoilt(column, value), released.arrow), masked.schema, masked.original, masked.steps,
        masked.claims, masked.withdrawn, masked.before,
    )  # fmt: skip
    failed = [check.claim.kind for check in spoilt.verify().checks if not check.holds]
    assert kind in failed
    with pytest.raises(InfeasibleError):
        spoilt.write(tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_is_written_is_what_is_released_and_nothing_else(ending: str, tmp_path: Path) -> None:
    masked = md.mask(relation(people()), SCHEMAS["strata"], RANDOM["chain"], seed=1, large=True)
    path = masked.write(tmp_path / f"out.{ending}")
    back = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path)
    pd.testing.assert_frame_equal(back, masked.frame.df(), check_dtype=False)
    assert list(back.columns) == ["region", "sector", "age", "children", "income", "turnover", "w", "weight"]
    assert [p.name for p in tmp_path.iterdir()] == [f"out.{ending}"]
    with pytest.raises(InputError, match="is there already"):
        masked.write(path)


def test_no_file_stays_behind(tmp_path: Path) -> None:
    masked = md.mask(
        relation(people()), SCHEMAS["plain"], RANDOM["chain"], seed=1, large=md.Large(folder=str(tmp_path))
    )
    assert len(list(tmp_path.iterdir())) == 1
    del masked
    assert not list(tmp_path.iterdir())
