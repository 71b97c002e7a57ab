"""Amounts as people say them: three digits, times in days, hours, minutes or seconds, counts as counts."""

from __future__ import annotations

from math import floor, isfinite, log10

TIMES = ((86400.0, "d", 48 * 3600.0), (3600.0, "h", 5400.0), (60.0, "min", 120.0))  # unit, name, from
LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def human(value: float, unit: str = "") -> str:
    """A value as people say it: three digits, times in d, h, min or s, counts as counts, millions as M."""
    return human_metric("", value, unit)


def scale_of(value: float, unit: str = "", name: str = "") -> tuple[float, str]:
    """What to divide a value by for people, and what stands behind the number then: ` h`, `M`, nothing.

    Work, which is in slot-seconds, is in core-hours: metrics whose `name` says so.
    """
    if unit == "s" and name.split(".")[0].endswith("_work"):
        return 3600.0, " core-h"
    if unit == "s":
        return next(((size, f" {name}") for size, name, least in TIMES if abs(value) >= least), (1.0, " s"))
    return next(((size, letter) for size, letter in LARGE if abs(value) >= size), (1.0, ""))


def human_metric(name: str, value: float, unit: str = "") -> str:
    """A value of a metric as people say it: as `human`, but work, which is in slot-seconds, in core-hours."""
    if not isfinite(value):
        return str(value)
    size, tail = scale_of(value, unit, name)
    return f"{_digits(value / size)}{tail}"


def human_difference(mean: float, half: float | None, unit: str = "", name: str = "") -> str:
    """A difference with its sign and half the width of its interval, both in one unit: `-1.2 ± 0.4 h`.

    Where the interval has no width, or none is known, there is no ±.
    """
    if mean == 0 and not half:
        return "="
    size, tail = scale_of(max(abs(mean), half or 0.0), unit, name)
    if not half:
        return f"{_signed(mean / size, None)}{tail}"
    return f"{_signed(mean / size, half / size)}{tail}"


def _signed(mean: float, half: float | None) -> str:
    """To the first two digits of the half width, or of itself."""
    leading = half if half else abs(mean)
    places = min(max(1 - floor(log10(leading)), 0), 9) if leading else 0
    if half is None:
        return f"{mean:+.{places}f}"
    return f"{mean:+.{places}f} ± {half:.{places}f}"


def _digits(value: float) -> str:
    """Three significant digits, whole numbers and everything from 1000 on in full."""
    if value == round(value) or abs(value) >= 999.5:
        return str(round(value))
    return f"{value:.3g}"
