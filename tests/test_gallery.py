"""Every program of the gallery runs unchanged and draws its picture; the page shows them all."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.py"))


def test_the_page_shows_every_program():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert len(GALLERY) == 10
    for path in GALLERY:
        assert f"(gallery/{path.name})" in text
        assert (ROOT / "docs" / "figures" / f"gallery-{path.stem}.png").is_file()


@pytest.mark.long
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_it_draws_its_picture(path, tmp_path):
    if path.stem == "dask_cluster":
        pytest.importorskip("distributed", reason="needs the extra [dask]")
    known = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": known, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    from matplotlib.image import imread

    picture = imread(tmp_path / f"{path.stem}.png")
    assert np.ptp(picture[..., :3]) > 0.5, "something is drawn"
    assert picture.shape[1] >= 300
