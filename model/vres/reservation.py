"""How many virtual slots each class owns, and on which processors they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, isclose


class ShareError(ValueError):
    """Shares of virtual slots that cannot be had.

    Attributes:
        name: the class whose share is wrong; "" where it is all of them together.
    """

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


def slot_counts(shares: Mapping[str, float | None], slots: int) -> dict[str, int]:
    """Slots n(i) = p k phi(i) of each class.

    Args:
        shares: phi by class, each in [0, 1]; one of them may be None and takes what is left.
        slots: p k, virtual slots of the site.

    Raises:
        ShareError: a share is no whole number of slots, or all together are more than there are.

    Source: Responsive Grids, section 3.2.
    """
    counts: dict[str, int] = {}
    for name, share in shares.items():
        if share is None:
            continue
        wanted = slots * share
        count = round(wanted)
        if not isclose(wanted, count, abs_tol=1e-6):
            raise ShareError(name, _not_whole(share, wanted, slots))
        counts[name] = count
    rest = slots - sum(counts.values())
    if rest < 0:
        raise ShareError("", f"the shares need {slots - rest} of {slots} virtual slots; lower one of them")
    # A class without a share of its own is there to take the rest.
    return {name: rest if share is None else counts[name] for name, share in shares.items()}


def _not_whole(share: float, wanted: float, slots: int) -> str:
    valid = " or ".join(
        f"{count / slots:.6g} ({count})" for count in (floor(wanted), ceil(wanted)) if 0 < count <= slots
    )
    return f"{share:g} of {slots} virtual slots is {wanted:.6g}, not a whole number; {valid} would be"


def deal(counts: Sequence[int], processors: int) -> list[list[int]]:
    """Slots of each class on each processor, dealt in turn like cards.

    Every class is spread as evenly as can be over all processors, and so are all slots together: only
    then can any class use the whole machine when it is alone (Responsive Grids, section 3.2, figure 6).

    Args:
        counts: slots of each class.
        processors: among which they are dealt.

    Returns:
        For each class a list with its slots on each processor.
    """
    dealt = []
    first = 0
    for count in counts:
        each, more = divmod(count, processors)
        row = [each] * processors
        for k in range(first, first + more):
            row[k % processors] += 1
        first = (first + more) % processors
        dealt.append(row)
    return dealt
