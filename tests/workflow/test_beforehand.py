"""What is refused before the work begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.workflow.beforehand import check_beforehand, check_place


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system that holds no files of users")
def test_a_folder_that_cannot_be_made_is_refused_whoever_asks():
    """The rights alone allow it to the superuser."""
    with pytest.raises(InputError, match="no folder can be made in /proc"):
        check_place(Path("/proc/tabprotect/release"))


def test_nothing_is_left_where_a_folder_can_be_made(tmp_path):
    check_place(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())


def test_what_every_table_states_for_itself_is_not_stated_for_all(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("region,size,v\nn,s,3\n")
    content = {
        "data": "a.csv", "value": "v", "by": ["nowhere"], "rules": ["p%=10"],
        "tables": {"one": {"by": ["region"]}, "two": {"by": ["size"]}},
    }  # fmt: skip
    with pytest.raises(InputError, match="'by' says nothing: every table has its own"):
        check_beforehand(content, "a.toml", tmp_path)
    del content["by"]
    assert check_beforehand(content, "a.toml", tmp_path).tables["one"].by == ["region"]


def test_a_wrong_key_of_the_output_hides_no_wrong_folder(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("region,size,v\nn,s,3\n")
    (tmp_path / "afile").touch()
    content = {
        "data": "a.csv", "value": "v", "by": ["region"], "rules": ["p%=10"],
        "output": {"folder": "afile", "formats": ["foo"]},
    }  # fmt: skip
    with pytest.raises(InputError) as caught:
        check_beforehand(content, "a.toml", tmp_path)
    said = "\n".join(caught.value.problems)
    assert "'foo' is not possible" in said
    assert "afile is a file" in said
