"""What is wrong with a scenario, in lines that name the place and the remedy."""

from __future__ import annotations

from collections.abc import Sequence


class ScenarioError(ValueError):
    """A scenario, a path into it or a file that it names is not usable.

    Attributes:
        faults: one line each, every fault at once.
        trace: where it was raised in another process, or in a run; "" if here.

    Example:
        >>> import gridtune as gt
        >>> try:
        ...     gt.load("diet/day-regular", sed__count=0)
        ... except gt.ScenarioError as error:
        ...     print(error.faults[0])
        diet/day-regular: sed.count: 0: Input should be greater than or equal to 1
    """

    trace = ""

    def __init__(self, faults: str | Sequence[str]) -> None:
        self.faults = [faults] if isinstance(faults, str) else list(faults)
        super().__init__("; ".join(self.faults))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[str]]]:
        return type(self), (self.faults,)
