"""Whoever was allocated least is found at once, as if all who wait were looked at."""

from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.gridrpc.disciplines import FairQueue
from gridtune.model.job import Job

STEPS = st.lists(
    st.tuples(st.sampled_from(["push", "remove", "count"]), st.sampled_from("abcd"), st.integers(0, 3)),
    max_size=60,
)


@given(STEPS)
def test_the_least_served_are_those_that_a_search_finds(steps):
    queue, waiting = FairQueue(), []
    for user in "abcd":
        queue.count(user, 0.0)
    for number, (step, user, value) in enumerate(steps):
        if step == "count":
            queue.count(user, value / 4)
        elif step == "push":
            waiting.append(Job(number, user, 0.0, 1.0, mandatory=value == 0))
            queue.push(waiting[-1])
        elif waiting:
            assert queue.remove(waiting.pop(value % len(waiting)))
        least = min((queue.allocated[one] for one in queue.optional), default=None)
        expected = [one for one in queue.optional if queue.allocated[one] == least]
        assert queue.least() == expected
