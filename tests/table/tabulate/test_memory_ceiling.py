"""DuckDB keeps to its ceiling: it works on disk then, or says that the ceiling is too low."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tabprotect.errors import InputError
from tabprotect.table.tabulate import tabulate

MEASURED = """
import json, sys
from tabprotect.table.tabulate import tabulate
table = tabulate(sys.argv[1], ["a", "b"], "v", contributor="who", memory_limit=sys.argv[2])
top = table.contributions
# not ru_maxrss, which begins with what the process that forks held
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1e6
print(json.dumps([peak, table.n_cells,
                  table.values.tolist(), table.counts.tolist(), top.values.tolist(), top.names[:9].tolist()]))
"""


def write(path: Path, rows: int) -> Path:
    who = f"'enterprise number ' || (hash(i) % {rows // 2})"
    duckdb.sql(
        f"COPY (SELECT {who} AS who, hash(i + 1) % 30 AS a, hash(i + 2) % 20 AS b, (hash(i + 3) % 10000) / 100 AS v "
        f"FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)"
    )
    return path


def measured(path: Path, memory_limit: str) -> list[object]:
    command = [sys.executable, "-c", MEASURED, str(path), memory_limit]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in other units elsewhere")
def test_the_same_table_in_less_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "register.parquet", 3_000_000)
    much, *table = measured(path, "8GB")
    little, *same = measured(path, "250MB")
    assert table == same
    assert little < much - 0.1, f"{little} GB instead of {much} GB"


def test_a_ceiling_that_is_too_low_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "register.parquet", 200_000)
    with pytest.raises(InputError, match=r"tabulation needs more memory than it may take \(9MB\)"):
        tabulate(path, ["a", "b"], "v", contributor="who", memory_limit="9MB")
