"""What `gridtune front` does: print or draw the front of a kept search, or export a configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from gridtune.model.metrics.registry import HOUR
from gridtune.optimize import api
from gridtune.optimize.api.search_result import Study
from gridtune.optimize.explanation.explain import find_configuration
from gridtune.optimize.front.front import Front
from gridtune.optimize.recommend.harm import harms_of_replay
from gridtune.optimize.records.evaluations import Constraint, Evaluation, Objective
from gridtune.optimize.records.recommendation import ParameterChange, key
from gridtune.optimize.replication.compare import shares, signs
from gridtune.optimize.report import numbers
from gridtune.optimize.report.export import to_csv, to_dict, to_latex
from gridtune.optimize.report.frame import Row, rows
from gridtune.optimize.report.numbers import NOT_SIGNIFICANT, change_text, metric_label
from gridtune.optimize.report.recommended import all_harms, changed_values, harm_text, refusal
from gridtune.optimize.report.tables import front_text, spread, statistics_text
from gridtune.plain_text import escaped
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.log_noise import as_logged
from gridtune.scenarios.fields.requirements import parse_requirement
from gridtune.scenarios.plots.style import check_free, picture_format
from gridtune.scenarios.results.amounts import human
from gridtune.scenarios.results.files import version_of
from gridtune.scenarios.results.json_text import to_json
from gridtune.scenarios.results.text import terminal_width, wrapped
from gridtune.scenarios.slurm import slurm_changes

PREFERRED = "preferred"  # the first of `--prefer`


@dataclass(frozen=True)
class FrontRequest:
    """What `gridtune front` is asked for, by its options; `every` is `--all`."""

    format: str = "table"
    every: bool = False
    statistics: bool = False
    prefer: str | None = None
    export: str | None = None
    export_diff: str | None = None
    full: bool = False
    plot: Path | None = None


def show_front(study: str, request: FrontRequest, *, skip_broken: bool = False) -> str:
    """What `gridtune front` prints: the front of a search that was kept (see `open_study`), or a part of it.

    Raises:
        ScenarioError: there is no such study, it is damaged, or the picture cannot be drawn.
    """
    _check(request)
    opened = api.open_study(study, skip_broken=skip_broken)
    for note in opened.notes:
        print(note, file=sys.stderr)
    found = opened.details
    if request.plot is not None:
        from gridtune.optimize.report.pictures.draw import save

        save(found, request.plot)
    some, first = rows(found) if request.every else None, None
    if request.prefer is not None:
        known = {row.number: row for row in rows(found)}
        some = [known[one.number] for one in preferred(request.prefer, found)]
        if not some:
            raise ScenarioError(f"--prefer {request.prefer}: no configuration on the front keeps the limits")
        first = some[0]
    for name, told in ((request.export, exported), (request.export_diff, differences)):
        if name is not None:
            return told(opened, str(first.number) if first and name == PREFERRED else name, full=request.full)
    if request.statistics:
        return statistics_text(found, terminal_width())
    text = printed(found, request.format, some)
    if request.format != "table":
        return text
    starts = {key(one) for one in opened.settings.starts} if request.every else ()
    if given := [row.name for row in some or () if key(row.entry.values) in starts]:
        said = f"Settings to start from (`[search] start`, `--start-from`): {', '.join(given)}"
        text += "\n".join(["", *wrapped([said], terminal_width()), ""])
    if first is None:
        return text
    return f"Preferred by {request.prefer}: {first.name}\n\n{differences(opened, str(first.number))}\n{text}"


def _check(request: FrontRequest) -> None:
    exports = {"--export": request.export is not None, "--export-diff": request.export_diff is not None}
    if all(exports.values()):
        raise ScenarioError("--export and --export-diff: standard output takes one of them")
    for option, given in (exports | {"--statistics": request.statistics}).items():
        if given and request.format != "table":
            raise ScenarioError(f"{option} has a form of its own: it goes without --format {request.format}")
    if request.prefer is None and PREFERRED in (request.export, request.export_diff):
        raise ScenarioError(f"{PREFERRED}: --prefer says what is preferred")
    if request.full and not any(exports.values()):
        raise ScenarioError("--full: goes with --export or --export-diff")
    if request.plot is not None:
        picture_format(request.plot, also=("html",))
        check_free(request.plot)


def printed(found: Front, format: str, some: Sequence[Row] | None = None) -> str:
    """A front, or some configurations, for standard output: `csv`, `json`, `latex`, or words (`table`)."""
    if format == "json":
        return to_json(to_dict(found, some)) + "\n"
    if format in ("csv", "latex"):
        return (to_csv if format == "csv" else to_latex)(found, some)
    return front_text(found, spread(found) if some is None else some, terminal_width())


def preferred(text: str, front: Front) -> list[Evaluation]:
    """The configurations on the front that keep the limits of a preference, the preferred first.

    Limits are as `unfairness<=0.3`, in the unit of the objective, weights as `unhappy_users=2` (1 without a
    number), all equal if there are none; commas part them. The least weighted sum of losses wins: distances
    from the best value of the front, as shares of the front's range.

    Raises:
        ScenarioError: the preference is malformed, or names something that is no objective.
    """
    names = [one.name for one in front.objectives]
    limits, weights = _preference(text)
    for name in (*weights, *(one.metric for one in limits)):
        if name not in names:
            raise ScenarioError(f"--prefer {name:.60}: not an objective, which are {', '.join(names)}")
    if not front.on_front:
        return []
    costs = front.costs(front.on_front)
    values = [dict(zip(names, row, strict=True)) for row in costs * signs(front.objectives)]
    weight = np.array([weights.get(name, 0.0 if weights else 1.0) for name in names])
    order = np.argsort(shares(costs) @ (weight / weight.max()), kind="stable")
    return [front.on_front[k] for k in order if all(one.excess(values[k][one.metric]) <= 0 for one in limits)]


def _preference(text: str) -> tuple[list[Constraint], dict[str, float]]:
    limits: list[Constraint] = []
    weights: dict[str, float] = {}
    try:
        for part in filter(None, map(str.strip, text.split(","))):
            if "<" in part or ">" in part:
                limits.append(Constraint(*parse_requirement(part)))
                continue
            name, _, number = map(str.strip, part.partition("="))
            weight = float(number or 1)
            if not 0 <= weight < np.inf:
                raise ValueError("weights are finite and at least 0")
            if weights.setdefault(name, weight) != weight:
                raise ValueError(f"{name} has two weights")
        if not (limits or weights) or (weights and not any(weights.values())):
            raise ValueError("nothing is preferred")
    except ValueError as error:
        wanted = "expected weights (a=2,b=1) and limits (a<=3)"
        raise ScenarioError(f"--prefer {text!r:.60}: {wanted}; {error}") from None
    return limits, weights


def exported(study: Study, name: str, *, full: bool = False) -> str:
    """A configuration as a scenario document that runs by itself, with its provenance as comments.

    Logs are replayed as they are, also where the search resampled them. Traces that lie beside the searched
    scenario are named in full, as the document may be kept elsewhere. Of a recommendation, `full` takes the
    configuration that it was made from, with all its changes.

    Raises:
        ScenarioError: there is no such configuration.
    """
    row, seed = _chosen(study.details, name, full), study.settings.seed
    searched = study.scenario.override(row.entry.values)
    scenario = as_logged(searched)
    title = f" ({row.advice.letter}, {row.advice.title})" if row.advice else ""
    replications = row.evaluation.replications if row.evaluation else 1
    lines = [
        f"Configuration {row.number}{title} of the study {study.name}",
        f"of the scenario {study.settings.scenario.name}, searched by gridtune with seed {seed} "
        f"({study.settings.sampler}, {len(study.archive.evaluations)} configurations)",
        *_harm(row),
        *_provenance(row),
        f"The search ran it as `gridtune run` does with --seed {seed} --replications {replications}."
        if scenario is searched
        else "It replays each log as it is; the search resampled them.",
    ]
    if scenario.plugins:
        files = ", ".join(scenario.plugins)
        lines.append(f"It needs {files}: keep it in {scenario.base}, or take these files along")
    lines.append(f"Written by gridtune {version_of('gridtune') or 'from its sources'}")
    lines += _slurm(study, scenario)
    comments = "".join(f"# {escaped(line)}\n" for line in lines)
    return f"{comments}\n{tomli_w.dumps(_located(scenario.document, scenario.base))}"


def _chosen(front: Front, name: str, full: bool) -> Row:
    origins = {one.letter: str(one.origin) for one in front.archive.recommendations if full}
    return find_configuration(front, origins.get(name.strip().upper(), name))


def _slurm(study: Study, after: Scenario) -> Iterator[str]:
    """What changes in Slurm's settings; nothing where there is no one site, or it stays as it is."""
    before, sites = study.scenario, after.active.site
    if len(sites) != 1 or sites[0].vres is not None or before.active.site == sites:
        return
    yield "Under Slurm, change these lines of slurm.conf, and run `sacctmgr`:"
    yield from (f"  {line.removeprefix('# ')}" for line in slurm_changes(before, after).text().splitlines())


def differences(study: Study, name: str, *, full: bool = False) -> str:
    """What to change in the baseline to get a configuration (see `exported`); what that does, harm first."""
    row = _chosen(study.details, name, full)
    if not _parameter_changes(row):
        return "Nothing to change: this is the baseline.\n"
    return "\n".join(wrapped([*_sum(row), *_listed(study, row)], terminal_width())) + "\n"


def _sum(row: Row) -> Iterator[str]:
    if said := refusal(row.front.archive, row.number):
        yield f"Not recommended: {said}"
    yield from _harm(row)
    told = [
        f"{metric_label(one)} {numbers.change(row.changes[one.name], row.baseline(one))}"
        for one in row.front.objectives
        if row.changes
    ]
    if told:
        yield f"All changes together: {', '.join(told)}"
    if row.advice is not None and row.advice.without_effect:
        yield f"Left out, without measurable effect: {', '.join(row.advice.without_effect)}"
    if any(NOT_SIGNIFICANT in one for one in told):
        yield f"{NOT_SIGNIFICANT} no significant difference from the baseline (95 %)"
    yield from [""] if told else []


def _harm(row: Row) -> Iterator[str]:
    """What is worse than in the baseline by over a tenth, a line each; unconfirmed if not recommended."""
    start, one = row.front.archive.standing, row.evaluation
    if row.advice is not None:
        where, some = "Worse by over 10 %:", all_harms(row.advice)
    elif start is not None and one is not None:
        where = "Worse by over 10 % in the runs of the search:"
        some = [replace(harm, replay=False) for harm in harms_of_replay(start.metrics, one.metrics)]
    else:
        return
    yield from [where, *(f"  {harm_text(harm)}" for harm in some)] if some else []


def _listed(study: Study, row: Row) -> Iterator[str]:
    """Each change, what the parameter is, and what the change alone does where somebody ran that."""
    scenario = study.scenario.override(row.entry.values)
    for one in _parameter_changes(row):
        about = meaning(scenario, one.path)
        unit = f" {about.unit}" if about.unit else ""
        values = [value for value in (one.before, one.after) if isinstance(value, int | float)]
        if about.unit == "s" and max(values, default=0) >= HOUR:
            unit += f" ({' -> '.join(human(value, 's') for value in values)})"
        yield f"{one.path}  {change_text(one)}{unit}"
        if about.text:
            yield f"  {about.text}"
        if known := [metric for metric in row.front.objectives if metric.name in one.alone]:
            yield f"  alone: {', '.join(_effect(row, one.alone[metric.name], metric) for metric in known)}"


def _effect(row: Row, gap: float, metric: Objective) -> str:
    none = "=" if row.front.certain else NOT_SIGNIFICANT
    return f"{metric_label(metric)} {numbers.relative(gap, row.baseline(metric), metric) if gap else none}"


def _parameter_changes(row: Row) -> Sequence[ParameterChange]:
    return row.advice.changes if row.advice else changed_values(row.front, row.entry.values)


def _provenance(row: Row) -> Iterator[str]:
    if said := refusal(row.front.archive, row.number):
        yield f"not recommended: {said}"
    for one in _parameter_changes(row):
        yield f"change: {one.path}  {change_text(one)}"
    for metric in row.front.objectives:
        change = row.changes.get(metric.name)
        value = numbers.with_half(row.mean(metric), change.difference.half if change else None, metric)
        of = f" (baseline {numbers.amount(row.baseline(metric), metric)})" if change else ""
        yield f"{metric_label(metric)}: {value}{of}"
    if row.evaluation and row.evaluation.validated is None and row.advice is None:
        yield "Not validated: these values rest on search runs alone."


def _located(document: Mapping[str, Any], base: Path) -> Mapping[str, Any]:
    """A document in which workloads name in full the traces that lie in a folder."""
    found = deepcopy(document)
    for workload in found.get("workload", ()):
        file = base / workload.get("trace", "")
        if file.is_file():
            workload["trace"] = str(file.resolve())
    return found
