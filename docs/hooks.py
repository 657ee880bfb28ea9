"""Parts of the pages that are derived when the pages are built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Complete the index of decisions and the reference."""
    if page.file.src_uri == "decisions/index.md":
        return markdown + "\n".join(decisions()) + "\n"
    if page.file.src_uri == "reference.md":
        further = "".join(f"::: {name}\n" for name in further_names())
        return f"{markdown}\n## All methods\n\n{methods_table()}\n## Further names\n\n{further}"
    if page.file.src_uri == "options.md":
        return markdown + options_tables()
    return markdown


def decisions() -> list[str]:
    """Return one line a decision, with its title."""
    lines = []
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        lines.append(f"- [{path.stem.split('-')[0]} {title}]({path.name})")
    return lines


def methods_table() -> str:
    """Return the table of all methods, from their registry."""
    from tabprotect.methods.registry import METHODS

    rows = [
        "| method | family | acts on | what it does | options |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| [`{one.name}`]({one.page}) | {one.family} | {one.acts_on} | {one.summary} "
            f"| {', '.join(option.name for option in one.options)} |"
            for one in METHODS.values()
        ),
    ]
    return "\n".join(rows) + "\n"


def options_tables() -> str:
    """Return a table of every stage of suppression, from its dataclass."""
    from tabprotect.methods.suppression.options import DEFAULTS

    return "\n".join(_stage_tables(DEFAULTS, ""))


def _stage_tables(stages: Any, within: str) -> Iterator[str]:
    for each in fields(stages):
        name, part = f"{within}{each.name}", getattr(stages, each.name)
        title = (type(part).__doc__ or "").partition("\n")[0]
        if any(is_dataclass(getattr(part, own.name)) for own in fields(part)):
            yield from _stage_tables(part, f"{name}.")
            continue
        yield f"## `{name}`\n\n{title}\n\n| option | default | meaning |\n| --- | --- | --- |"
        entry = re.compile(r"^    (\w+) : .+, default (.+)\n((?:        .+\n)+)", re.MULTILINE)
        for option, default, text in entry.findall(type(part).__doc__ or ""):
            yield f"| `{option}` | {default} | {' '.join(text.split())} |"
        yield ""


def shown_names() -> set[str]:
    """Return the full names of everything that the pages document by hand."""
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    return {name for page in pages for name in re.findall(r"^::: ([\w.]+)$", page, flags=re.MULTILINE)}


def further_names() -> list[str]:
    """Return public names that no page has."""
    import tabprotect as tp

    last = {name.rsplit(".", 1)[1] for name in shown_names()}
    packages = {name for name in tp.__all__ if hasattr(getattr(tp, name), "__path__")}
    return [f"tabprotect.{name}" for name in sorted(set(tp.__all__) - last - packages - {"__version__"})]
