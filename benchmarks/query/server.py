"""A PostgreSQL server of one's own for a benchmark: started in a folder that is deleted at the end."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tabprotect.errors import InputError

__all__ = ["postgres_server"]

STOP: Final = 'cat > /dev/null; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"'
"""What the watcher does when its input ends, which is at the latest when the program that holds the other end ends.

A process of its own, since no handler in the program could run after SIGKILL. A server that is only about to start ends
by itself when its folder is gone.
"""

PORTS: Final = 5
"""Ports that are tried: another program may take one before the server does."""


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextmanager
def postgres_server(programs: Path | None = None) -> Iterator[str]:
    """Start a server and return the address of its database, for its owner.

    The server is stopped however the program ends, by SIGTERM or SIGKILL, too.

    Raises
    ------
    InputError
        If PostgreSQL is not installed.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if programs is None else [programs]
    if not found:
        raise InputError("PostgreSQL is not installed (make setup-postgres)")
    folder = tempfile.mkdtemp(prefix="pg")
    me: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        who = pwd.getpwnam("postgres")
        os.chown(folder, who.pw_uid, who.pw_gid)
        me = {"user": who.pw_uid, "group": who.pw_gid}
    data, last = f"{folder}/data", [str(found[-1]), folder]

    def run(*command: str) -> None:
        # the server keeps the output open, so it goes to a file
        with Path(f"{folder}/commands").open("ab") as output:
            subprocess.run(command, check=True, stdout=output, stderr=output, cwd="/", **me)

    watcher = subprocess.Popen(
        ["/bin/sh", "-c", STOP, "sh", *last],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
        **me,
    )
    try:
        run(str(found[-1] / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
        for left in reversed(range(PORTS)):
            port = _free_port()
            options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
            try:
                run(str(found[-1] / "pg_ctl"), "-D", data, "-w", "-o", options, "-l", f"{folder}/log", "start")
                break
            except subprocess.CalledProcessError:
                if not left:
                    raise
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        watcher.communicate()
