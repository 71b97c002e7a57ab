"""What a shell offers when a word of a command is to be completed: scenarios, paths, values and more.

Nothing is simulated and no plug-in runs. What cannot be known is not offered: a scenario that is not valid
has no paths, and completion never fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

from gridtune.plain_text import escaped, hidden

if TYPE_CHECKING:
    from gridtune.scenarios.document.scenario import Scenario

Offered = list[tuple[str, str]]  # a word, and what it means


def _completer(offer: Callable[[typer.Context, str], Iterable[tuple[str, str]]]) -> Callable[..., Offered]:
    """What Typer calls; a fault while a word is typed is nobody's concern.

    zsh evaluates what Typer makes of words and texts, in which a backslash undoes Typer's quoting: names of a
    scenario that have one are not offered.
    """

    def complete(ctx: typer.Context, incomplete: str) -> Offered:
        try:
            return [
                (word, escaped(text).replace("\\", ""))
                for word, text in offer(ctx, incomplete)
                if word.startswith(incomplete) and "\\" not in word and not hidden(word)
            ]
        except Exception:
            return []

    return complete


def _scenarios(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    from gridtune.scenarios.document.scenario import shipped_names

    return [(name, "") for name in shipped_names()]


def _families(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    from gridtune.model.policy import FAMILIES

    return FAMILIES.items()


def _samplers(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    from gridtune.optimize.samplers import samplers

    return [("auto", "what suits the search"), *((name, kind.title) for name, kind in samplers().items())]


def _pictures(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    from gridtune.scenarios.plots import KINDS

    return [(name, text) for name, (_, text) in KINDS.items()]


def _metrics(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    import gridtune.scenarios.systems.registry  # noqa: F401 - each system defines its metrics
    from gridtune.model.metrics.registry import METRICS

    return [(name, metric.meaning) for name, metric in METRICS.items()]


def _papers(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    from gridtune.scenarios.commands.reproduce import experiment_rows

    return [(row["experiment"], row["title"]) for row in experiment_rows()]


def _settings(ctx: typer.Context, incomplete: str) -> Iterable[tuple[str, str]]:
    """`PATH=`, and once that is there `PATH=VALUE`."""
    from gridtune.scenarios.document.addresses import paths_of, values_at

    scenario = _scenario(ctx)
    path, given, _ = incomplete.partition("=")
    if given:
        return [(f"{path}={value}", text) for value, text in values_at(scenario, path)]
    return [(f"{one}=", text) for one, text in paths_of(scenario)]


def _scenario(ctx: typer.Context) -> Scenario:
    """The scenario that stands on the command line already; nothing of it runs.

    While an option lacks its value, the words before it are not parsed yet: one of them is the scenario.

    Raises:
        ScenarioError: there is none.
    """
    from gridtune.scenarios.document.scenario import load
    from gridtune.scenarios.errors import ScenarioError

    given = ctx.params.get("scenario") or ctx.params.get("subject")
    for word in [given] if given else ctx.args:
        try:
            return load(word, allow_plugins=False)
        except ScenarioError:
            continue
    raise ScenarioError("no scenario yet")


scenarios: Any = _completer(_scenarios)
families: Any = _completer(_families)
samplers: Any = _completer(_samplers)
pictures: Any = _completer(_pictures)
metrics: Any = _completer(_metrics)
papers: Any = _completer(_papers)
settings: Any = _completer(_settings)
