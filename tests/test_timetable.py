"""The timetable agrees with plain lists, however tasks come and go."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.deadline.timetable import Timetable
from gridtune.model.job import Job

SERVERS = 3
moves = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "insert", "remove", "begin", "complete"]),
        st.integers(0, SERVERS - 1),
        st.integers(1, 9),
        st.integers(1, 3),
        st.integers(1, 40),
    ),
    max_size=60,
)


class Lists:
    """The same beliefs, the slow way."""

    def __init__(self):
        self.free = [0.0] * SERVERS
        self.queues = [[] for _ in range(SERVERS)]

    def ends(self, server, now, queue):
        end, made = max(self.free[server], now), []
        for _, duration, _ in queue:
            end += duration
            made.append(end)
        return made

    def with_task(self, server, entry):
        queue = self.queues[server]
        place = sum(other[2] >= entry[2] for other in queue)
        return place, [*queue[:place], entry, *queue[place:]]


@given(moves)
def test_a_timetable_equals_plain_lists(moves):
    table, plain, now = Timetable(SERVERS), Lists(), 0.0
    for number, (move, server, duration, precedence, deadline) in enumerate(moves):
        queue = plain.queues[server]
        if move == "insert":
            job = Job(number, "user", now, 1.0, deadline=now + deadline)
            durations = np.array([float(duration + k) for k in range(SERVERS)])
            ends, places = table.insertions(durations, precedence, now)
            displaced = table.displaced(durations, precedence, np.arange(SERVERS), now)
            last = table.ends_behind(durations, now)
            for k in range(SERVERS):
                place, longer = plain.with_task(k, (job, durations[k], precedence))
                expected = plain.ends(k, now, longer)
                assert (places[k], ends[k]) == (place, expected[place])
                late = [
                    entry[0]
                    for entry, end in list(zip(longer, expected, strict=True))[place + 1 :]
                    if end >= entry[0].deadline
                ]
                assert displaced[k] == len(late)
                assert last[k] == plain.ends(k, now, [*plain.queues[k], (job, durations[k], 0)])[-1]
                if k == server:
                    assert table.insert(k, job, durations[k], precedence) == place
                    assert table.late_behind(k, place, now) == late
                    assert table.end(k, place, now) == expected[place]
                    plain.queues[k] = longer
        elif move == "remove" and queue:
            job, planned, _ = queue.pop(duration % len(queue))
            assert table.remove(server, job) == planned
        elif move == "begin" and queue:
            job, planned, _ = queue.pop(0)
            table.begin(server, job, now)
            plain.free[server] = now + planned
        elif move == "complete":
            now += duration
            table.complete(server, now)
            plain.free[server] = now
        assert [job for job, _, _ in plain.queues[server]] == table.waiting[server]


def test_what_cannot_run_never_ends():
    table = Timetable(2)
    ends, _ = table.insertions(np.array([inf, 3.0]), 1, 0.0)
    assert list(ends) == [inf, 3.0]


def test_a_queue_grows_beyond_its_first_places():
    table = Timetable(1)
    jobs = [Job(k, "user", 0.0, 1.0) for k in range(30)]
    for job in jobs:
        table.insert(0, job, 1.0, 0)
    assert table.waiting[0] == jobs
    assert table.ends_behind(np.array([1.0]), 5.0)[0] == 36.0


def test_hopeless_tasks_do_not_delay_those_behind_them():
    table = Timetable(1)
    long, short = Job(1, "user", 0.0, 1.0, deadline=5.0), Job(2, "user", 0.0, 1.0, deadline=6.0)
    table.insert(0, long, 5.0, 0)
    table.insert(0, short, 5.0, 0)
    assert table.late_behind(0, 0, 0.0) == [short]
    assert table.hopeless(0, 0.0) == [long]


def test_a_start_that_the_table_cannot_explain_is_an_error():
    table = Timetable(1)
    first, second = (Job(k, "user", 0.0, 1.0) for k in (1, 2))
    table.insert(0, first, 1.0, 0)
    table.insert(0, second, 1.0, 0)
    with pytest.raises(ValueError, match="job 2, which was not the first"):
        table.begin(0, second, 0.0)
