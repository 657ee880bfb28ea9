"""The picture of the README shows what the package does today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest


@pytest.mark.slow
def test_the_picture_is_that_of_a_release(checkout: Path) -> None:
    spec = importlib.util.spec_from_file_location("docs_picture", checkout / "docs" / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    made = picture.release()
    assert made.safe
    assert made.result.status == "optimal"

    def fills(text: str) -> list[str]:
        return [str(node.get("fill")) for node in ElementTree.fromstring(text).iter() if node.tag.endswith("rect")]

    drawn, committed = fills(picture.draw(made)), fills(picture.OUT.read_text(encoding="utf-8"))
    legend = 1
    for word in ("primary", "secondary"):
        assert drawn.count(picture.FILLS[word]) - legend == int((made.words == word).sum())
    # equally cheap patterns may differ, what is sensitive may not: `make picture` after a change of the rules
    red = picture.FILLS["primary"]
    assert [i for i, fill in enumerate(drawn) if fill == red] == [i for i, fill in enumerate(committed) if fill == red]
