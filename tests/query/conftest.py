"""Databases to guard: DuckDB in memory, and a PostgreSQL server of our own where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tabprotect.query.guard import Field, Policy, TablePolicy, read_only_role

EMP = [
    ("id1", "Management", 85), ("id2", "Management", 3), ("id3", "Management", 2),
    ("id4", "Administration", 4), ("id5", "Administration", 3), ("id6", "Administration", 3),
    ("id7", "Services", 4), ("id8", "Services", 3), ("id9", "Services", 3),
]  # fmt: skip

#: Region is nullable, one firm has three plants, and sizes differ: material for attacks.
FIRMS = [(i, f"r{i % 3}", "AB"[i % 2], f"firm {i}") for i in range(1, 25)]
PLANTS = [(100 + i, 1 + i % 24, ("coal", "gas", None)[i % 3], 10 + (i * 37) % 50) for i in range(60)]

SCHEMA = [
    "CREATE TABLE emp (id VARCHAR(9), dep VARCHAR(20), salary INTEGER)",
    "CREATE TABLE firms (firm INTEGER, region VARCHAR(9), size VARCHAR(9), name VARCHAR(20))",
    "CREATE TABLE plants (plant INTEGER, firm INTEGER, fuel VARCHAR(9), output INTEGER)",
]


def literal(value: Any) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def statements() -> list[str]:
    found = list(SCHEMA)
    for table, rows in (("emp", EMP), ("firms", FIRMS), ("plants", PLANTS)):
        found.append(f"INSERT INTO {table} VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows))
    return found


def emp_policy(**changed: Any) -> Policy:
    given: dict[str, Any] = {
        "unit": "emp.id",
        "tables": {"emp": TablePolicy("id", ("dep",), {"salary": Field()})},
        "rules": "nk=2,85",
        "minimum_units": 3,
    }
    return Policy(**(given | changed))


def plants_policy(**changed: Any) -> Policy:
    given: dict[str, Any] = {
        "unit": "firms.firm",
        "tables": {
            "plants": TablePolicy("plant", ("fuel",), {"output": Field()}, {"firm": "firms.firm"}),
            "firms": TablePolicy("firm", ("region", "size")),
        },
        "rules": "p%=10",
        "minimum_units": 3,
    }
    return Policy(**(given | changed))


@pytest.fixture
def duck() -> Iterator[Any]:
    connection = duckdb.connect()
    for sql in statements():
        connection.execute(sql)
    yield connection
    connection.close()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server of our own, and how it is stopped at once and started again."""

    port: int
    start: Callable[[], None]
    stop: Callable[[], None]


@pytest.fixture(scope="session")
def server(own_server: Server) -> int:
    """The port of a PostgreSQL server with the data above."""
    return own_server.port


@pytest.fixture(scope="session")
def own_server() -> Iterator[Server]:
    """A PostgreSQL server with the data above, in a folder of its own."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        pytest.skip("PostgreSQL is not installed (make setup-postgres)")
    pytest.importorskip("pg8000")
    programs, folder, port = found[-1], tempfile.mkdtemp(prefix="pg"), free_port()
    me: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        who = pwd.getpwnam("postgres")
        os.chown(folder, who.pw_uid, who.pw_gid)
        me = {"user": who.pw_uid, "group": who.pw_gid}
    data = f"{folder}/data"

    def run(*command: str) -> None:
        # the server keeps the output open, so it goes to a file
        with Path(f"{folder}.log").open("ab") as output:
            subprocess.run(command, check=True, stdout=output, stderr=output, cwd="/", **me)

    run(str(programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    control = str(programs / "pg_ctl"), "-D", data, "-w"
    start = partial(run, *control, "-o", options, "-l", f"{folder}/log", "start")
    stop = partial(run, *control, "-m", "immediate", "stop")
    start()
    try:
        owner = postgres(port, "postgres")
        cursor = owner.cursor()
        roles = read_only_role(plants_policy(), role="guard") + "\n" + 'GRANT SELECT ON "emp" TO "guard";'
        for sql in [*statements(), *roles.splitlines()]:
            cursor.execute(sql)
        owner.commit()
        owner.close()
        yield Server(port, start, stop)
    finally:
        stop()
        shutil.rmtree(folder, ignore_errors=True)
        Path(f"{folder}.log").unlink(missing_ok=True)


def postgres(port: int, user: str) -> Any:
    import pg8000.dbapi as pg

    return pg.connect(user=user, host="127.0.0.1", port=port, database="postgres")


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A connection to either database, of somebody who only reads."""
    connection = request.getfixturevalue("duck")
    if request.param == "postgres":
        connection = postgres(request.getfixturevalue("server"), "guard")
    yield connection
    connection.close()


@pytest.fixture
def guarded(database: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Make guards of the database, on one log."""
    from tabprotect.query import Guard

    made: list[Guard] = []

    def make(policy: Policy) -> Guard:
        made.append(Guard(database, policy, tmp_path / "log.sqlite"))
        return made[-1]

    yield make
    for guard in made:
        guard.close()
