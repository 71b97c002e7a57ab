"""Search spaces: what may be varied, between which bounds, and under which conditions.

A configuration maps the paths of its *active* parameters to values: a parameter with conditions (`when`)
exists only where the parameters it depends on exist and have one of the named values. Samplers that know
nothing of conditions work on flat configurations, which have a value for every parameter; `active` drops what
does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, product

from numpy.random import Generator

from gridtune import limits
from gridtune.optimize.records.recommendation import Value, key
from gridtune.optimize.search_space.parameter import Parameter, among, within_parts
from gridtune.scenarios.document.paths import doubles, same_place
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.sweep import Bounds, parse_variation
from gridtune.scenarios.tables.search import Choices, Range

Configuration = dict[str, Value]

LISTABLE = 100_000  # configurations of a space that may be listed, at most
INSIDE = 0.381966  # share of a range, at which no number between whole bounds is whole
BRANCHES = 256  # combinations of conditions that are tried out before a search, at most


@dataclass(frozen=True)
class Space:
    """Parameters, each after those it depends on."""

    parameters: tuple[Parameter, ...]

    def __repr__(self) -> str:
        return f"Space({len(self.parameters)} parameters)"

    @classmethod
    def of(cls, scenario: Scenario, vary: Sequence[str] = ()) -> Space:
        """The space of a scenario's `[search]`, with variations added or put in its place.

        Args:
            vary: `PATH=LOW:HIGH[:log]` or `PATH=V1,V2,…`.

        Raises:
            ScenarioError: nothing is varied, or conditions that cannot be; every fault at once.
        """
        name = scenario.name
        given = {path: _parameter(path, part) for path, part in scenario.spec.searching.space.items()}
        changed = dict(_variation(text, given) for text in vary)
        parameters = given | changed
        if not parameters:
            raise ScenarioError(f"{name}: nothing to search: no [search.space], and no --vary PATH=LOW:HIGH")
        if len(parameters) > limits.SPACE:
            raise ScenarioError(f"{name}: {len(parameters):,} parameters; the limit is {limits.SPACE:,}")
        for path, parameter in parameters.items():
            if (count := len(parameter.choices)) > limits.CHOICES:
                most = f"the limit is {limits.CHOICES:,}; give LOW:HIGH"
                raise ScenarioError(f"{path}: {count:,} values; {most}")
        faults, dropped = _conditions(parameters, set(changed))
        if faults:
            raise ScenarioError([f"{name}: search.space: {fault}" for fault in faults])
        kept = {path: part for path, part in parameters.items() if path not in dropped}
        known = _sorted(within_parts(kept, scenario, set(changed)), name)
        for first, second in doubles(scenario.document, known):
            if not known[first].excludes(known[second]):
                raise ScenarioError(f"{first} and {second} lead to one value; vary one of them")
        return cls(tuple(known.values()))

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the parameters, in their order."""
        return tuple(parameter.path for parameter in self.parameters)

    @property
    def logarithmic(self) -> frozenset[str]:
        """The paths of parameters of which equal ratios count the same."""
        return frozenset(parameter.path for parameter in self if parameter.logarithmic)

    def active(self, flat: Mapping[str, Value]) -> Configuration:
        """The configuration that a flat one stands for: active parameters only, in the order of the space."""
        configuration: Configuration = {}
        for parameter in self:
            if parameter.exists(configuration):
                configuration[parameter.path] = flat[parameter.path]
        return configuration

    def at(self, shares: Sequence[float]) -> Configuration:
        """The configuration at a place in the unit cube, one share per parameter."""
        pairs = zip(self.parameters, shares, strict=True)
        return self.active({parameter.path: parameter.at(share) for parameter, share in pairs})

    def random(self, count: int, rng: Generator) -> list[Configuration]:
        """So many configurations, uniform over the unit cube."""
        return list(map(self.at, rng.random((count, len(self))).tolist()))

    def size(self) -> int | None:
        """Number of different configurations; None if a range is continuous or there are too many to list."""
        if not all(parameter.values() for parameter in self):
            return None
        count = sum(1 for _ in islice(self.configurations(), LISTABLE + 1))
        return count if count <= LISTABLE else None

    def configurations(self) -> Iterator[Configuration]:
        """Every configuration of a space without continuous ranges, one after the other."""
        return reduce(_extended, self, iter([dict[str, Value]()]))

    def check(self, scenario: Scenario) -> list[str]:
        """Try configurations of every branch on the scenario, without running it.

        Returns:
            notes on bounds that the scenario refuses; configurations out there would fail.

        Raises:
            ScenarioError: a branch of which every configuration tried was refused, or such a choice.
        """
        notes: list[str] = []
        for branch in self._branches():
            base = self._accepted(scenario, branch)
            for parameter, configuration in self._around(base, branch):
                try:
                    scenario.override(configuration)
                except ScenarioError as error:
                    value = configuration[parameter.path]
                    note = f"{parameter.path} = {value} is refused: {error.faults[0]}"
                    if parameter.choices:
                        raise ScenarioError(f"search space: {note}") from None
                    if "valid integer" in error.faults[0]:
                        raise ScenarioError(f"search space: {note}; give whole bounds, as 1:9") from None
                    notes.append(note)
        return list(dict.fromkeys(notes))

    def variants(self, scenario: Scenario) -> Iterator[Scenario]:
        """The scenario itself, then with every choice of every parameter somewhere, in each branch."""
        yield scenario
        for branch in self._branches():
            base = self._accepted(scenario, branch)
            yield scenario.override(base)
            for parameter, configuration in self._around(base, branch):
                if parameter.choices:
                    yield scenario.override(configuration)

    def _around(self, base: Configuration, fixed: Configuration) -> Iterator[tuple[Parameter, Configuration]]:
        """Configurations that differ from the base in one parameter: each of its choices, or some numbers."""
        for parameter in self:
            if parameter.path in base and parameter.path not in fixed:
                shares = (0.0, 1.0) if parameter.whole else (0.0, INSIDE, 1.0)
                for value in parameter.choices or map(parameter.at, shares):
                    yield parameter, self._completed(base | {parameter.path: value})

    def _accepted(self, scenario: Scenario, branch: Configuration) -> Configuration:
        """A configuration of the branch that the scenario takes."""
        refused: list[ScenarioError] = []
        for share in (0.5, 0.0, 1.0, 0.25, 0.75, 0.1, 0.9):
            configuration = self._completed(branch, share)
            try:
                scenario.override(configuration)
                return configuration
            except ScenarioError as error:
                refused.append(error)
        at = ", ".join(f"{path} = {value}" for path, value in branch.items())
        where = f"search space{', where ' if at else ''}{at}"
        raise ScenarioError([f"{where}: {fault}" for fault in refused[0].faults])

    def _completed(self, values: Configuration, share: float = 0.5) -> Configuration:
        """The configuration with some values, and all others at a share of their ranges."""
        return self.active({parameter.path: parameter.at(share) for parameter in self} | values)

    def _branches(self) -> list[Configuration]:
        """Combinations of the values that conditions ask for, as far as they can occur together."""
        asked: dict[str, dict[Value, None]] = {}
        for parameter in self:
            for path, values in parameter.when.items():
                asked.setdefault(path, {}).update(dict.fromkeys(values))
        axes = {one.path: one.choices or asked[one.path] for one in self if one.path in asked}
        found: dict[str, Configuration] = {}
        for chosen in islice(product(*axes.values()), BRANCHES):
            active = self._completed(dict(zip(axes, chosen, strict=True)))
            branch = {path: active[path] for path in axes if path in active}
            found[key(branch)] = branch
        return list(found.values())


def _extended(configurations: Iterator[Configuration], parameter: Parameter) -> Iterator[Configuration]:
    for one in configurations:
        if parameter.exists(one):
            yield from ({**one, parameter.path: value} for value in parameter.values())
        else:
            yield one


def check_not_set(space: Space, scenario: Scenario, paths: Iterable[str], option: str = "--set") -> None:
    """Raise a `ScenarioError` if anybody sets what is varied: the value would never be used."""
    for path, parameter in product(paths, space):
        if same_place(scenario.document, path, parameter.path):
            why = f"is varied ({parameter}), so the value would not be used"
            remedy = f"leave it out, or give --vary {parameter.path}=VALUE to vary it no more"
            raise ScenarioError(f"{option} {path}: {why}; {remedy}")


def _parameter(path: str, part: Choices | Range) -> Parameter:
    when = {other: tuple(v) if isinstance(v, list) else (v,) for other, v in part.when.items()}
    if isinstance(part, Choices):
        return Parameter(path, tuple(part.choices), when=when)
    return Parameter(path, (), part.low, part.high, part.log, part.whole, when)


def _variation(text: str, given: Mapping[str, Parameter]) -> tuple[str, Parameter]:
    """A parameter as written on the command line; it keeps the conditions of the one it replaces."""
    path, values = parse_variation(text)
    when = given[path].when if path in given else {}
    if isinstance(values, Bounds):
        if values.count is not None:
            raise ScenarioError(f"{text!r}: a search takes LOW:HIGH[:log], without a number of values")
        return path, Parameter(path, (), values.low, values.high, values.log, values.whole, when)
    for value in values:
        if not isinstance(value, bool | int | float | str):
            raise ScenarioError(f"{text!r}: {value!r} is not a number, a text, true or false")
    return path, Parameter(path, tuple(values), when=when)


def _conditions(parameters: Mapping[str, Parameter], changed: set[str]) -> tuple[list[str], set[str]]:
    """Faults of all conditions, and the parameters that a variation has put out of reach."""
    faults, dropped = [], set()
    for parameter in parameters.values():
        for path, values in parameter.when.items():
            other = parameters.get(path)
            if other is None:
                faults.append(f"{parameter.path}: when names {path}, which is not searched")
            elif not other.values():
                faults.append(f"{parameter.path}: when names {path}, a continuous range")
            elif not any(among(value, other.values()) for value in values):
                if path in changed:
                    dropped.add(parameter.path)
                else:
                    asked = ", ".join(map(str, values))
                    faults.append(f"{parameter.path}: when {path} is {asked}, but that is {other.allowed}")
    while orphans := {p.path for p in parameters.values() if not dropped.isdisjoint(p.when)} - dropped:
        dropped |= orphans
    return faults, dropped


def _sorted(parameters: Mapping[str, Parameter], name: str) -> dict[str, Parameter]:
    """Parameters, each after those that its conditions name."""
    placed: dict[str, Parameter] = {}
    while left := {path: one for path, one in parameters.items() if path not in placed}:
        ready = {path: one for path, one in left.items() if placed.keys() >= one.when.keys()}
        if not ready:
            raise ScenarioError(f"{name}: search.space: conditions go in a circle: {', '.join(sorted(left))}")
        placed |= ready
    return placed
