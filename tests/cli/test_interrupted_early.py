"""Ctrl-C while an error is told, or before the work begins, is no failure of the program."""

from __future__ import annotations

import pytest

from tabprotect.cli import app


@pytest.mark.parametrize("place", ["_run", "_fail", "_plain_warnings"])
@pytest.mark.parametrize(("command", "code"), [("protect", 3), ("verify", 1)])
def test_the_code_is_that_of_an_end_without_an_answer(monkeypatch, capsys, tmp_path, place, command, code):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, place, interrupted)
    assert app.run([command, str(tmp_path / "nowhere")]) == code
    told = "".join(capsys.readouterr())
    assert "Ended; " in told
    assert "report this line" not in told
