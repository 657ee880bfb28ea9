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
