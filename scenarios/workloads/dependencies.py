"""Which job of a replay follows which other, when a log is replayed in part or drawn anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gridtune.scenarios.workloads.jobs import Task

ROUNDING = 1e-3  # s


def linked(tasks: Sequence[Task], logged: Mapping[int, float], tolerance: float) -> list[Task]:
    """The tasks numbered from 1, each with the number of the one that it follows, if that is among them.

    Of several copies of a job in a log that was drawn anew, a job follows the one that was moved as far as
    itself, that of its own user if there is one; if none was, it comes by itself.

    Args:
        tasks: by submission, with the numbers of the log.
        logged: submissions in the log by number, s.
        tolerance: s by which two submissions may have been moved apart.
    """
    last: dict[tuple[int, str | None], tuple[int, float]] = {}  # number here and submission
    made: list[Task] = []
    for number, task in enumerate(tasks, 1):
        follows = 0
        for owner in (task.user, None) if task.preceding else ():
            known = last.get((task.preceding, owner))
            if known is not None and not follows:
                apart = logged[task.number] - logged[task.preceding]
                if abs(task.submit - known[1] - apart) <= tolerance + ROUNDING:
                    follows = known[0]
        last[task.number, task.user] = last[task.number, None] = number, task.submit
        made.append(task._replace(number=number, preceding=follows))
    return made
