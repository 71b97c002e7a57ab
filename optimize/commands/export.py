"""What `gridtune front --export` does: a configuration as a scenario to run, or what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from gridtune.optimize.api.search_result import Study, chosen
from gridtune.optimize.recommend.harm import harms_of_replay
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, ParameterChange
from gridtune.optimize.report.frame import Row
from gridtune.optimize.report.numbers import (
    SAME,
    amount,
    change,
    change_text,
    metric_label,
    relative,
    with_half,
)
from gridtune.optimize.report.recommended import changed_values, harm_text, refusal
from gridtune.plain_text import escaped
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.log_noise import as_logged
from gridtune.scenarios.results.files import version_of
from gridtune.scenarios.results.text import terminal_width, wrapped
from gridtune.scenarios.slurm import slurm_changes

HARMS = 5  # of an unconfirmed configuration


def exported(study: Study, name: str, *, full: bool = False) -> str:
    """A configuration as a scenario document that runs by itself, with its provenance as comments.

    Logs are replayed as they are, also where the search resampled them. Traces that lie beside the searched
    scenario are named in full, as the document may be kept elsewhere.

    Args:
        name: letter of a recommendation, `baseline`, or a number.
        full: whether to give the configuration that a recommendation was made from, with all its changes.

    Raises:
        ScenarioError: there is no such configuration.
    """
    row = chosen(study.details, name, full=full)
    searched = study.scenario.override(row.entry.values)
    scenario = as_logged(searched)
    document = _located(scenario.document, scenario.base)
    seed = study.settings.seed
    title = f" ({row.advice.letter}, {row.advice.title})" if row.advice else ""
    replications = row.evaluation.replications if row.evaluation else 1
    lines = [
        f"Configuration {row.number}{title} of the study {study.name}",
        f"of the scenario {study.settings.scenario.name}, searched by gridtune with seed {seed} "
        f"({study.settings.sampler}, {len(study.archive.evaluations)} configurations)",
        *_provenance(row),
        f"The search ran it as `gridtune run` does with --seed {seed} --replications {replications}."
        if scenario is searched
        else "It replays each log as it is; the search resampled them.",
    ]
    if scenario.plugins:
        files = ", ".join(scenario.plugins)
        lines.append(f"It needs {files}: keep it in {scenario.base}, or take these files along")
    lines.append(f"Written by gridtune {version_of('gridtune') or 'from its sources'}")
    lines += _slurm(study.scenario, scenario)
    comments = "".join(f"# {escaped(line)}\n" for line in lines)
    return f"{comments}\n{tomli_w.dumps(document)}"


def _slurm(before: Scenario, after: Scenario) -> Iterator[str]:
    """What changes in Slurm's settings; nothing where there is no one site, or it stays as it is."""
    sites = after.active.site
    if len(sites) != 1 or sites[0].vres is not None or before.active.site == sites:
        return
    yield "Under Slurm, change these lines of slurm.conf, and run `sacctmgr`:"
    yield from (f"  {line.removeprefix('# ')}" for line in slurm_changes(before, after).text().splitlines())


def differences(study: Study, name: str, *, full: bool = False) -> str:
    """What to change in the baseline to get a configuration, and what that does.

    Harm comes first, then the objectives, then each change, the most effective first.

    Args:
        study, name, full: see `exported`.

    Raises:
        ScenarioError: there is no such configuration.
    """
    row = chosen(study.details, name, full=full)
    changes = _parameter_changes(row)
    if not changes:
        return "Nothing to change: this is the baseline.\n"
    lines = [*_sum(row), *_listed(study, row, changes)]
    return "\n".join(wrapped(lines, terminal_width())) + "\n"


def _sum(row: Row) -> Iterator[str]:
    """What all changes together do, harm first, and what is left out."""
    if said := refusal(row.front.archive, row.number):
        yield f"Not recommended: {said}"
    if row.advice is not None:
        yield from (f"Worse: {harm_text(one)}" for one in row.advice.harms)
    elif worse := _unconfirmed(row):
        more = f"; and {len(worse) - HARMS} more" * (len(worse) > HARMS)
        yield f"Worse in the runs of the search: {'; '.join(map(harm_text, worse[:HARMS]))}{more}"
    if row.differences:
        told = [
            f"{metric_label(one)} {change(row.differences[one.name], row.baseline(one), one)}"
            for one in row.front.objectives
        ]
        yield f"All changes together: {', '.join(told)}"
    if row.advice is not None and row.advice.without_effect:
        yield f"Left out, without measurable effect: {', '.join(row.advice.without_effect)}"
    if row.differences:
        yield f"{SAME} no significant difference from the baseline (95 %)"
        yield ""


def _unconfirmed(row: Row) -> list[Harm]:
    """What is worse than in the baseline by more than a tenth, by means that nothing has confirmed."""
    start, one = row.front.archive.standing, row.evaluation
    if start is None or one is None:
        return []
    return [replace(harm, replay=False) for harm in harms_of_replay(start.metrics, one.metrics)]


def _listed(study: Study, row: Row, changes: Sequence[ParameterChange]) -> Iterator[str]:
    """Each change, what the parameter is, and what the change alone does where somebody ran that."""
    scenario = study.scenario.override(row.entry.values)
    for one in changes:
        about = meaning(scenario, one.path)
        unit = f" {about.unit}" if about.unit else ""
        yield f"{one.path}  {change_text(one)}{unit}"
        if about.text:
            yield f"  {about.text}"
        if one.alone:
            known = [metric for metric in row.front.objectives if metric.name in one.alone]
            yield f"  alone: {', '.join(_effect(row, one.alone[metric.name], metric) for metric in known)}"


def _effect(row: Row, gap: float, metric: Objective) -> str:
    """What a change alone does to an objective."""
    return f"{metric_label(metric)} {relative(gap, row.baseline(metric), metric) if gap else SAME}"


def _parameter_changes(row: Row) -> list[ParameterChange]:
    """What a configuration changes: of a recommendation as it was found, else in the order of the space."""
    if row.advice is not None:
        return list(row.advice.changes)
    changed = changed_values(row.front, row.entry.values).items()
    return [ParameterChange(path, before, after) for path, (before, after) in changed if after is not None]


def _provenance(row: Row) -> Iterator[str]:
    """What a configuration changes, and what it gives."""
    for one in _parameter_changes(row):
        yield f"change: {one.path}  {change_text(one)}"
    for metric in row.front.objectives:
        gap = row.differences.get(metric.name)
        value = with_half(row.mean(metric), gap.half if gap else None, metric)
        of = f" (baseline {amount(row.baseline(metric), metric)})" if gap else ""
        yield f"{metric_label(metric)}: {value}{of}"
    if row.evaluation and row.evaluation.validated is None and row.advice is None:
        yield "Not validated: these values rest on search runs alone."


def _located(document: Any, base: Path) -> Any:
    """A document with the traces that lie in a folder named in full."""
    if isinstance(document, list):
        return [_located(part, base) for part in document]
    if not isinstance(document, dict):
        return document
    found = {name: _located(part, base) for name, part in document.items()}
    trace = found.get("trace")
    if isinstance(trace, str) and (base / trace).is_file():
        found["trace"] = str((base / trace).resolve())
    return found
