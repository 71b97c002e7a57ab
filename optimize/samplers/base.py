"""What a sampler is, and how one is found by name.

A sampler proposes configurations in batches and learns from what became of them. Its batches depend on its
seed and on what it was told, never on the number of workers. So equal seeds give equal searches, and a search
that was interrupted goes on by asking and telling again from the start, with the stored results.

To add one, subclass `Sampler` in a file of its own and decorate it with `register`; an installed package
announces a module of them under the entry point group `gridtune.samplers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from math import sqrt
from typing import ClassVar, TypeVar

from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.search_space.constraints import Excesses, violation
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.errors import ScenarioError, meant

Result = Sequence[float] | None  # means of the objectives in their order; None for a failed evaluation

MANY = 1000  # evaluations from which on proposals of the surrogate take longer than most simulations


@dataclass(eq=False)
class Sampler(ABC):
    """Proposes configurations; a `ScenarioError` if it cannot propose so few at once."""

    name: ClassVar[str]  # by which it is chosen
    title: ClassVar[str]  # one line for users
    least_batch: ClassVar[int] = 1
    most_batch: ClassVar[int] = 32  # unless it is asked for more
    space: Space
    objectives: Sequence[Objective]
    seed: int  # of its random choices; non-negative
    batch: int  # configurations that it proposes at once

    def __post_init__(self) -> None:
        if self.batch < self.least_batch:
            least = f"the sampler {self.name} proposes at least {self.least_batch} at once"
            raise ScenarioError(f"batch {self.batch}: {least}")

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """Configurations per batch that suit a search of `budget` evaluations."""
        return max(1, min(cls.most_batch, budget))

    @abstractmethod
    def ask(self) -> list[Configuration]:
        """The next batch; empty if it has no more to propose. Configurations may repeat."""

    def tell(self, results: Sequence[Result]) -> None:  # noqa: B027
        """What became of the batch asked for last, in its order, for a sampler that knows no constraints."""

    def inform(  # noqa: B027
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from configurations that it has not proposed; at most once, before the first `tell`."""

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """What became of the batch asked for last, in its order; a search calls this.

        A sampler that knows constraints overrides it; to any other, what breaks one has failed. Excesses are
        those of `optimize.search_space.constraints.excesses`, empty where the evaluation failed.
        """
        pairs = zip(results, excesses, strict=True)
        self.tell([None if violation(broken) else result for result, broken in pairs])


class GeneticSampler(Sampler):
    """Base of samplers that breed generations; a batch is a generation."""

    least_batch: ClassVar[int] = 2

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """An even number of individuals, about as many as there will be generations, up to 100."""
        return 2 * round(max(8.0, min(100.0, 1.6 * sqrt(budget))) / 2)


S = TypeVar("S", bound=type[Sampler])

_registry: dict[str, type[Sampler]] = {}


def register(name: str, title: str) -> Callable[[S], S]:
    """Class decorator that makes a sampler selectable; a `ValueError` if another class has the name."""

    def enter(cls: S) -> S:
        known = _registry.get(name, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"the sampler {name!r} exists already, in {known.__module__}")
        cls.name, cls.title = name, title
        _registry[name] = cls
        return cls

    return enter


def samplers() -> dict[str, type[Sampler]]:
    """All samplers by name."""
    for entry in entry_points(group="gridtune.samplers"):
        entry.load()
    return dict(_registry)


def find(name: str, budget: int, space: Space) -> type[Sampler]:
    """The sampler of that name; a `ScenarioError` if there is none.

    `auto` lists a space that the budget can cover; else it takes the surrogate below 1,000 evaluations,
    NSGA-II from there on; `docs/samplers.md` says why.
    """
    if name == "auto":
        size = space.size()
        listed = size is not None and size <= budget
        name = "exhaustive" if listed else "surrogate" if budget < MANY else "nsga2"
    known = samplers()
    if name not in known:
        hint = meant(name, known, f"there are auto, {', '.join(known)}")
        raise ScenarioError(f"{name}: no such sampler; {hint}")
    return known[name]
