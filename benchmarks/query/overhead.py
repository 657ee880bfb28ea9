"""What the guard adds to a query: TPC-H-like order lines in DuckDB and PostgreSQL, beside the bare query.

``python -m benchmarks.query.overhead --postgres --markdown table.md`` generates the data from a seed, and asks a
mixture of queries (see `Mixture`) until 0, 1,000 and 10,000 of them are logged as answered. At every stage a guard is
started on the log as it is then, once over DuckDB and once over a PostgreSQL server of its own, and further queries are
measured: the time of the guard, and of the same SQL in the database alone. Reported are medians and 99th percentiles in
milliseconds and as a ratio, and the share answered. What counts is the ratio; milliseconds belong to one machine. On a
machine with other work, the processor time of this process says what the guard itself takes (all threads, an embedded
DuckDB included; a PostgreSQL server is another process), and the time for which it waited for a processor (its main
thread) how much of the rest is due to that other work.

With --keep the log stays in a file, and another run with the same seed goes on from it: every entry is a decision of
the guard, which checks that the data are the same. So 10,000 answers are logged once, in as many runs as it takes.

With --skew nations, modes and flags follow Zipf's law instead of being equally frequent, so that there are many small
cells and the safety test has work to do; with --random all queries are sums under random overlapping conditions.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import numpy as np
import pandas as pd

from benchmarks.query.server import postgres_server
from tabprotect.errors import InputError
from tabprotect.query import Guard, Policy
from tabprotect.query.guard import read_only_role
from tabprotect.query.guard.database import connect
from tabprotect.query.guard.log import Log

COLUMNS = {
    "flag": ["A", "N", "R"],
    "status": ["F", "O"],
    "mode": ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"],
    "nation": [f"nation {k:02d}" for k in range(25)],
    "segment": ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"],
    "year": list(range(1992, 1999)),
}

POLICY = {
    "unit": "customer.custkey",
    "rules": "p%=10|nk=2,85",
    "minimum_units": 5,
    "tables": {
        "lineitem": {
            "key": "line",
            "public": ["flag", "status", "mode", "year"],
            "confidential": {"price": {}},
            "joins": {"custkey": "customer.custkey"},
        },
        "customer": {"key": "custkey", "public": ["nation", "segment"]},
    },
}

JOIN = "lineitem JOIN customer ON lineitem.custkey = customer.custkey"

OF = {"nation": "customer", "segment": "customer"}


def tables(rows: int, seed: int, skew: float) -> dict[str, pd.DataFrame]:
    """Make the tables: prices are skewed as turnovers are, and one customer in ten buys most.

    The k-th value of a column has a frequency of k to the power of -`skew`.
    """

    def drawn(name: str, size: int) -> Any:
        weights = np.arange(1, len(COLUMNS[name]) + 1) ** -skew
        return rng.choice(COLUMNS[name], size, p=weights / weights.sum())

    rng = np.random.default_rng(seed)
    customers = max(50, rows * 15 // 100)
    customer = pd.DataFrame(
        {
            "custkey": np.arange(customers),
            "nation": drawn("nation", customers),
            "segment": drawn("segment", customers),
        }
    )
    line = pd.DataFrame(
        {
            "line": np.arange(rows),
            "custkey": np.minimum(rng.exponential(customers / 5, rows).astype(int), customers - 1),
            **{c: drawn(c, rows) for c in ("flag", "status", "mode", "year")},
            "price": np.round(rng.lognormal(8, 1, rows)),
        }
    )
    return {"customer": customer, "lineitem": line}


def fill(connection: Any, frames: dict[str, pd.DataFrame]) -> None:
    """Write the tables into DuckDB or PostgreSQL."""
    if type(connection).__module__.split(".")[0] in ("duckdb", "_duckdb"):
        for name, frame in frames.items():
            connection.register("frame", frame)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
            connection.unregister("frame")
        return
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE customer (custkey integer PRIMARY KEY, nation text, segment text)")
    cursor.execute(
        "CREATE TABLE lineitem (line integer PRIMARY KEY, custkey integer, flag text, status text, mode text, "
        "year integer, price double precision)"
    )
    for name, frame in frames.items():
        text = frame.to_csv(index=False, header=False).encode()
        cursor.execute(f"COPY {name} FROM STDIN WITH (FORMAT csv)", stream=io.BytesIO(text))
    connection.commit()


def condition(name: str, some: list[Any]) -> str:
    """Return a condition on one column."""
    return f"{name} IN ({', '.join(repr(v) for v in some)})"


def statement(conditions: dict[str, str], groups: tuple[str, ...] = ()) -> str:
    """Return a sum under conditions, by groups."""
    table = JOIN if any(OF.get(name) for name in (*conditions, *groups)) else "lineitem"
    sql = f"SELECT {''.join(g + ', ' for g in groups)}SUM(price) FROM {table}"
    sql += f" WHERE {' AND '.join(conditions.values())}" if conditions else ""
    return sql + (f" GROUP BY {', '.join(groups)}" if groups else "")


class Mixture:
    """Queries as a data owner sees them, drawn from a seed.

    In a hundred: 40 that were asked before, 20 grouped by one or two columns, 25 that narrow one of the last queries by
    one more value (nested conditions), and 15 sums under one to three random conditions. With `random` all are of the
    last kind.
    """

    def __init__(self, seed: int, random: bool = False) -> None:
        self.rng = np.random.default_rng([seed, 1])
        self.asked: list[str] = []
        self.paths: list[dict[str, str]] = [{}]
        self.random = random

    def __call__(self) -> str:
        """Return the next query."""
        kind = 1.0 if self.random else self.rng.random()
        if kind < 0.4 and self.asked:
            return self.asked[int(self.rng.integers(len(self.asked)))]
        names = [str(name) for name in self.rng.permutation(list(COLUMNS))]
        if kind < 0.6:
            sql = statement({}, tuple(names[: int(self.rng.integers(1, 3))]))
        elif kind < 0.85:
            path = self.paths[int(self.rng.integers(len(self.paths)))]
            free = next(name for name in names if name not in path)
            value = COLUMNS[free][int(self.rng.integers(len(COLUMNS[free])))]
            path = path | {free: condition(free, [value])}
            sql = statement(path)
            self.paths = [*self.paths, path][-50:] if len(path) < 3 else self.paths
        else:
            sql = statement({name: self._some(name) for name in names[: int(self.rng.integers(1, 4))]})
        self.asked.append(sql)
        return sql

    def _some(self, name: str) -> str:
        size = int(self.rng.integers(1, max(2, len(COLUMNS[name]) // 2 + 1)))
        some = self.rng.choice(len(COLUMNS[name]), size, replace=False)
        return condition(name, [COLUMNS[name][k] for k in some])


def waiting() -> float:
    """Return the seconds that this thread was ready to run while other programs had the processors (Linux; else 0)."""
    place = Path("/proc/thread-self/schedstat")
    return int(place.read_text().split()[1]) / 1e9 if place.exists() else 0.0


def measure(guard: Guard, bare: Any, queries: list[str]) -> dict[str, Any]:
    """Time the guard and the bare query, one after the other."""
    with_guard, without, processor, delay, answered, left_out = [], [], [], [], 0, []
    for sql in queries:
        begun = time.perf_counter()
        bare(sql)
        middle, used, waited = time.perf_counter(), time.process_time(), waiting()
        answer = guard.query(sql)
        with_guard.append(time.perf_counter() - middle)
        processor.append(time.process_time() - used)
        delay.append(waiting() - waited)
        without.append(middle - begun)
        answered += answer.answered
        left_out.append(sum(None in row for row in answer.rows))
    guarded, plain, cpu = 1000 * np.array(with_guard), 1000 * np.array(without), 1000 * np.array(processor)
    return {
        "queries": len(queries),
        "answered": answered,
        "most groups left out": max(left_out),
        "bare median": round(float(np.median(plain)), 1),
        "bare 99 %": round(float(np.quantile(plain, 0.99)), 1),
        "added median": round(float(np.median(guarded - plain)), 1),
        "added 99 %": round(float(np.quantile(guarded - plain, 0.99)), 1),
        "added most": round(float((guarded - plain).max()), 1),
        "guard processor median": round(float(np.median(cpu)), 1),
        "guard processor 99 %": round(float(np.quantile(cpu, 0.99)), 1),
        "guard processor most": round(float(cpu.max()), 1),
        "guard waiting for a processor 99 %": round(1000 * float(np.quantile(delay, 0.99)), 1),
        "guard / bare": round(float(np.median(guarded) / np.median(plain)), 1),
        "over 1 s of processor": int((cpu > 1000).sum()),
        "slowest": queries[int(cpu.argmax())].replace(JOIN, "both tables"),
    }


def asker(connection: Any) -> Any:
    """Return how a query is asked of a database without a guard."""

    def bare(sql: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    return bare


def reader(owner: Any, place: str) -> Any:
    """Make a role of PostgreSQL that can only read, and connect as that."""
    cursor = owner.cursor()
    for line in read_only_role(Policy.of(POLICY), role="reader").splitlines():
        cursor.execute(line)
    cursor.execute("ANALYZE")
    owner.commit()
    url = urlsplit(place)
    return connect(f"postgresql://reader@{url.hostname}:{url.port or 5432}{url.path}")


def continued(log: Path, asks: Mixture) -> tuple[int, int]:
    """Take up a log that an earlier run with the same seed has filled: numbers of answered and of asked queries.

    Raises
    ------
    InputError
        If its queries are not the first of the mixture.
    """
    if not log.exists():
        return 0, 0
    kept = Log(log)
    entries = kept.entries()
    kept.close()
    if any(entry.sql != asks() for entry in entries):
        raise InputError(f"log {log}: its queries are not those of this seed; give another file")
    return sum(entry.answered for entry in entries), len(entries)


def stages(given: argparse.Namespace, databases: dict[str, Any], folder: Path) -> Iterator[dict[str, Any]]:
    """Fill the log over the first database, and measure on all of them at every stage."""
    log, asks, answered, asked = folder / "log.sqlite", Mixture(given.seed, given.random), 0, 0
    if given.keep:
        log = given.keep
        answered, asked = continued(log, asks)
    for stage in given.logged:
        if answered > stage:
            print(f"the log holds {answered} answers; {stage} is left out", file=sys.stderr, flush=True)
            continue
        guard = Guard(databases["DuckDB"][0], Policy.of(POLICY), log)
        while answered < stage:
            answered += guard.query(asks()).answered
            asked += 1
            if asked % 1000 == 0:
                print(f"{asked} asked, {answered} answered", file=sys.stderr, flush=True)
        guard.close()
        # measured on copies: the log goes on with what it was about to ask
        ahead = deepcopy(asks)
        queries = [ahead() for _ in range(given.queries)]
        for name, (connection, bare) in databases.items():
            place = folder / f"{name}{stage}.sqlite"
            shutil.copy(log, place)
            guard = Guard(connection, Policy.of(POLICY), place)
            guard.accounts.rows("lineitem")
            yield {"database": name, "logged": answered, "asked so far": asked, **measure(guard, bare, queries)}
            guard.close()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--logged", type=int, nargs="+", default=[0, 1000, 10_000])
    parser.add_argument("--queries", type=int, default=300, help="measured at every stage")
    parser.add_argument("--postgres", action="store_true", help="measure on PostgreSQL, too, with a server of its own")
    parser.add_argument("--skew", type=float, default=0.0, help="exponent of Zipf's law for the public columns")
    parser.add_argument("--random", action="store_true", help="sums under random conditions only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep the log in this file, and go on from it if it exists")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args(arguments)
    frames = tables(given.rows, given.seed, given.skew)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        duck = duckdb.connect()
        fill(duck, frames)
        databases = {"DuckDB": (duck, asker(duck))}
        if given.postgres:
            place = stack.enter_context(postgres_server())
            owner = connect(place)
            fill(owner, frames)
            databases["PostgreSQL"] = (reader(owner, place), asker(owner))
        found = []
        for row in stages(given, databases, folder):
            found.append(row)
            print(json.dumps(row), flush=True)
            if given.json:
                given.json.write_text(json.dumps(found, indent=1) + "\n")
            if given.markdown:
                given.markdown.write_text(as_markdown(found))
    return 0


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the figures as a table."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(map(str, row.values())) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
