"""Every code block of the pages and of the README runs, and prints what the page says.

``python`` blocks of a page share their names; blocks with ``>>>`` are compared with what they print. ``console`` blocks
run in a shell after every ``$``, and the lines up to the next one are compared with the standard output; ``toml``
blocks with a ``title`` are written under that name. In expected output ``...`` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RUN = ("python", "console")
#: Blocks in these languages are shown, not run.
#: Those in R are run by tests/r.
SHOWN = ("toml", "text", "bash", "mermaid", "html", "r")


@dataclass(frozen=True)
class Block:
    language: str
    options: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        indent, language, options, code = match.groups()
        code = "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))
        found.append(Block(language, options, code, text.count("\n", 0, match.start()) + 2))
    return found


def with_examples() -> list[Path]:
    return [page for page in PAGES if any(block.language in RUN for block in blocks(page))]


def run_python(block: Block, names: dict[str, Any], where: str) -> None:
    if ">>>" not in block.code:
        exec(compile("\n" * (block.line - 1) + block.code, where, "exec"), names)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(block.code, names, where, where, block.line - 1)
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert not report.getvalue(), report.getvalue()


def run_console(block: Block, folder: Path, where: str) -> None:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
    }
    lines = block.code.replace("\\\n", " ").splitlines()
    assert lines, f"{where}: empty"
    assert lines[0].startswith("$ "), f"{where}: a console block begins with '$ '"
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        done = subprocess.run(
            lines[start][2:], shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        wanted = "\n".join(lines[start + 1 : end])
        if wanted.strip():
            same = doctest.OutputChecker().check_output(wanted + "\n", done.stdout, OPTIONS)
            assert same, f"{where}: {lines[start]}\nprinted\n{done.stdout}\n{done.stderr}\ninstead of\n{wanted}"
        else:
            assert done.returncode == 0, f"{where}: {lines[start]}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("page", with_examples(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_examples_run(page: Path, tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    with contextlib.chdir(tmp_path):
        for block in blocks(page):
            where = f"{page.name}:{block.line}"
            title = re.search(r'title="([^"]+)"', block.options)
            if block.language == "python":
                run_python(block, names, where)
            elif block.language == "console":
                run_console(block, tmp_path, where)
            elif title:
                (tmp_path / title[1]).write_text(block.code, encoding="utf-8")
            ran += block.language in RUN
    assert ran


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= {*RUN, *SHOWN}
    fences = re.findall(r"^ *```.*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page))


def test_a_wrong_example_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n>>> 1 + 1\n3\n```\n\n```console\n$ echo right\nwrong\n```\n\n```python\n1 / 0\n```\n")
    sums, echo, division = blocks(page)
    assert (sums.line, echo.line, division.line) == (2, 7, 12)
    with pytest.raises(AssertionError, match="Expected"):
        run_python(sums, {}, "page.md:2")
    with pytest.raises(AssertionError, match="instead of"):
        run_console(echo, tmp_path, "page.md:7")
    with pytest.raises(ZeroDivisionError):
        run_python(division, {}, "page.md:12")


def test_every_line_of_ours_in_the_migration_guide_runs() -> None:
    """What is only shown there is of other tools: no command of ours, no Python with our names."""
    shown = [block for block in blocks(CHECKOUT / "docs" / "migration.md") if block.language not in RUN]
    own = re.compile(r"\s*(\$ )?tabprotect |.*\b(tp|md)\.|from tabprotect")
    assert len(shown) >= 3
    for block in shown:
        ours = [line for line in block.code.splitlines() if own.match(line)]
        assert not ours, f"migration.md:{block.line} is shown, not run: {ours}"
