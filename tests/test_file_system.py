"""The shared file system: its load average, and the slow-down of those who use it."""

from math import exp, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.agenda import COMPLETION, Agenda
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.job import Job


def job(number, processors=1):
    return Job(number, "user", 0.0, 1.0, processors=processors)


def test_without_io_the_timer_is_the_agenda():
    agenda = Agenda()
    system = FileSystem(agenda, 8)
    assert system.lane(0.0) is agenda
    assert system.slow_down == 1.0


def test_the_load_follows_a_first_order_filter():
    agenda = Agenda()
    system = FileSystem(agenda, inf, time_constant=60.0)
    system.lane(0.5).after(30.0, lambda _: None, job(1, processors=4))
    agenda.run(until=30.0)
    assert system.load == pytest.approx(2.0 * (1 - exp(-0.5)))
    agenda.run(until=90.0)
    assert system.load == pytest.approx(2.0 * (1 - exp(-0.5)) * exp(-1.0))


def test_too_many_users_slow_each_other_down():
    agenda = Agenda()
    system = FileSystem(agenda, threads=2.0)
    ends = []
    for number in range(4):  # all they do is I/O, and only half of them can be served
        system.lane(0.999999).after(10.0, lambda _: ends.append(agenda.now), job(number))
    assert system.slow_down == pytest.approx(2.0, rel=1e-4)
    agenda.run()
    assert ends == pytest.approx([20.0] * 4, rel=1e-4)


def test_whoever_leaves_speeds_the_others_up():
    agenda = Agenda()
    system = FileSystem(agenda, threads=1.0)
    ends = {}
    lane = system.lane(1 - 1e-12)
    lane.after(10.0, lambda done: ends.update({done.id: agenda.now}), job(1))
    lane.after(30.0, lambda done: ends.update({done.id: agenda.now}), job(2))
    agenda.run()
    # Both at half speed until the first is done at 20 s; the other then has 20 s left, alone.
    assert ends == pytest.approx({1: 20.0, 2: 40.0})


def test_a_cancelled_job_neither_ends_nor_loads():
    agenda = Agenda()
    system = FileSystem(agenda, threads=1.0)
    ends = []
    lane = system.lane(0.9)
    handle = lane.after(10.0, ends.append, job(1))
    lane.after(10.0, ends.append, job(2))
    lane.cancel(handle)
    agenda.run()
    assert [done.id for done in ends] == [2]
    assert agenda.now == pytest.approx(10.0)


@st.composite
def arrivals(draw):
    rows = st.tuples(
        st.integers(0, 40), st.integers(1, 30), st.sampled_from([0.1, 0.4, 0.8]), st.integers(1, 4)
    )
    return draw(st.lists(rows, min_size=1, max_size=12)), draw(st.sampled_from([0.5, 1.0, 3.0]))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(arrivals())
def test_every_job_ends_when_small_steps_say_so(case):
    rows, threads = case
    agenda = Agenda()
    system = FileSystem(agenda, threads)
    ends = {}

    def enter(number):
        _, work, share, processors = rows[number]
        system.lane(share).after(
            float(work), lambda done: ends.update({done.id: agenda.now}), job(number, processors), COMPLETION
        )

    for number, (time, *_) in enumerate(rows):
        agenda.at(float(time), enter, number)
    agenda.run()
    expected = by_small_steps(rows, threads)
    assert ends == pytest.approx(expected, abs=0.1)


def by_small_steps(rows, threads, step=0.02):
    """The same by integrating all jobs over time, with the slow-down found by bisection."""
    left, ends, tick, known = {}, {}, 0, {}
    while len(ends) < len(rows):
        now = tick * step
        for number, (time, work, _, _) in enumerate(rows):
            if number not in left and time <= now + 1e-9:
                left[number] = float(work)
        running = [number for number in left if number not in ends]
        users = tuple((rows[number][2], rows[number][3]) for number in running)
        if users not in known:
            known[users] = slow_down(users, threads)
        slow = known[users]
        for number in running:
            share = rows[number][2]
            left[number] -= step / (1 - share + share * slow)
            if left[number] <= 1e-9:
                ends[number] = now + step
        tick += 1
    return ends


def slow_down(users, threads):
    def demand(slow):
        return sum(count * share / (1 - share + share * slow) for share, count in users)

    if demand(1.0) <= threads:
        return 1.0
    low, high = 1.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if demand(middle) > threads else (low, middle)
    return low
