"""Runs inside the peer's environment, where there is no tabprotect: rounds one .jj file, prints one line of JSON.

``python tauargus_rounder.py IN.jj OUT BASE MINUTES ZERO_RESTRICTED``; the constants are those of its own front end.
"""

import json
import sys
import time
from importlib.metadata import version

from pytauargus import RounderCtrl

path, out, base, minutes, zero_restricted = sys.argv[1:]
control = RounderCtrl()
for number, value in ((101, 1e-7), (102, 2.14e13), (103, 1e-4), (104, 0.01)):
    control.set_double_constant(number, value)
started = time.monotonic()
code, jump, jumps, _, error = control.do_round(
    "SCIP", path, float(base), [1e40], [0.0], 0, out, "statistics.txt", int(minutes), int(zero_restricted)
)
seconds = time.monotonic() - started
print()
print(json.dumps({"code": code, "error": error, "seconds": seconds, "jump": jump, "version": version("pytauargus")}))
