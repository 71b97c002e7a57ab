"""A slow batch scheduler that is easy to believe: plain lists, everything recomputed at every instant."""

from dataclasses import dataclass


@dataclass
class Work:
    """A job: times in whole seconds, so that nothing is ever rounded."""

    id: int
    submit: int
    runtime: int
    processors: int
    estimate: int
    start: int | None = None

    @property
    def end(self):
        return self.start + self.runtime


def schedule(works, capacity, policy):
    """Set the start of every job; the instants and their order are those of a batch site."""
    moments = {work.submit for work in works}
    while moments:
        now = min(moments)
        moments.discard(now)
        # Jobs of zero length end at the instant at which they start, and free their processors for others.
        while True:
            running = [work for work in works if work.start is not None and work.end > now]
            waiting = [work for work in works if work.start is None and work.submit <= now]
            free = capacity - sum(work.processors for work in running)
            chosen = policy(waiting, running, free, now)
            assert sum(work.processors for work in chosen) <= free
            for work in chosen:
                work.start = now
                if work.end > now:
                    moments.add(work.end)
            if all(work.end > now for work in chosen):
                break


def fcfs(waiting, running, free, now):
    chosen = []
    for work in waiting:
        if sum(other.processors for other in chosen) + work.processors > free:
            break
        chosen.append(work)
    return chosen


def easy(waiting, running, free, now):
    chosen = fcfs(waiting, running, free, now)
    rest = waiting[len(chosen) :]
    if not rest:
        return chosen
    head, *others = rest
    shadow, extra = shadow_of(head, running, chosen, free, now)
    for work in others:
        left = free - sum(other.processors for other in chosen)
        ends_in_time = now + work.estimate <= shadow
        if work.processors <= left and (ends_in_time or work.processors <= extra):
            chosen.append(work)
            if not ends_in_time:
                extra -= work.processors
    return chosen


def shadow_of(head, running, chosen, free, now):
    """When the head is planned to start, and what stays free beside it then."""
    held = [(max(now, work.start + work.estimate), work.processors) for work in running]
    held += [(now + work.estimate, work.processors) for work in chosen]
    free -= sum(work.processors for work in chosen)
    for shadow in sorted({end for end, _ in held}):
        there = free + sum(processors for end, processors in held if end <= shadow)
        if there >= head.processors:
            return shadow, there - head.processors
    raise AssertionError("the head never fits")


def conservative(waiting, running, free, now):
    reserved = [(now, max(now, work.start + work.estimate), work.processors) for work in running]
    capacity = free + sum(work.processors for work in running)
    chosen = []
    for work in waiting:
        candidates = sorted({now, *(end for _, end, _ in reserved)})
        start = next(time for time in candidates if fits(reserved, capacity, work, time))
        reserved.append((start, start + work.estimate, work.processors))
        left = free - sum(other.processors for other in chosen)
        if start == now and work.processors <= left:
            chosen.append(work)
    return chosen


def fits(reserved, capacity, work, start):
    """Whether a job could run from `start` on beside all that is reserved (half-open intervals)."""
    moments = {start, *(begin for begin, _, _ in reserved if start < begin < start + work.estimate)}
    return all(
        work.processors + sum(taken for begin, end, taken in reserved if begin <= moment < end) <= capacity
        for moment in moments
    )


def reserving(count):
    """Backfilling with reservations for the first `count` jobs that cannot start."""

    def policy(waiting, running, free, now):
        reserved = [(now, max(now, work.start + work.estimate), work.processors) for work in running]
        capacity = free + sum(work.processors for work in running)
        chosen, held = [], 0
        for work in waiting:
            left = free - sum(other.processors for other in chosen)
            if held < count:
                candidates = sorted({now, *(end for _, end, _ in reserved)})
                start = next(time for time in candidates if fits(reserved, capacity, work, time))
            elif work.processors <= left and fits(reserved, capacity, work, now):
                start = now
            else:
                continue
            reserved.append((start, start + work.estimate, work.processors))
            if start == now and work.processors <= left:
                chosen.append(work)
            else:
                held += 1
        return chosen

    return policy


def by_priority(priority, policy):
    """A policy on jobs in order of a priority, the largest first; ties by submission, then by number."""

    def prioritised(waiting, running, free, now):
        ordered = sorted(waiting, key=lambda work: (-priority(work, now), work.submit, work.id))
        return policy(ordered, running, free, now)

    return prioritised
