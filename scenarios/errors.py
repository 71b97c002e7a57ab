"""What is wrong with a scenario, in lines that name the place and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gridtune.plain_text import escaped

LONGEST = 2_000  # characters of a line that is meant to be read


class ScenarioError(ValueError):
    """A scenario error says why a scenario, a path into it, a file or an argument is not usable.

    Attributes:
        faults: every fault at once, a line each; a line that is too long to be read is cut.
        trace: the traceback of another process, or of a run, that raised it; "" if there is none.

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
        lines = [faults] if isinstance(faults, str) else faults
        self.faults = [_one_line(line) for line in lines]
        super().__init__("; ".join(self.faults))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[str]]]:
        return type(self), (self.faults,)


def _one_line(text: str) -> str:
    """A text in one line: names and paths may hold breaks."""
    plain = escaped(text.rstrip())
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}…"


def meant(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean …?` with the known word that is nearest; what is said `otherwise` if none is near."""
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}?" if near else otherwise


def not_measured(metric: str, where: str, known: Iterable[str]) -> ScenarioError:
    """What a metric is refused with that a scenario does not measure, though it measures those `known`."""
    listed = "`gridtune run SCENARIO --all` lists what is measured"
    return ScenarioError(f"{metric}: not measured in {where}; {meant(metric, known, listed)}")


def brief(value: object) -> str:
    """A value as Python writes it, cut where it would fill the line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, or tables in tables in tables
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}…"
