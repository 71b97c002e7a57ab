"""Evaluations, the front and its recommendations as tables for analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.export import parameters, to_frame
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.recommendations import recommend
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed
from gridtune.optimize.search_space.constraints import feasible
from gridtune.scenarios.results.frames import columns_of_values

if TYPE_CHECKING:
    import pandas as pd


def evaluations_frame(front: Front) -> pd.DataFrame:
    """Every evaluation, failed ones included, a row each by number; see `gridtune.Study`."""
    import pandas as pd

    archive = front.archive
    entries: list[Evaluation | Failed] = [*archive.evaluations, *archive.failed]
    entries.sort(key=lambda entry: entry.number)
    done = [entry if isinstance(entry, Evaluation) else None for entry in entries]
    paths = list(dict.fromkeys(path for entry in entries for path in entry.values))
    columns = columns_of_values([entry.values for entry in entries], paths)
    for objective in front.objectives:
        name = objective.name
        searched = [entry.objectives.get(name) for entry in entries]
        columns |= _estimates(name, searched)
        fresh = [(entry.validated or {}).get(name) if entry else None for entry in done]
        if any(fresh):
            columns |= _estimates(f"{name}_validated", fresh)
    for name in dict.fromkeys(name for entry in done if entry for name in entry.metrics):
        columns[name] = [entry.metrics.get(name, nan) if entry else nan for entry in done]
    members = {n for member in front.kept for n in (member.evaluation.number, *member.equivalents)}
    columns["replications"] = [entry.replications if entry else 0 for entry in done]
    columns["fresh_replications"] = [entry.fresh_replications if entry else 0 for entry in done]
    columns["feasible"] = [entry is not None and feasible(entry, archive.constraints) for entry in done]
    columns["on_front"] = [entry.number in members for entry in entries]
    columns["failure"] = [entry.reason if isinstance(entry, Failed) else "" for entry in entries]
    return pd.DataFrame(columns).set_index(_numbers(entry.number for entry in entries))


def front_frame(front: Front) -> pd.DataFrame:
    """The members of a front, a row each by number, the best first."""
    raw = to_frame(front)
    if raw.empty:
        return raw
    paths = parameters(front)
    values = columns_of_values([member.evaluation.values for member in front.members], paths)
    table = raw.assign(**values)
    for column in table.columns.difference(paths):
        kept = [value for value in table[column] if value is not None]
        if any(isinstance(value, str) for value in kept):
            table[column] = table[column].astype("category")
        elif len(kept) == len(table) and all(isinstance(value, bool) for value in kept):
            table[column] = table[column].astype(bool)
        else:
            table[column] = table[column].astype(float)
    counts = ["number", "replications", "fresh_replications"]
    return table.astype(dict.fromkeys(counts, int)).set_index("number")


def advice_frame(front: Front) -> pd.DataFrame:
    """The recommended points, a row each by the name of the recommendation."""
    import pandas as pd

    advice = recommend(front)
    columns: dict[str, Any] = {"number": [item.member.evaluation.number for item in advice]}
    columns |= columns_of_values([item.member.evaluation.values for item in advice], parameters(front))
    for objective in front.objectives:
        columns |= _estimates(objective.name, [item.member.estimates[objective.name] for item in advice])
    columns["reason"] = [item.reason for item in advice]
    return pd.DataFrame(columns).set_index(pd.Index([item.name for item in advice], name="name"))


def _estimates(name: str, estimates: Sequence[Estimate | None]) -> Mapping[str, list[float]]:
    """Means, and standard errors under `NAME_se`; nan where there is none."""
    errors = [nan if one is None or one.standard_error is None else one.standard_error for one in estimates]
    return {name: [nan if one is None else one.mean for one in estimates], f"{name}_se": errors}


def _numbers(numbers: Iterable[int]) -> pd.Index[int]:
    import pandas as pd

    return pd.Index(list(numbers), name="number", dtype="int64")
