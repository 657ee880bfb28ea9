"""A process that asks: ``python asker.py DATABASE LOG QUERY ...`` prints every answer as soon as it has it."""

from __future__ import annotations

import sys

from tabprotect.query import Guard
from tabprotect.query.guard.database import connect
from tests.query.conftest import emp_policy

if __name__ == "__main__":
    database, log, *queries = sys.argv[1:]
    guard = Guard(connect(database), emp_policy(), log)
    print("ready", flush=True)
    sys.stdin.readline()
    for sql in queries:
        answer = guard.query(sql)
        print(answer.entry, answer.value if answer.answered else "denied", flush=True)
