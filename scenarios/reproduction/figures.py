"""Figures of experiments: written whole, then freed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure of pyplot, whole or not at all, and free it."""
    import matplotlib.pyplot as plt

    style.save(figure, path)
    plt.close(figure)
