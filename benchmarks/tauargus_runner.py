"""Runs inside the peer's environment, where there is no tabprotect: one .jj file, one line of JSON.

``python tauargus_runner.py IN.jj OUT MINUTES``, in a folder of its own, where the peer leaves its logs.
"""

import json
import sys
import time
from importlib.metadata import version

from pytauargus import HiTaSCtrl

path, out, minutes = sys.argv[1:]
control = HiTaSCtrl()
started = time.monotonic()
code = control.full_jj(in_file_jj=path, out_file=out, max_time=int(minutes), out_dir="log/")
seconds = time.monotonic() - started
message = control.error_string(code) if code else ""
print(json.dumps({"code": code, "seconds": seconds, "message": message, "version": version("pytauargus")}))
