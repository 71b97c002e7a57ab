"""Machines and links whose performance changes: exact integrals of piecewise-constant functions."""

from itertools import count
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.job import Job
from model.platform import Machine, Service, Steps, Task


def test_a_course_is_looked_up_and_drawn_only_as_far_as_needed():
    drawn = []

    def changes():
        for k in count():
            drawn.append(k)
            yield 10.0 * k, 1.0 + k

    steps = Steps(changes())
    assert [steps.at(t) for t in (0.0, 9.9, 10.0, 25.0, 5.0)] == [1.0, 1.0, 2.0, 3.0, 1.0]
    assert steps.until(25.0) == 30.0
    assert steps.until(3.0) == 10.0
    assert not steps.is_constant
    assert len(drawn) == 4


def test_a_constant_course_never_changes():
    steps = Steps.constant(2.0)
    assert steps.is_constant
    assert steps.until(0.0) == inf
    assert steps.elapsed(0.1, 0.6) == 0.3
    assert Steps.constant(inf).elapsed(5.0, 1e12) == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([(1.0, 1.0)], "begin at 0 s"),
        ([(0.0, 0.0)], "above 0"),
        ([(0.0, 1.0), (0.0, 2.0)], "forward in time"),
    ],
)
def test_courses_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Steps(changes)


@given(
    gaps=st.lists(st.floats(0.1, 20), min_size=1, max_size=8),
    values=st.lists(st.floats(0.1, 5), min_size=9, max_size=9),
    start=st.floats(0, 100),
    amount=st.floats(0, 200),
)
def test_elapsed_time_inverts_the_integral(gaps, values, start, amount):
    times = [0.0]
    for gap in gaps:
        times.append(times[-1] + gap)
    changes = list(zip(times, values, strict=False))
    steps = Steps(changes)
    end = start + steps.elapsed(start, amount)
    integral = sum(
        value * max(0.0, min(end, until) - max(start, since))
        for (since, value), until in zip(changes, [*times[1:], inf], strict=True)
    )
    assert integral == pytest.approx(amount, abs=1e-6)


def test_an_execution_sends_computes_and_receives_one_after_the_other():
    machine = Machine(
        "s",
        speed=2.0,
        availability=Steps([(0.0, 1.0), (12.0, 0.5)]),
        bandwidth=Steps([(0.0, 10.0), (20.0, 5.0)]),
        latency=1.0,
    )
    job = Job(1, "user", 0.0, 20.0)
    # Sent 1-11 s; 1 s of work at full and 9 s at half speed until 30 s; received at the lower bandwidth.
    assert machine.service(job, Task(input=100.0, output=50.0), 0.0) == Service(11.0, 19.0, 11.0)


def test_a_machine_does_only_what_it_has_the_means_for():
    machine = Machine("s", memory=100.0, software=frozenset({"blas"}))
    assert machine.can_do(Task(memory=100.0, software="blas"))
    assert not machine.can_do(Task(memory=101.0))
    assert not machine.can_do(Task(software="fft"))
    assert machine.can_do(Task(times={"s": 1.0}))
    assert not machine.can_do(Task(times={"t": 1.0}))
