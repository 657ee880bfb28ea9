"""What is refused before the work begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.workflow.beforehand import check_place


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system that holds no files of users")
def test_a_folder_that_cannot_be_made_is_refused_whoever_asks():
    """The rights alone allow it to the superuser."""
    with pytest.raises(InputError, match="no folder can be made in /proc"):
        check_place(Path("/proc/tabprotect/release"))


def test_nothing_is_left_where_a_folder_can_be_made(tmp_path):
    check_place(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())
