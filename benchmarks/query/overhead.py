"""What the guard adds to a query: TPC-H-like order lines in DuckDB or PostgreSQL, beside the bare query.

``python -m benchmarks.query.overhead --rows 1000000 --logged 0 1000 10000`` generates the data from a seed, asks random
queries (one to three conditions on public columns) until as many are logged as answered, and then measures at every
stage a number of further queries: the time of the guard, and of the same SQL in the database alone. Reported are
medians and 99th percentiles, in milliseconds and as a ratio, and how many queries were denied. What counts is the
ratio; milliseconds belong to one machine. With --database an empty PostgreSQL database is filled and asked instead.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import numpy as np
import pandas as pd

from tabprotect.query import Guard, Policy
from tabprotect.query.guard import read_only_role
from tabprotect.query.guard.database import connect

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

OF = {"nation": "customer", "segment": "customer"}


def fill(connection: Any, rows: int, seed: int) -> None:
    """Make the tables: prices are skewed as turnovers are, and one customer in ten buys most."""
    rng = np.random.default_rng(seed)
    customers = max(50, rows * 15 // 100)
    customer = pd.DataFrame(
        {
            "custkey": np.arange(customers),
            "nation": rng.choice(COLUMNS["nation"], customers),
            "segment": rng.choice(COLUMNS["segment"], customers),
        }
    )
    line = pd.DataFrame(
        {
            "line": np.arange(rows),
            "custkey": np.minimum(rng.exponential(customers / 5, rows).astype(int), customers - 1),
            **{c: rng.choice(COLUMNS[c], rows) for c in ("flag", "status", "mode", "year")},
            "price": np.round(rng.lognormal(8, 1, rows)),
        }
    )
    if type(connection).__module__.split(".")[0] in ("duckdb", "_duckdb"):
        connection.execute("CREATE TABLE customer AS SELECT * FROM customer")
        connection.execute("CREATE TABLE lineitem AS SELECT * FROM line")
        return
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE customer (custkey integer PRIMARY KEY, nation text, segment text)")
    cursor.execute(
        "CREATE TABLE lineitem (line integer PRIMARY KEY, custkey integer, flag text, status text, mode text, "
        "year integer, price double precision)"
    )
    for name, frame in (("customer", customer), ("lineitem", line)):
        text = frame.to_csv(index=False, header=False).encode()
        cursor.execute(f"COPY {name} FROM STDIN WITH (FORMAT csv)", stream=io.BytesIO(text))
    connection.commit()


def random_query(rng: np.random.Generator) -> str:
    """Draw a sum under one to three conditions."""
    names = rng.choice(list(COLUMNS), int(rng.integers(1, 4)), replace=False).tolist()
    parts = []
    for name in names:
        size = int(rng.integers(1, max(2, len(COLUMNS[name]) // 2 + 1)))
        some = rng.choice(len(COLUMNS[name]), size, replace=False)
        values = ", ".join(f"'{v}'" if isinstance(v, str) else str(v) for v in (COLUMNS[name][k] for k in some))
        parts.append(f"{name} IN ({values})")
    table = "lineitem"
    if any(OF.get(name) for name in names):
        table += " JOIN customer ON lineitem.custkey = customer.custkey"
    return f"SELECT SUM(price) FROM {table} WHERE {' AND '.join(parts)}"


def measure(guard: Guard, bare: Any, queries: list[str]) -> dict[str, Any]:
    """Time the guard and the bare query, one after the other."""
    with_guard, without, denied = [], [], 0
    for sql in queries:
        begun = time.perf_counter()
        bare(sql)
        middle = time.perf_counter()
        answer = guard.query(sql)
        with_guard.append(time.perf_counter() - middle)
        without.append(middle - begun)
        denied += not answer.answered
    added = 1000 * (np.array(with_guard) - np.array(without))
    plain = 1000 * np.array(without)
    return {
        "bare median ms": round(float(np.median(plain)), 1),
        "added median ms": round(float(np.median(added)), 1),
        "added 99 % ms": round(float(np.quantile(added, 0.99)), 1),
        "guard / bare (medians)": round(float(np.median(with_guard) / np.median(without)), 1),
        "denied": denied,
        "of": len(queries),
    }


def opened(place: str | None) -> tuple[Any, Any]:
    """Open the database to fill, and return how a query is asked of it without a guard."""
    if place is None:
        connection = duckdb.connect()
        return connection, lambda sql: connection.execute(sql).fetchall()
    connection = connect(place)

    def bare(sql: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    return connection, bare


def reader(connection: Any, place: str | None) -> Any:
    """Return a connection that can only read."""
    if place is None:
        return connection
    cursor = connection.cursor()
    for line in read_only_role(Policy.of(POLICY), role="reader").splitlines():
        cursor.execute(line)
    cursor.execute("ANALYZE")
    connection.commit()
    url = urlsplit(place)
    return connect(f"postgresql://reader@{url.hostname}:{url.port or 5432}{url.path}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--logged", type=int, nargs="+", default=[0, 1000, 10_000])
    parser.add_argument("--queries", type=int, default=100, help="measured at every stage")
    parser.add_argument("--database", default=None, help="postgresql://... of somebody who may create tables")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    rng = np.random.default_rng(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        connection, bare = opened(given.database)
        fill(connection, given.rows, given.seed)
        guard = Guard(reader(connection, given.database), Policy.of(POLICY), Path(folder) / "log.sqlite")
        guard.accounts.rows("lineitem")
        figures = {}
        answered = 0
        for stage in given.logged:
            while answered < stage:
                answered += guard.query(random_query(rng)).answered
            figures[str(stage)] = measure(guard, bare, [random_query(rng) for _ in range(given.queries)])
            answered += figures[str(stage)]["of"] - figures[str(stage)]["denied"]
            print(f"{stage} logged answers:", json.dumps(figures[str(stage)]), flush=True)
        guard.close()
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
