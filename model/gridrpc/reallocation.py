"""Whether a mandatory request that waits at a server moves to another (RR-7959, section 7: future work)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from gridtune.model.policy import Policy, parameter, register


class Reallocation(Policy, family="reallocation"):
    """A reallocation decides whether a waiting mandatory request moves.

    Example:
        >>> @gt.policies.register("reallocation", "a-minute-sooner")
        ... @dataclass(frozen=True)
        ... class AMinuteSooner(gt.policies.Reallocation):
        ...     "A request moves if that saves a minute."
        ...     def moves(self, here, there):
        ...         return there + 60.0 < here
        >>> AMinuteSooner().moves(here=100.0, there=30.0)
        True
    """

    @abstractmethod
    def moves(self, here: float, there: float) -> bool:
        """Tell whether a waiting mandatory request moves to another server.

        Args:
            here: the time until its server expects to have done it, s; infinite where nothing is known.
            there: the time until the best other server would have done it, s; infinite where nothing is
                known.
        """


@register("reallocation", "never")
@dataclass(frozen=True)
class Never(Reallocation):
    """Requests stay where they were submitted."""

    def moves(self, here: float, there: float) -> bool:
        """Never."""
        return False


@register("reallocation", "sooner", source="RR-7959, section 7 (Caniou, Charrier and Desprez 2010)")
@dataclass(frozen=True)
class Sooner(Reallocation):
    """A request moves where it would be done sooner by more than a share of what is left."""

    gain: float = parameter(
        0.1,
        help="least share of the expected time that a move must save",
        unit="ratio",
        low=0.0,
        high=0.9,
        minimum=0.0,
        maximum=1.0,
    )

    def moves(self, here: float, there: float) -> bool:
        """Only by what both servers know."""
        return there < (1.0 - self.gain) * here
