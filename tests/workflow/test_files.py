"""Code lists of a request, by what is in them."""

from __future__ import annotations

from pathlib import Path

from tabprotect.workflow.files import read_hierarchy


def test_hierarchies_are_recognised_by_content(tmp_path: Path) -> None:
    texts = {
        "a.hrc": "A\n@01\n@02\nB\n@03\n",
        "b.txt": "parent;child\n;A\nA;01\nA;02\n;B\nB;03\n",
        "c.csv": "Level,Code,Label\n1,A,Crops\n2,01,x\n2,02,y\n1,B,Mining\n2,03,z\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert read_hierarchy(tmp_path / name, "@", None).codes == ("Total", "A", "01", "02", "B", "03"), name
