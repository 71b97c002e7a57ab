"""A browser without a window, for pages that are read from a file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def document(page: Path, *options: str) -> str:
    """What a page has become once its scripts have run; the test is skipped where there is no Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium to draw the page with")
    words = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900", *options]
    words += ["--dump-dom", page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False).stdout
