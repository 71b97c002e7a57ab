"""What calibration found as a scenario, whose search space holds what was found."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from math import isinf
from pathlib import Path
from typing import Any

from gridtune.plain_text import escaped
from gridtune.scenarios.calibration.fit import Calibration
from gridtune.scenarios.calibration.levers import POLICY, PRIME
from gridtune.scenarios.calibration.replays import SITE
from gridtune.scenarios.calibration.report import holds, without_times
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.document.scenario import Scenario, shipped_text
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.slurm.space import in_slurm

# What beside the space of `batch/replay` is searched: bounds against starvation, s.
MAX_WAIT = {
    f"{SITE}.policy.max_wait": {
        "choices": [0.0, 86400.0, 259200.0, 604800.0],
        "when": {f"{SITE}.policy": ["fair-share", "priority"]},
    }
}
WEIGHT_QOS = {  # searched, too, where QOS have priorities
    f"{POLICY}.weight_qos": {
        "low": 1.0,
        "high": 1000.0,
        "log": True,
        "when": {f"{POLICY}.rule": "multifactor"},
    }
}
PREEMPTION = "preemption"
DOUBT = (
    "The simulated site is not like yours: mean waits were {:.2f} times the log's, on weeks held back {:.2f}."
)
REPLICATIONS = 2  # of each configuration: a single run breaks the guard against starvation by chance
OBJECTIVES = ("slowdown_mean", "waited_p95.worst-size", "slowdown_jain")
PROMISE = """\
response_bound = { factor = inf }   # nobody was promised anything. A promise would be, e.g.,
# response_bound = { factor = 10.0, least = 14400.0 }: to end within 10 run times, or 4 h if that is more"""


def scenario_text(found: Calibration, last: int | None = None, *, slurm: bool = False) -> str:
    """A scenario with these settings, ready for `search`.

    Args:
        found: by calibration.
        last: number of the last job to replay; all if left out.
        slurm: whether to vary only what Slurm can have.
    """
    head = _head(found, last)
    document = tomllib.loads(head)
    space = tomllib.loads(shipped_text("batch/replay"))["search"]["space"] | MAX_WAIT
    space = in_slurm(space, SITE) if slurm else space
    policy = document["site"][0]["policy"]
    if isinstance(policy, dict) and "qos" in policy:
        space |= WEIGHT_QOS
    doubts = [] if holds(found) else [DOUBT.format(found.best.fitted.ratio, found.tested.ratio)]
    doubts += filter(None, [without_times(found)])
    lines = [
        "[search]",
        f"objectives = {toml(list(OBJECTIVES))}",
        f"replications = {REPLICATIONS}",
        *([f"caveat = {toml(' '.join(doubts))}"] if doubts else []),
    ]
    held = _holding(space, document)
    lines += ["", "[search.space]", *(f"{toml(path)} = {toml(one)}" for path, one in held.items())]
    return head + "\n".join(lines) + "\n"


def _head(found: Calibration, last: int | None) -> str:
    """The scenario without a search."""
    tested, fitted = found.tested, found.best.fitted
    kind = "logs" if len(found.traces) > 1 else "weeks"
    site: dict[str, Any] = {"nodes": found.nodes[0], f"{PREEMPTION}.express": 0.0}
    site |= {
        path.removeprefix(f"{SITE}."): value for path, value in (dict(found.given) | found.values).items()
    }
    if PRIME in found.values and found.since is not None:
        site["prime_time"] = [one | {"since": found.since} for one in found.values[PRIME]]
    trace = found.traces[0]
    others = f" and {len(found.traces) - 1} others" if len(found.traces) > 1 else ""
    return "\n".join(
        [
            'title = "Replay of a log on a site calibrated to it"',
            'description = """',
            f"Calibrated to {toml(trace)[1:-1]}{others}, {kind} 1 to {found.cut} of {found.parts}.",
            f"Mean wait over the log's: {fitted.ratio:.2f} there, "
            f"{tested.ratio:.2f} on the {kind} held back.",
            f'Misfit: {fitted.misfit:.2f} there, {tested.misfit:.2f} on the {kind} held back."""',
            "",
            "[[site]]",
            'name = "cluster"',
            *(f"{name} = {toml(value)}" for name, value in site.items()),
            "",
            "[[workload]]",
            'name = "log"',
            'kind = "trace"',
            f"trace = {toml(trace)}",
            'cancelled = "keep"',
            PROMISE,
            *([f"first = {found.first}"] if found.first else []),
            *([f"last = {last}"] if last else []),
            "",
            "",
        ]
    )


def _holding(space: Mapping[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """The space, widened where what stands in the document is outside of it.

    No space holds what is infinite: that is not searched.
    """
    scenario = Scenario("calibrated", document, Path.cwd())
    (site,) = document["site"]
    partitions = any(queue.get("partition") for queue in site.get("queue", ()))
    preemption = site.get(PREEMPTION, {})
    apart = set[str]()
    if partitions or "grace" in preemption:  # nobody is suspended there
        apart.add(f"{SITE}.{PREEMPTION}.mode")
    if "qos" in preemption:  # jobs preempt by that alone
        apart |= {f"{SITE}.{PREEMPTION}.{name}" for name in ("express", "mode")}
    made = dict(space)
    for path in space:
        try:
            value = meaning(scenario, path).value
        except ScenarioError:  # such a policy has no such parameter
            value = None
        if path in apart or (isinstance(value, float) and isinf(value)):
            del made[path]
        elif value is not None:
            made = holding(made, path, value)
    return made


def holding(space: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The space with a value of a parameter; what exists with its other numbers exists with it, too."""
    made = {**space, path: widened(space[path], value)}
    if made[path] is space[path] or isinstance(value, str) or not value:  # 0 is for what there is not
        return made
    for other, one in made.items():
        when = one.get("when", {}) if isinstance(one, dict) else {}
        if isinstance(when.get(path), list):
            made[other] = one | {"when": when | {path: [value, *when[path]]}}
    return made


def widened(one: Any, value: Any) -> Any:
    """A parameter of a search space that holds a value, if need be by one more choice or a wider range.

    A logarithmic range cannot hold 0: it becomes the powers of ten in it, and 0.
    """
    if isinstance(one, list):
        return one if value in one else [value, *one]
    if "choices" in one:
        return one if value in one["choices"] else one | {"choices": [value, *one["choices"]]}
    low, high = one["low"], one["high"]
    if low <= value <= high:
        return one
    if one.get("log") and value <= 0:
        steps = [low]
        while steps[-1] * 10 <= high:
            steps.append(steps[-1] * 10)
        kept = {key: part for key, part in one.items() if key == "when"}
        return {"choices": [value, *steps], **kept}
    return one | {"low": min(low, value), "high": max(high, value)}


def toml(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, float) and isinf(value):
        return "inf"
    return escaped(json.dumps(value, ensure_ascii=False))


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else escaped(json.dumps(name, ensure_ascii=False))
