"""Deadline scheduling: the worked example, a slow reference, and what holds whatever happens."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.job import State
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario

# RR-5335, table 1: what is decided of the five tasks, written out here and not taken from the program.
TABLE_1_STEPS = [
    ("assigned", 1, "S1"),
    ("assigned", 2, "S1"),
    ("assigned", 3, "S3"),
    ("assigned", 4, "S1"),
    ("fallback", 1, "S1"),
    ("resubmitted", 1, "S2"),
    ("assigned", 5, "S2"),
    ("fallback", 1, "S2"),
    ("resubmitted", 1, "S3"),
]


def scenario(document, base="deadline/example"):
    made = Scenario("test", {"title": "test", **document}, load(base).base)
    _ = made.spec
    return made


def listed(tasks, servers, **agent):
    return scenario(
        {
            "server": [{"name": name, **more} for name, more in servers.items()],
            "agent": {"routing": "priority", **agent},
            "workload": [{"name": "task", "kind": "task-list", "tasks": tasks}],
        }
    )


REJECTING = {"kind": "priority", "unplaced": "reject"}


def placed(run):
    return {job.id: (job.site, job.start, job.end) for job in run.record.jobs}


def test_the_example_of_the_paper():
    run = simulate(load("deadline/example"), keep_events=True)
    assert placed(run) == {
        1: ("S3", 0.0, 6.0),
        2: ("S1", 0.0, 5.0),
        3: ("S3", 6.0, 21.0),
        4: ("S1", 5.0, 15.0),
        5: ("S2", 0.0, 14.0),
    }
    decisions = [
        (event, job, site)
        for _, event, job, site, _ in run.record.journal
        if event in ("assigned", "fallback", "resubmitted")
    ]
    assert decisions == TABLE_1_STEPS
    metrics = {name: metric.value for name, metric in run.metrics.items()}
    assert (metrics["executed"], metrics["missed"], metrics["rejected"]) == (5, 0, 0)
    assert (metrics["fallbacks"], metrics["resubmissions"], metrics["unhappy_users"]) == (2, 2, 0)


def test_without_fallback_the_displaced_task_of_the_example_is_late():
    run = simulate(load("deadline/example").override({"agent.routing.fallback": "none"}))
    assert placed(run)[1] == ("S1", 15.0, 18.0)
    assert run.metrics["missed"].value == run.metrics["missed_low_priority"].value == 1
    assert run.metrics["unhappy_users"].value == 1


def test_a_running_task_is_not_displaced_and_its_remaining_time_counts():
    tasks = [
        {"priority": 1, "deadline": 20, "times": {"a": 10}},
        {"priority": 9, "deadline": 12, "arrival": 3, "times": {"a": 5}},
        {"priority": 9, "deadline": 12, "arrival": 3, "times": {"a": 1}},
    ]
    run = simulate(listed(tasks, {"a": {}}))
    # The second ends at 15, which is 12 s after its arrival: not before its deadline.
    assert [job.state for job in run.record.jobs] == [State.DONE, State.REJECTED, State.DONE]
    assert placed(run)[3] == ("a", 10.0, 11.0)


def test_a_resubmitted_task_may_come_back_behind_its_equals():
    tasks = [
        {"priority": 1, "deadline": 10, "times": {"a": 4}},
        {"priority": 1, "deadline": 99, "times": {"a": 3}},
        {"priority": 2, "deadline": 99, "times": {"a": 8}},
    ]
    run = simulate(listed(tasks, {"a": {}}, routing=REJECTING))
    assert run.record.jobs[0].state is State.REJECTED  # a deadline does not move with a submission
    assert [placed(run)[k] for k in (2, 3)] == [("a", 8.0, 11.0), ("a", 0.0, 8.0)]
    run = simulate(listed(tasks, {"a": {}}))
    assert placed(run) == {1: ("a", 11.0, 15.0), 2: ("a", 8.0, 11.0), 3: ("a", 0.0, 8.0)}


def test_tasks_displaced_together_are_placed_again_in_the_order_of_their_queue():
    tasks = [
        {"priority": 1, "deadline": 12, "times": {"a": 5, "b": 11}},
        {"priority": 1, "deadline": 12, "times": {"a": 5, "b": 11}},
        {"priority": 3, "deadline": 12, "times": {"a": 8}},
    ]
    # Neither fits behind the third any more, and B has time for one of them: the one that was first.
    run = simulate(listed(tasks, {"a": {}, "b": {}}, routing=REJECTING))
    assert [job.state for job in run.record.jobs] == [State.DONE, State.REJECTED, State.DONE]
    assert placed(run)[1] == ("b", 0.0, 11.0)
    assert placed(simulate(listed(tasks, {"a": {}, "b": {}})))[2] == ("a", 8.0, 13.0)  # late, where it was


def test_a_task_that_ends_at_its_deadline_has_missed_it():
    run = simulate(listed([{"deadline": 5, "times": {"a": 5}}], {"a": {}}, routing="greedy"))
    assert run.record.jobs[0].end == 5.0
    assert (run.metrics["executed"].value, run.metrics["missed"].value) == (0, 1)


TASKS = st.lists(
    st.fixed_dictionaries(
        {
            "arrival": st.integers(0, 12),
            "priority": st.integers(1, 4),
            "deadline": st.integers(2, 40),
            "times": st.dictionaries(st.sampled_from("abc"), st.integers(1, 9), min_size=1),
        }
    ),
    min_size=1,
    max_size=14,
)


def reference(tasks, fallback, unplaced):
    """Algorithm 3 over plain lists: where and when each task ran, or None where it was rejected."""
    queues, free, ran = {s: [] for s in "abc"}, dict.fromkeys("abc", 0), {}

    def advance(now, including):
        """Start what has its turn; at `now` itself only behind a task that ends at that moment."""
        for s, queue in queues.items():
            while queue:
                start = max(free[s], queue[0]["at"])
                behind = any(where == s and end == start for where, _, end in ran.values())
                if start > now or (start == now and not (including or behind)):
                    break
                task = queue.pop(0)
                free[s] = start + task["times"][s]
                ran[task["id"]] = (s, start, free[s])

    def ends(s, queue, now):
        end, made = max(free[s], now), []
        for task in queue:
            end += task["times"][s]
            made.append(end)
        return made

    def submit(task, now, origin=None):
        candidates = []
        for s in "abc":
            if s not in task["times"]:
                continue
            place = sum(other["priority"] >= task["priority"] for other in queues[s])
            queue = [*queues[s][:place], task, *queues[s][place:]]
            made = ends(s, queue, now)
            if made[place] < task["due"]:
                late = [other for other, end in zip(queue, made, strict=True) if end >= other["due"]]
                late = [other for other in late if queue.index(other) > place]
                candidates.append((len(late), made[place], s, queue, late))
        if not candidates:
            if origin is not None and unplaced == "stay":
                task["at"] = now
                place = sum(other["priority"] >= task["priority"] for other in queues[origin])
                queues[origin].insert(place, task)
            return
        _, _, s, queue, late = min(candidates, key=lambda candidate: candidate[:3])
        task["at"] = now
        queues[s] = [other for other in queue if not (fallback and other in late)]
        for other in late if fallback else []:
            submit(other, now, s)

    numbered = [
        {**task, "id": k, "due": task["arrival"] + task["deadline"]} for k, task in enumerate(tasks, 1)
    ]
    for now in sorted({task["arrival"] for task in numbered}):
        advance(now, including=False)
        for task in numbered:
            if task["arrival"] == now:
                submit(task, now)
        advance(now, including=True)
    advance(inf, including=True)
    return ran


@pytest.mark.long
@given(tasks=TASKS, fallback=st.booleans(), unplaced=st.sampled_from(["stay", "reject"]))
@settings(max_examples=150, deadline=None)
def test_the_agent_does_what_a_slow_reference_does(tasks, fallback, unplaced):
    tasks = sorted(tasks, key=lambda task: task["arrival"])
    kind = {"kind": "priority", "fallback": "displaced" if fallback else "none", "unplaced": unplaced}
    run = simulate(listed(tasks, {"a": {}, "b": {}, "c": {}}, routing=kind))
    done = {job: place for job, place in placed(run).items() if place[1] == place[1]}
    assert done == reference(tasks, fallback, unplaced)
