"""Run every command that the pages show, and keep the pictures they show.

    python docs/making/figures.py [PAGE …]        e.g. systems/dirac; left out, every page with pictures

A picture that a command writes as `results/a/b.png` is kept as `docs/figures/a-b.png` if the page shows
it. Commands run in `results/docs/PAGE`, beside the files that the page shows. The programs of the gallery run
below it. The live view is drawn by `watch_picture.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

from pages import DOCS, ROOT, calls, files, name_of, pages, pictures
from stamps import stamp

WATCH = "watch.png"
COLOURS = 64  # of a picture; enough for lines, bars and bands, and a third of the size


def main(names: list[str]) -> None:
    """Renew the pages named, or all that show pictures."""
    for page in pages():
        name = name_of(page)
        if name in names or (not names and drawn_by_commands(page)):
            folder = ROOT / "results" / "docs" / name
            run(page, folder)
            keep(page, folder)


def drawn_by_commands(page: Path) -> list[Path]:
    """The pictures of a page that its commands or programs draw."""
    return [picture for picture in pictures(page) if picture.name != WATCH]


def run(page: Path, folder: Path) -> None:
    """Write a page's files into an empty folder and run its commands and programs there.

    Raises:
        SystemExit: a command failed (a claim that is not met is no failure).
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in files(page).items():
        (folder / name).write_text(text, encoding="utf-8")
    data = os.environ.get("GRIDTUNE_DATA", "")
    found = os.pathsep.join(filter(None, [data, str(ROOT / "data"), str(ROOT.parent / "shared" / "data")]))
    for command, target in calls(page):
        print("gridtune", *command, flush=True)
        called = [sys.executable, "-m", "gridtune", *command]
        with (folder / target).open("w") if target else nullcontext(subprocess.DEVNULL) as printed:
            done = subprocess.run(
                called, cwd=folder, env=os.environ | {"GRIDTUNE_DATA": found}, stdout=printed, check=False
            )
        if done.returncode not in ((0, 1) if command[0] == "reproduce" else (0,)):
            sys.exit(f"{page}: gridtune {' '.join(command)} failed")
    for program in sorted(page.with_suffix("").glob("*.py")):
        below = folder / page.stem
        below.mkdir(exist_ok=True)
        print(program.name, flush=True)
        subprocess.run(
            [sys.executable, program], cwd=below, env=os.environ | {"GRIDTUNE_DATA": found}, check=True
        )


def keep(page: Path, folder: Path) -> None:
    """Keep the pictures that a page shows."""
    made = {
        "-".join(file.relative_to(folder).parts).removeprefix("results-"): file
        for file in folder.rglob("*.png")
    }
    for picture in drawn_by_commands(page):
        if picture.name not in made:
            sys.exit(
                f"{page}: no command of the page draws {picture.name}; it draws {', '.join(sorted(made))}"
            )
        shrink(made[picture.name], picture)
        stamp(picture.relative_to(DOCS).as_posix())


def shrink(source: Path, target: Path) -> None:
    """Copy a picture with fewer colours and pixels."""
    from PIL import Image

    with Image.open(source) as image:
        plain = image.convert("RGB")
    scale = min(
        1.0, max(1500 / plain.width, 800 / plain.height)
    )  # small, yet to be read where it is very wide
    small = plain.resize((round(plain.width * scale), round(plain.height * scale)), Image.Resampling.LANCZOS)
    target.parent.mkdir(parents=True, exist_ok=True)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
