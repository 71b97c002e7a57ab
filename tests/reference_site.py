"""A slow site that is easy to believe: slot by slot, everything planned anew at every instant.

Nodes of one slot are lost, drained and back, processors are reserved, jobs make way for a higher QOS.
Times are whole seconds, halves and quarters, so that nothing is ever rounded.
"""

from dataclasses import dataclass, field
from math import inf


@dataclass
class Task:
    """A job: it is run again whenever its execution is ended before its time."""

    id: int
    submit: float
    runtime: float
    processors: int
    estimate: float
    level: float = 0.0
    start: float | None = None
    slots: list = field(default_factory=list)
    queued: float = 0.0


@dataclass
class World:
    """What befalls a site.

    Attributes:
        capacity: nodes.
        outages: (start, end, nodes, whether it is a drain), none of which overlap on a node.
        reservations: (start, end, processors), which are for nobody, and known from the beginning.
        reserved: jobs that have a reservation.
        window: s; a job that would start later has none.
        order: key of a job and the time by which jobs are served; first come, first served without.
        exempt: s that a job runs before it can be preempted; None where nobody preempts.
        oldest: whether the oldest jobs make way first, not the youngest.
    """

    capacity: int
    outages: list = field(default_factory=list)
    reservations: list = field(default_factory=list)
    reserved: float = 1
    window: float = inf
    order: object = None
    exempt: float | None = None
    oldest: bool = False


class Reference:
    """The site; `run` gives the starts of all jobs."""

    def __init__(self, world, tasks):
        self.world, self.tasks = world, tasks
        self.now = 0.0
        self.queue, self.running, self.look = [], [], inf  # jobs that run in the order of their starts

    def run(self):
        world = self.world
        moments = {task.submit for task in self.tasks}
        moments |= {time for begin, end, *_ in world.outages + world.reservations for time in (begin, end)}
        while moments or self.running or self.look < inf:
            # Whoever made way does not end when it would have: nobody is asked then.
            self.now = now = min([*moments, self.look, *(task.start + task.runtime for task in self.running)])
            moments.discard(now)
            if self.look == now:
                self.look = inf
            self.running = [task for task in self.running if task.start + task.runtime > now]
            for begin, _, nodes, drained in world.outages:
                if begin == now and not drained:
                    for task in [task for task in self.running if set(nodes) & set(task.slots)]:
                        self.stop(task)
            for task in self.tasks:
                if task.submit == now:
                    self.enter(task)
            while self.round():
                pass
        return [task.start for task in self.tasks]

    def enter(self, task):
        task.queued = self.now
        self.queue.append(task)

    def begin(self, task):
        free = [slot for slot in self.idle() if slot not in self.out()]
        self.queue.remove(task)
        self.running.append(task)
        task.start, task.slots = self.now, free[: task.processors]

    def stop(self, task):
        self.running.remove(task)
        task.start = None
        self.enter(task)

    def round(self):
        """Preempt and start; whether there is to be another round at once."""
        again = self.world.exempt is not None and self.preempt()
        lowest = min((task.level for task in self.queue + self.running), default=inf)
        alone = self.world.exempt is None
        for task in self.choose([one for one in self.queue if alone or one.level == lowest]):
            self.begin(task)
        over = [task for task in self.running if task.start + task.runtime <= self.now]
        self.running = [task for task in self.running if task not in over]
        return again or bool(over)

    # What is free.

    def out(self):
        """Until when nodes are out that are, as far as is known."""
        found = {}
        for begin, end, nodes, drained in self.world.outages:
            if begin <= self.now < end:
                found.update((node, end if drained else inf) for node in nodes)
        return found

    def idle(self):
        taken = {slot for task in self.running for slot in task.slots}
        return [slot for slot in range(self.world.capacity) if slot not in taken]

    def kept(self, time):
        """Processors that reservations keep at a time."""
        return sum(count for begin, end, count in self.world.reservations if begin <= time < end)

    def free(self, without=()):
        """Processors on which something can start now."""
        out = self.out()
        left = {slot for task in without for slot in task.slots}
        return max(0, sum(slot not in out for slot in {*self.idle(), *left}) - self.kept(self.now))

    def back(self, without=(), below=-inf):
        """When each slot is expected to be free for jobs of a level."""
        now, out = self.now, self.out()
        back = [max(now, out.get(slot, now)) for slot in range(self.world.capacity)]
        for task in self.running:
            end = task.start + task.estimate
            if task.level < below and not set(task.slots) & set(out):
                end = min(end, task.start + self.world.exempt)
            for slot in task.slots if task not in without else ():
                back[slot] = max(back[slot], end)
        return back

    def able(self, level):
        """Who makes way for jobs of a level."""
        return [
            one
            for one in self.running
            if one.level < level
            and one.start + self.world.exempt <= self.now
            and not set(one.slots) & set(self.out())
        ]

    # Who starts.

    def choose(self, waiting, level=-inf):
        """The waiting jobs that start now if all that run and make way for their level leave."""
        now, world = self.now, self.world
        leaving = self.able(level) if level > -inf else ()
        back = self.back(leaving, level)
        planned = []  # start, end, processors
        changes = {now, *back, *(time for begin, end, _ in world.reservations for time in (begin, end))}

        def free(time):
            there = sum(one <= time for one in back) - self.kept(time)
            return there - sum(count for begin, end, count in planned if begin <= time < end)

        def earliest(task, before):
            moments = changes | {time for begin, end, _ in planned for time in (begin, end)}
            for start in sorted(time for time in moments if now <= time < before):
                during = {start, *(time for time in moments if start < time < start + task.estimate)}
                if all(free(time) >= task.processors for time in during):
                    return start
            return None

        queue = waiting if world.order is None else sorted(waiting, key=lambda one: world.order(one, now))
        left, held, chosen = self.free(leaving), 0, []
        for task in queue:
            reserves = held < world.reserved
            start = earliest(task, now + world.window if reserves else now + 0.125)
            if start == now and task.processors <= left:
                chosen.append(task)
                left -= task.processors
            elif world.reserved == 0:
                break  # nobody passes
            else:
                held += start is not None and reserves
                if not reserves:
                    continue
            if start is not None:
                planned.append((start, start + task.estimate, task.processors))
        return chosen

    def preempt(self):
        """Have lower jobs make way; whether any has, so that the scheduler is asked again."""
        present = self.queue + self.running
        lowest = min((task.level for task in present), default=inf)
        self.look, again = inf, False
        for level in sorted({one.level for one in self.queue if one.level > lowest}, reverse=True):
            for task in self.choose([one for one in self.queue if one.level == level], level):
                victims = self.victims(task)
                if victims is None:
                    continue
                missing = task.processors - self.free()
                for one in victims:
                    self.stop(one)
                    missing -= one.processors
                    if missing <= 0 and task in self.queue:  # others may leave for reservations alone
                        self.begin(task)
                if not victims:
                    self.begin(task)
                again = again or bool(victims)
            if any(one.level == level for one in self.queue):
                spared = [one.start + self.world.exempt for one in self.running if one.level < level]
                self.look = min([self.look, *(time for time in spared if time > self.now)])
        return again

    def victims(self, task):
        """As few jobs as need be, the lowest first; None if there are not enough."""
        missing, chosen = task.processors - self.free(), []
        able = self.able(task.level)
        sign = 1 if self.world.oldest else -1
        able.sort(key=lambda one: (one.level, sign * one.start, sign * one.id))

        def enough(some):
            if missing > sum(other.processors for other in some):
                return False
            back = self.back(without=some)
            begins = [begin for begin, *_ in self.world.reservations]
            return all(
                sum(one <= time for one in back) - self.kept(time) >= task.processors
                for time in (self.now, *begins)
                if self.now <= time < max(self.now + task.estimate, self.now + 0.125)
            )

        for one in able:
            if not enough(chosen):
                chosen.append(one)
        if not enough(chosen):
            return None
        for one in list(chosen):
            if enough([other for other in chosen if other is not one]):
                chosen.remove(one)
        return chosen
