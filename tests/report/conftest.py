"""A headless Chromium for tests of pages: what a page holds once its script has run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def dump(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return the document of a page after its script, and then one given, have run."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("needs a headless Chromium (`make setup-browser`)")

    def run(page: str, script: str = "") -> str:
        folder = tmp_path_factory.mktemp("browser")
        copy: Path = folder / "page.html"
        copy.write_text(page.replace("</body>", f"<script>{script}</script></body>"))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        command = [program, *flags, f"--user-data-dir={folder / 'profile'}", "--dump-dom", copy.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    return run


@pytest.fixture
def picture(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a picture (PNG) of a page, so many pixels wide, or (PDF) what is printed of it."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("needs a headless Chromium (`make setup-browser`)")

    def run(page: str, width: int = 1400, *, printed: bool = False) -> Path:
        folder = tmp_path_factory.mktemp("picture")
        (folder / "page.html").write_text(page)
        # a window is at least 500 pixels wide; a frame is as wide as it is asked to be
        style = f"border:0;width:{width}px;height:1600px"
        frame = f'<body style="margin:0"><iframe src="page.html" style="{style}"></iframe>'
        (folder / "frame.html").write_text(frame)
        out = folder / ("page.pdf" if printed else "page.png")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
        shot = [f"--screenshot={out}", f"--window-size={max(width, 500)},1600"]
        what = [f"--print-to-pdf={out}"] if printed else shot
        source = folder / ("page.html" if printed else "frame.html")
        command = [program, *flags, f"--user-data-dir={folder / 'profile'}", *what, source.as_uri()]
        subprocess.run(command, capture_output=True, timeout=120, check=True)
        return out

    return run
