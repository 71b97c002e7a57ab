"""Values of metrics and parameters as people read them: three digits, their unit, percentages for shares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import floor, isfinite, log10
from textwrap import fill

from gridtune import limits
from gridtune.model.metrics.labels import label
from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.records.difference import Change
from gridtune.optimize.records.evaluations import Constraint, Objective, Value
from gridtune.optimize.records.recommendation import ParameterChange
from gridtune.scenarios.plots.style import labelled
from gridtune.scenarios.results.amounts import human, human_difference, human_metric, scale_of

NOT_SIGNIFICANT = "n.s."
UNKNOWN = "?"  # one run, so that noise cannot be estimated
NO_BREAK = "\xa0"
MILLION = 1e6  # from which `human` writes `1M`, which `--set` does not take
MANY = 3.0  # times as much, from which both values say more than a percentage


def setting(value: Value | None) -> str:
    """The value of a parameter as `--set` takes it, to three digits; `-` where there is none."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return str(round(value)) if MILLION <= abs(value) < limits.NUMBER else human(value)


def settings(before: Value | None, after: Value | None) -> tuple[str, str]:
    """Two values of a parameter, in full where three digits show no difference; "" for no value before."""
    if before is None:
        return "", setting(after)
    shown = setting(before), setting(after)
    return shown if shown[0] != shown[1] else (str(before), str(after))


def change_text(one: ParameterChange) -> str:
    """A change of a parameter: `0.3 -> 2`, or the value alone where the baseline has none."""
    before, after = settings(one.before, one.after)
    return f"{before} -> {after}" if before else after


def as_objective(one: Constraint) -> Objective:
    """The metric of a constraint, which is better the farther it is from the bound."""
    return Objective(one.metric, "minimize" if one.upper else "maximize", one.unit)


def metric_label(metric: Objective, width: int = 0) -> str:
    """A metric as people write it, with its unit unless its name or values say it; in lines of `width`."""
    text = labelled(metric.name, "" if metric.unit == "s" else metric.unit)
    return folded(text, width) if width else text


def folded(text: str, width: int) -> str:
    """A text in lines of so many letters, none of which begins or ends with a minus."""
    lines = fill(text.replace(" - ", f"{NO_BREAK}-{NO_BREAK}"), width, break_long_words=False)
    return lines.replace(NO_BREAK, " ")


def path_label(path: str, paths: Sequence[str], width: int = 0) -> str:
    """A parameter's last name where that says what it is; else its whole path, in lines of `width` if given.

    `availability_epsilon` says it; `sdj` and `kind` do not, nor what two of these paths end in.
    """
    last = path.rpartition(".")[2]
    if "_" in last and sum(other.rpartition(".")[2] == last for other in paths) == 1:
        return last
    lines = [""]
    for part in re.findall(r"[^.]+\.?", path):
        if width and lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def scale(value: float, metric: Objective, percent: str = " %") -> tuple[float, str]:
    """What to divide values like this one by for people, and what stands behind the number then."""
    shares = label(metric.name).percent
    return (0.01, percent) if shares else scale_of(value, metric.unit, metric.name)


def amount(value: float, metric: Objective) -> str:
    """A value of a metric: `76.8 %`, `14 s`, `1.35`."""
    if label(metric.name).percent and isfinite(value):
        return f"{100 * value:.3g} %"
    return human_metric(metric.name, value, metric.unit)


def with_half(value: float, half: float | None, metric: Objective) -> str:
    """A value and half of its interval, to the second digit of that: `1.35 ± 0.02`."""
    if not half or not isfinite(half) or not isfinite(value):
        return amount(value, metric)
    size, tail = scale(max(abs(value), half), metric)
    places = min(max(1 - floor(log10(half / size)), 0), 9)
    return f"{value / size:.{places}f} ± {half / size:.{places}f}{tail}"


def in_words(one: Change) -> str:
    """A change of a metric with its interval, all in one unit: `wait lower by 3.2 min (1.1 to 5.3)`."""
    gap, name = one.difference, metric_label(one.metric)
    if gap.equal:
        return f"{name} the same"
    way, values, remark = "higher" if gap.mean > 0 else "lower", [abs(gap.mean)], ""
    if gap.low is None or gap.high is None:
        remark = " (one run: noise is unknown)"
    elif gap.low == gap.high:
        remark = " in every run" if gap.pairs else " (no noise was seen)"
    else:
        values += (gap.low, gap.high) if gap.mean > 0 else (-gap.high, -gap.low)
    size, tail = scale(max(map(abs, values)), one.metric, " points")
    mean, *ends = (human(value / size) for value in values)
    interval = f" ({' to '.join(ends)})" if ends else ""
    return f"{name} {way} by {mean}{tail}{interval}{remark}"


def change(one: Change, baseline: float) -> str:
    """The change against the baseline: per cent, of shares percentage points, if it is significant."""
    if not one.significant:
        return NOT_SIGNIFICANT
    return relative(one.difference.mean, baseline, one.metric) + ("" if one.beyond_noise else f" {UNKNOWN}")


def plain(metric: Objective) -> Objective:
    """What a logarithm is the logarithm of, as people know that; any other metric itself."""
    stem = metric.name.removesuffix("_log")
    return replace(metric, name=stem) if metric.logarithm and stem in METRICS else metric


def relative(difference: float, baseline: float, metric: Objective) -> str:
    """A difference in per cent of the baseline (of what a logarithm is of), or in percentage points."""
    if label(metric.name).percent:
        return f"{_signed(100 * difference)} points"
    logarithm = metric.logarithm
    if baseline <= 0 and not logarithm:
        return human_difference(difference, None, metric.unit, metric.name)
    share = 10**difference - 1 if logarithm else difference / baseline
    return f"x {1 + share:.2g}" if share >= MANY - 1 else f"{_signed(100 * share)} %"


def _signed(percent: float) -> str:
    return f"{percent:+.0f}" if abs(percent) >= 10 else f"{percent:+.2g}"


def duration(seconds: float) -> str:
    """A wall-clock time as people say it: `45 s`, `3 min 13 s`, `2 h 5 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
