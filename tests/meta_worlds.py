"""Random small grids with a middleware, for tests of what always holds."""

from hypothesis import strategies as st

from tests.meta_grid import Task

KINDS = [
    ("push", {}),
    ("pull", {}),
    ("pilot", {"pilot_mode": "run-once"}),
    ("pilot", {"pilot_mode": "filling"}),
]


@st.composite
def worlds(draw, most_slots=4, widest=1):
    """Slots of each site, tasks, and options of the middleware.

    The user of a task is called as its site is; there is a meta-task at least.
    """
    slots = draw(st.lists(st.integers(1, most_slots), min_size=1, max_size=3))
    task = st.tuples(
        st.integers(0, 60).map(float),
        st.integers(1, 30).map(float),
        st.none() | st.integers(1, 30).map(float),
        st.none() | st.integers(0, len(slots) - 1),
        st.sampled_from("ab"),
        st.integers(1, widest),
    ).map(lambda facts: Task(*facts[:4], str(facts[3]), group=facts[4], processors=facts[5]))
    tasks = draw(st.lists(task, min_size=1, max_size=25))
    if all(task.site is not None for task in tasks):
        tasks[0] = tasks[0]._replace(site=None, user="None")
    options = {
        "update_period": draw(st.sampled_from([0.0, 7.0])),
        "availability_epsilon": draw(st.sampled_from([0.2, 0.5, 1.5])),
        "poll_period": draw(st.sampled_from([1.0, 5.0, 13.0])),
        "pilot_idle": draw(st.sampled_from([0.0, 10.0])),
        "pilot_retry": 3.0,
        "pilot_cap": draw(st.sampled_from([1, 2, 50])),
        "delay": draw(st.sampled_from([0.0, 0.25])),
        "limit": draw(st.sampled_from([float("inf"), 45.0, 32.0])),
    }
    return slots, tasks, options


def most_at_once(spans):
    """The largest sum of widths of spans (start, end, width) that overlap; ends make room for starts."""
    changes = sorted(
        change
        for start, end, width in spans
        if end > start
        for change in ((start, 1, width), (end, 0, -width))
    )
    held = most = 0
    for _, _, change in changes:
        held += change
        most = max(most, held)
    return most
