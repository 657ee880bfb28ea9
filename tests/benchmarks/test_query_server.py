"""The PostgreSQL server of a benchmark ends with the program, however that ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what shells run in the background
from benchmarks.query.server import postgres_server
with postgres_server() as place:
    print(place, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, None])
def test_no_server_is_left(number, tmp_path):
    if not any(Path("/usr/lib/postgresql").glob("*/bin")):
        pytest.skip("PostgreSQL is not installed")
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    tmp_path.chmod(0o1777)
    for parent in tmp_path.parents:  # the server may run as another user
        if parent == Path(tempfile.gettempdir()).resolve():
            break
        parent.chmod(0o755)
    port = urlsplit(program.stdout.readline()).port
    with socket.create_connection(("127.0.0.1", port)):
        pass
    if number is None:
        program.stdin.close()
    else:
        program.send_signal(number)
    program.wait()
    until = time.monotonic() + 60
    while list(tmp_path.glob("pg*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert not list(tmp_path.glob("pg*"))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
