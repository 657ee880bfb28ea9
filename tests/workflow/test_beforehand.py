"""What is refused before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
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


FIRMS = pd.DataFrame({"region": list("nnss"), "size": list("bsbs"), "v": [90, 5, 4, 40]})


def test_python_hears_everything_at_once(tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    with pytest.raises(InputError) as caught:
        tp.protect(  # type: ignore[call-overload]
            FIRMS, ["treshold=3", "nk=5,70"], "wrong", by=["region", "nowhere"], value="v", kind="both", unions="fix",
            levels="sideways", seed=-1, resume=tmp_path, previous=tmp_path / "last",
        )  # fmt: skip
    words = [
        "did you mean 'threshold'?", "unknown method 'wrong'", "no column 'nowhere'", "kind must be",
        "unions must be", "levels must be", "seed must be", f"{tmp_path}: not a folder for resuming",
        "previous: there is no folder",
    ]  # fmt: skip
    said = "\n".join(caught.value.problems)
    assert [word for word in words if word not in said] == []
    assert len(set(caught.value.problems)) == len(caught.value.problems)


def test_python_hears_of_codes_beside_all_else() -> None:
    given = {"by": ["region", "size"], "value": "v", "attackers": {"tax office": ["W x b"]}, "bounds": ("low", None)}
    how = tp.Suppress(preferences={"regon": [1, 2]})
    words = ["no column 'low'", "did you mean 'region'?", "attacker 'tax office': there is no cell W x b"]
    for more in ({}, {"unions": "fix"}):
        with pytest.raises(InputError) as caught:
            tp.protect(FIRMS, "nk=5,70", how, **given, **more)
        said = "\n".join(caught.value.problems)
        assert [word for word in [*words, *(["unions must be"] if more else [])] if word not in said] == []


def test_a_finished_table_is_told_what_does_not_go_with_it_at_once() -> None:
    table = tp.tabulate(FIRMS, ["region", "size"], "v")
    with pytest.raises(InputError) as caught:
        tp.protect(table, "treshold=3", by="region", decimals=99)
    assert len(caught.value.problems) == 3


def test_what_python_may_leave_out_is_no_problem() -> None:
    assert tp.protect(FIRMS, "threshold=1", by="region", value="v", intervals=False).safe


@pytest.mark.parametrize(
    ("asked", "words", "cure"),
    [
        (
            {"request": "q"},
            "request: the request codes in 'q' say nothing",
            {"rules": ["threshold=3", "request=70,85"]},
        ),
        ({"request": "q"}, "or take request out", {"request": None}),
        (
            {"cost": "k", "method": tp.Suppress(cost="count")},
            r"given twice: in the column 'k' \(cost=\), and by Suppress\(cost='count'\)",
            {"cost": None},
        ),
        (
            {"cost": "k", "method": tp.Recode(then=tp.Suppress(cost="unit"))},
            "take one of them out",
            {"method": tp.Recode()},
        ),
    ],
)
def test_a_column_that_nothing_would_look_at_is_refused(
    asked: dict[str, Any], words: str, cure: dict[str, Any]
) -> None:
    firms = pd.DataFrame({"r": list("aabbc") * 2, "v": range(1, 11), "q": [0, 1, 0, 0, 2] * 2, "k": [1, 9] * 5})
    given: dict[str, Any] = {"by": "r", "value": "v", "rules": ["threshold=3"], **asked}
    with pytest.raises(InputError, match=words):
        tp.protect(firms, **given)
    assert tp.protect(firms, **{**given, **cure}).safe
