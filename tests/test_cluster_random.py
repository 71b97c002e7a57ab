"""A cluster after whatever comes, goes, is kept and borrowed: counts against books, plans against seconds."""

from heapq import merge
from math import inf
from random import Random
from unittest.mock import patch

import pytest

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.holds import KEYS, Hold, Window
from gridtune.model.batch.planning import plan
from gridtune.model.batch.planning.plan import planned_starts
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.batch.policies import Easy, backfill
from gridtune.model.batch.queues import Queue
from gridtune.model.job import Job

CAPACITY = 8
FAR = 100  # s ahead: all that is ever planned, but for what is not to come back


class Books:
    """What a cluster should know, kept in the plainest way, beside the cluster itself."""

    def __init__(self, draw):
        self.draw, self.now, self.number = draw, 0.0, 0
        slots, self.pace = draw.choice((inf, 5.0)), draw.choice((1.0, 0.5))
        self.queues = (Queue("a", 1.0, slots=slots), Queue("b", 0.0), Queue("c", 1.0))[: draw.choice((1, 3))]
        self.owners = draw.choice(("x", "xy"))
        self.cluster = Cluster(CAPACITY, pace=self.pace, queues=self.queues)
        self.lines = {}  # jobs that wait, by lane in the order in which lanes are served
        self.running = {}  # by id: job, queue, owner, planned end, processors that go to the scheduler then
        self.holds = []

    def wait(self):
        ranks = sorted({rank for rank, _, _ in self.lines})
        together = [[jobs for (at, _, _), jobs in self.lines.items() if at == rank] for rank in ranks]
        return [job for some in together for job in merge(*some, key=lambda job: job.id)]

    def enqueue(self):
        self.number += 1
        length, owner = float(self.draw.randint(1, 12)), self.draw.choice(self.owners)
        queue = self.draw.randrange(len(self.queues))
        job = Job(self.number, owner, 0.0, length, processors=self.draw.randint(1, 5), estimate=length)
        self.cluster.enqueue(job, queue, owner)
        self.lines.setdefault((-self.queues[queue].priority, queue, owner), []).append(job)

    def leave(self, job):
        lane = next(lane for lane, jobs in self.lines.items() if job in jobs)
        self.lines[lane].remove(job)
        return lane

    def withdraw(self):
        if waiting := self.wait():
            job = self.draw.choice(waiting)
            self.cluster.withdraw(job)
            self.leave(job)

    def start(self, job, hold=None, late=0.0):
        end = self.now + job.estimate / self.pace + late
        self.cluster.start(job, self.now, end, hold)
        self.running[job.id] = [job, self.leave(job), end, 0 if hold else job.processors]

    def borrow(self):
        """Start a job on what a hold lends."""
        lending = [hold for hold in self.holds if hold.lends]
        able = [(hold, job) for hold in lending for job in self.wait() if job.processors <= hold.idle]
        if able:
            hold, job = self.draw.choice(able)
            self.start(job, hold)

    def end(self, one=None):
        if self.running:
            job, _, end, _ = self.running.pop(one or self.draw.choice(list(self.running)))
            self.cluster.stop(job, self.now, end)

    def move_on(self, seconds):
        """Most jobs end when they are planned to, some are overdue; a window that ends is news."""
        self.now += seconds
        left = tuple(one for one in self.cluster.windows if one.end > self.now)
        self.cluster.disturbed |= left != self.cluster.windows
        self.cluster.windows = left
        for one, known in list(self.running.items()):
            if known[2] <= self.now and self.draw.random() < 0.9:
                self.end(one)

    def put_back(self):
        if self.running:
            job, lane, end, _ = self.running.pop(self.draw.choice(list(self.running)))
            self.cluster.put_back(job, self.now, end)
            self.lines.setdefault(lane, []).insert(0, job)

    def replan(self):
        if self.running:
            known = self.draw.choice(list(self.running.values()))
            new = known[2] + self.draw.randint(-3, 5)
            self.cluster.replan(known[0], known[2], new)
            known[2] = new

    def keep(self):
        self.number += 1
        until, lends = self.now + self.draw.choice((self.draw.randint(1, 40), inf)), self.draw.random() < 0.7
        hold = Hold(KEYS - self.number, until, lends)
        if free := self.cluster.free:
            self.cluster.keep(hold, self.draw.randint(1, free))
            self.holds.append(hold)

    def give_back(self):
        """A hold keeps less than before."""
        if idle := [hold for hold in self.holds if hold.idle]:
            hold = self.draw.choice(idle)
            self.cluster.keep(hold, -self.draw.randint(1, hold.idle))

    def claim(self):
        """A hold is to have processors of a running job once that ends, first what others lend to the job."""
        able = [(hold, known) for hold in self.holds for known in self.running.values()
                if known[0].id not in hold.lent]  # fmt: skip
        if able:
            hold, known = self.draw.choice(able)
            job = known[0]
            lending = [other for other in self.holds if other.lends and job.id in other.lent]
            count = self.draw.randint(1, job.processors)
            had = sum(other.lent[job.id] for other in lending)
            if known[3] + had < count:
                return
            self.cluster.claim(hold, job, known[2], count)
            if known[2] < hold.until:
                known[3] -= max(0, count - had)
                assert hold.lent[job.id] == count
                assert sum(other.lent[job.id] for other in lending) == max(0, had - count)

    def over(self):
        if self.holds:
            hold = self.holds.pop(self.draw.randrange(len(self.holds)))
            lent = dict(hold.lent)
            self.cluster.free_hold(hold, {one: self.running[one][2] for one in lent})
            for one, count in lent.items():
                self.running[one][3] += count
            assert (hold.idle, hold.lent, hold.processors) == (0, {}, 0)

    def shut(self):
        """Processors are to be kept from the scheduler later on, or not after all."""
        starts = [self.now + self.draw.randint(-2, 12) for _ in range(self.draw.randrange(3))]
        self.cluster.windows = tuple(
            Window(start, start + self.draw.randint(1, 15), self.draw.randint(1, 4)) for start in starts
        )
        self.cluster.disturbed = True

    def permit(self):
        self.cluster.permit(self.draw.choice((inf, inf, 6.0)))

    def check(self):
        cluster, waiting = self.cluster, self.wait()
        kept = [(hold.until, hold.key, hold.processors) for hold in self.holds if hold.processors]
        ends = sorted([(known[2], one, known[3]) for one, known in self.running.items()] + kept)
        assert [tuple(end) for end in cluster.ends] == ends
        assert cluster.free + sum(end.processors for end in cluster.ends) == CAPACITY
        assert cluster.lendable == sum(hold.idle for hold in self.holds if hold.lends)
        assert (cluster.depth, cluster.wanted) == (len(waiting), sum(job.processors for job in waiting))
        assert cluster.narrowest == min((job.processors for job in waiting), default=inf)
        assert all(job in cluster for job in waiting)
        used = [
            sum(known[0].processors for known in self.running.values() if known[1][1] == k)
            for k in range(len(self.queues))
        ]
        for k, queue in enumerate(self.queues):
            mine = [job for lane, jobs in self.lines.items() if lane[1] == k for job in jobs]
            assert cluster.waiting_in(k) == len(mine)
            assert cluster.wanted_in(k) == sum(job.processors for job in mine)
            assert cluster.free_for(k) == max(0, min(cluster.free, queue.slots - used[k]))
        for one, known in self.running.items():
            lent = sum(hold.lent.get(one, 0) for hold in self.holds)
            assert known[3] + lent == known[0].processors
            assert cluster.borrows(known[0]) == any(one in hold.lent for hold in self.holds)
        self.used = used
        order = self.admitted()
        assert list(cluster.in_order()) == order
        return order

    def admitted(self):
        room = [queue.slots - used for queue, used in zip(self.queues, self.used, strict=True)]
        queues = {job.id: lane[1] for lane, jobs in self.lines.items() for job in jobs}
        found = []
        for job in self.wait():
            if job.estimate <= self.cluster.longest:
                room[queues[job.id]] -= job.processors
                if room[queues[job.id]] < 0:
                    room[queues[job.id]] = -inf
                else:
                    found.append(job)
        return found

    def ahead(self):
        """Free processors in each second from now on; what is overdue counts as free."""
        free = [self.cluster.free] * FAR
        for end in self.cluster.ends:
            for second in range(max(0, int(min(FAR, end.time - self.now))), FAR):
                free[second] += end.processors
        for window in self.cluster.windows:
            for second in range(max(0, int(window.start - self.now)), max(0, int(window.end - self.now))):
                free[second] -= window.processors
        return free

    def planned(self, order):
        """Who starts if all in order are planned, second after second, each as early as possible."""
        free, idle, chosen = self.ahead(), self.cluster.free, []
        for job in order:
            width, length = job.processors, int(job.estimate / self.pace)
            at = next((k for k in range(FAR - length) if min(free[k : k + length]) >= width), FAR)
            for second in range(at, min(at + length, FAR)):
                free[second] -= width
            if at == 0 and width <= idle:
                chosen.append(job)
                idle -= width
        return chosen

    def passing(self, order, window):
        """Who starts if nobody may delay the first one that cannot, and is planned within the window (s)."""
        free, idle, chosen, head = self.ahead(), self.cluster.free, [], None
        for job in order:
            width, length = job.processors, int(job.estimate / self.pace)
            with_it = [left - width * (second < length) for second, left in enumerate(free)]
            fits = width <= idle and min(with_it[:length]) >= 0
            if fits and (head is None or first(with_it, *head) == first(free, *head)):
                chosen.append(job)
                idle, free = idle - width, with_it
            elif head is None and first(free, width, length) < min(window, FAR):
                head = width, length
        return chosen


def first(free, width, length):
    """The first second from which on so many processors are free for so long."""
    return next((k for k in range(FAR - length) if min(free[k : k + length]) >= width), FAR)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["conservative", "easy", "window"])
def test_whatever_happens_counts_agree_and_who_starts_is_who_a_new_plan_would_start(policy):
    for seed in range(40):
        draw = Random(seed)
        books = Books(draw)
        rare = [books.withdraw, books.end, books.end, books.borrow, books.put_back, books.replan, books.keep]
        rare += [books.give_back, books.claim, books.over, books.permit, books.shut]
        rare += [books.keep, books.borrow, books.borrow, books.claim, books.claim] * (seed % 3)
        cluster = books.cluster
        for _ in range(60):
            for _ in range(draw.choice((1, 1, 2))):
                draw.choice(rare if draw.random() < (0.6 if seed % 3 else 0.2) else [books.enqueue])()
            order = books.check()
            if policy == "conservative":
                short = draw.choice((0, 0, 1000)) if seed % 2 else 0
                with patch.multiple(plan, SHORT=short, FEW=draw.choice((0, 16))):
                    chosen = list(planned_starts(cluster, cluster.in_order(), books.now))
                assert chosen == books.planned(order), seed
            elif policy == "easy":
                chosen = list(Easy().starts(cluster, books.now))
                assert chosen == books.passing(order, inf), seed
            else:
                window = draw.choice((5.0, 12.0))
                chosen = list(backfill(cluster.in_order(), cluster, books.now, window=window))
                assert chosen == books.passing(order, window), seed
            cluster.settle(books.now)
            for job in chosen:
                books.start(job, late=2.0 * (draw.random() < 0.25))
            if draw.random() < 0.6:
                books.move_on(draw.randint(1, 3))


def test_who_waited_may_pass_once_a_job_was_started_to_end_later_than_decided():
    cluster = Cluster(4)
    first, head, passing, last = (
        Job(number, "x", 0.0, length, processors=width, estimate=length)
        for number, width, length in ((1, 3, 10.0), (2, 4, 10.0), (3, 1, 20.0), (4, 4, 1.0))
    )
    for job in (first, head, passing):
        cluster.enqueue(job)
    assert list(Easy().starts(cluster, 0.0)) == [first]  # the head's start is planned at 10 s
    cluster.settle(0.0)
    cluster.start(first, 0.0, 25.0)  # nodes are made ready for 15 s
    cluster.enqueue(last)
    assert list(Easy().starts(cluster, 1.0)) == [passing]  # it ends by 21 s, before the head can start


def planned_wholly(cluster):
    """Who starts at 0 s if everybody who waits is planned, one after the other, from scratch."""
    profile = Profile(0.0, cluster.free, ((end.time, end.processors) for end in cluster.ends))
    free, chosen = cluster.free, []
    for job in cluster.in_order():
        if profile.place(job.processors, job.expected) == 0.0 and job.processors <= free:
            chosen.append(job)
            free -= job.processors
    return chosen


@pytest.mark.parametrize(("stride", "few"), [(1, 0), (4, 0), (12, 32)])
def test_who_starts_of_a_long_queue_is_known_without_planning_all_of_it(monkeypatch, stride, few):
    monkeypatch.setattr(plan, "STRIDE", stride)
    monkeypatch.setattr(plan, "FEW", few)
    for seed in range(200):
        draw, cluster = Random(f"long queue {seed}"), Cluster(40)
        for number in range(60):
            width = draw.choice([1, 2, 3, 5, 8, 30, 30, 36, 36])
            length = round(draw.lognormvariate(4, 2), 2)
            job = Job(number, "x", 0.0, length, processors=width, estimate=length)
            runs = number < 20
            if not runs or width <= cluster.free - 14:
                cluster.enqueue(job)
            if runs and job in cluster:
                cluster.start(job, 0.0, length)
        assert list(plan.planned_anew(cluster, cluster.in_order(), 0.0)) == planned_wholly(cluster), seed
