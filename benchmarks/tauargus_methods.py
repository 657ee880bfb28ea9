"""Runs inside the peer's environment, where there is no tabprotect: microdata in, status and levels of every cell out.

``python tauargus_methods.py``, in a folder of its own with ``task.json`` (``by``, ``value``, ``rules``, ``suppress``,
``cost``, ``holding``, ``hrc``) and ``data.csv``; one line of JSON.
"""

import csv
import json
import time
from importlib.metadata import version
from pathlib import Path

from pytauargus import protect

task = json.loads(Path("task.json").read_text())
with Path("data.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
data = {name: [row[name] for row in rows] for name in task["by"]}
data[task["value"]] = [float(row[task["value"]]) for row in rows]
if task["holding"]:
    data[task["holding"]] = [row[task["holding"]] for row in rows]
started = time.monotonic()
answer = protect(
    data,
    task["by"],
    task["value"],
    task["rules"],
    task["suppress"],
    cost_var=task["cost"],
    holding_var=task["holding"],
    decimals=0,
    hrc=task["hrc"],
    hierleadstring="@",
    totcode="Total",
    workdir="work",
)
seconds = time.monotonic() - started
table = answer.tables[0] if answer.tables else None
wanted = [*task["by"], "status", "lower", "upper"]
cells = [] if table is None else [[row[name] for name in wanted] for row in table.rows]
print(json.dumps({"seconds": seconds, "cells": cells, "version": version("pytauargus")}))
