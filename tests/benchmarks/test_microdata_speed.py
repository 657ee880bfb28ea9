"""The table of masking methods beside plain numpy: every line runs, and baselines do what they are compared with."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.microdata import memory, speed


def test_every_method_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        "sys.argv", ["speed", "--records", "300", "--baseline", "100", "--only", "ranking,swap,pram,noise,suppression"]
    )
    speed.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["method", "records", "seconds"]
    assert len([line for line in lines if " x" in line and "300" in line]) == 5
    assert "lattice search: give --adult FOLDER" in lines


def test_an_unknown_method_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["speed", "--only", "nose"])
    with pytest.raises(SystemExit):
        speed.main()
    assert "there is no 'nose'" in capsys.readouterr().err


def test_baselines_do_the_same_work() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((200, 2))
    swapped = speed.plain_rank_swap(x, 10, rng)
    assert (np.sort(swapped, axis=0) == np.sort(x, axis=0)).all()
    ranks = [np.argsort(np.argsort(column)) for column in (x[:, 0], swapped[:, 0])]
    assert 0 < np.abs(ranks[0] - ranks[1]).max() <= 20
    codes = rng.integers(0, 4, (500, 3))
    assert 0 < (speed.plain_pram(codes, 0.8, rng) != codes).mean() < 0.25
    blanked = speed.plain_suppression(codes, 3)
    assert ((blanked == codes) | (blanked < 0)).all()
    _, sizes = np.unique(blanked[(blanked >= 0).all(axis=1)], axis=0, return_counts=True)
    assert sizes.min() >= 3


def test_memory_is_set_beside_that_of_the_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    peaks = {(100, False): 50.0, (100, True): 40.0, (400, False): 120.0, (400, True): 80.0}
    monkeypatch.setattr(memory, "measured", lambda job, size, *more: peaks[size, bool(more)])
    monkeypatch.setattr("sys.argv", ["memory", "--records", "400", "100", "--only", "noise"])
    memory.main()
    assert capsys.readouterr().out.splitlines()[-1].split() == ["noise", "10", "40", "4.0"]


@pytest.mark.parametrize("job", memory.JOBS)
def test_every_job_of_the_memory_table_runs(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    memory.run(job, 200, only_data=False)
    assert float(capsys.readouterr().out) > 0
