"""What `gridtune front --export` does: a point of a search as a scenario to run, or what to change."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from gridtune.optimize.api.search_result import Study
from gridtune.optimize.explanation.explain import find_point
from gridtune.optimize.front.against_today import gains, settings_changed, todays, told_changes
from gridtune.optimize.front.number_format import cell, estimated, spoken, with_unit
from gridtune.optimize.front.terminal import terminal_width, wrapped
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.plain_text import escaped
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.results.files import version_of


def exported(study: Study, name: str) -> str:
    """A point as a scenario document that runs by itself, with its provenance as comments.

    With the same seed and as many replications it gives the values that the search saw, to the last bit.
    Traces that lie beside the searched scenario are named in full, as the document may be kept elsewhere.

    Args:
        study: that has the point.
        name: of a recommendation, `today`, or the point's number.

    Raises:
        ScenarioError: there is no such point.
    """
    evaluation, advice = find_point(study.details, name)
    scenario = study.scenario.override(evaluation.values)
    document = _located(copy.deepcopy(scenario.document), scenario.base)
    called = ", ".join(item.name.replace("_", " ") for item in advice)
    lines = [
        f"Point {evaluation.number}{f' ({called})' if called else ''} of the study {study.name}",
        f"of the scenario {study.settings.scenario.name}, searched by gridtune with seed "
        f"{study.settings.seed} ({study.settings.sampler}, {len(study.archive.evaluations)} evaluations)",
        *_changes(study, evaluation),
        *_outcome(study, evaluation),
        f"The search ran it as `gridtune run` does with --seed {study.settings.seed} --replications "
        f"{evaluation.replications}.",
        *_plugins(scenario.plugins, scenario.base),
        f"Written by gridtune {version_of('gridtune') or 'from its sources'}",
    ]
    comments = "".join(f"# {escaped(line)}\n" for line in lines)
    return f"{comments}\n{tomli_w.dumps(document)}"


def differences(study: Study, name: str) -> str:
    """In words what to change in the scenario as it stands to get a point, a line for each parameter.

    Args:
        study, name: see `exported`.

    Raises:
        ScenarioError: there is no such point.
    """
    evaluation, _ = find_point(study.details, name)
    changed = settings_changed(study.details, evaluation)
    if not changed:
        return "nothing to change\n"
    scenario = study.scenario.override(evaluation.values)
    lines = []
    for one in changed:
        about = meaning(scenario, one.path)
        unit = f" {about.unit}" if about.unit else ""
        before = "" if one.before is None else f" from {cell(one.before)}{unit}"
        text = f": {about.text}" if about.text else ""
        lines.append(f"{one.path}{before} to {cell(one.after)}{unit}{text}")
    lines += told_changes(gains(study.details, evaluation))
    return "\n".join(wrapped(lines, terminal_width())) + "\n"


def _changes(study: Study, evaluation: Evaluation) -> Iterator[str]:
    if todays(study.details) is None:
        return
    changed = settings_changed(study.details, evaluation)
    yield f"changes: {'; '.join(map(str, changed)) or 'none, it is the scenario as it stands'}"
    yield from told_changes(gains(study.details, evaluation))


def _outcome(study: Study, evaluation: Evaluation) -> Iterator[str]:
    seeds = "on fresh seeds" if evaluation.validated else "as searched, which flatters it"
    known = evaluation.validated or evaluation.objectives
    values = (f"{spoken(o)} {with_unit(estimated(known[o.name]), o)}" for o in study.archive.objectives)
    yield f"{seeds}: {', '.join(values)}"


def _plugins(plugins: Mapping[str, str], base: Path) -> Iterator[str]:
    if plugins:
        yield f"It needs {', '.join(plugins)}: keep it in {base}, or take these files along"


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
