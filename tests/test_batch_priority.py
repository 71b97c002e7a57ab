"""The batch policy `priority` against an independent reference, its rules, and its limits."""

import random
from math import exp, inf, log, log2, log10

import pytest
from hypothesis import given, settings

from gridtune.model.batch import rules
from gridtune.model.job import Job
from gridtune.model.policy import PolicyError, make, spec
from gridtune.scenarios import load, simulate
from tests import reference_batch
from tests.reference_batch import Work, by_priority, reserving
from tests.test_batch import play, workloads

CAPACITY = 8


def age_and_shape(work, now):
    """Weights 100, 30 and 10 of age (60 s at most), shortness (12 s at most) and size."""
    age = min(1.0, (now - work.submit) / 60.0)
    # Added up in the order of the policy: equal sums must not differ in their last digit.
    return 100 * age + 10 * (work.processors / CAPACITY) + 30 * (1 - min(1.0, work.estimate / 12.0))


def wfp3(work, now):
    return ((now - work.submit) / max(1.0, work.estimate)) ** 3 * work.processors


def unicef(work, now):
    if work.processors == 1:
        return inf
    return (now - work.submit) / (log2(work.processors) * max(1.0, work.estimate))


def lxf(work, now):
    return 1.0 + (now - work.submit) / max(1.0, work.estimate)


def f1(work, now):
    return -(log10(max(1.0, work.estimate)) * work.processors + 870.0 * log10(max(1.0, work.submit)))


def f4(work, now):
    return -(max(1.0, work.estimate) * work.processors**0.5 + 530_000.0 * log10(max(1.0, work.submit)))


RULES = {
    "sjf": ({"rule": "sjf"}, lambda work, now: -work.estimate),
    "saf": ({"rule": "saf"}, lambda work, now: -work.estimate * work.processors),
    "lxf": ({"rule": "lxf"}, lxf),
    "wfp3": ({"rule": "wfp3"}, wfp3),
    "unicef": ({"rule": "unicef"}, unicef),
    "f1": ({"rule": "f1"}, f1),
    "f4": ({"rule": "f4"}, f4),
    "multifactor": (
        {
            "weight_age": 100.0,
            "max_age": 60.0,
            "weight_shortness": 30.0,
            "longest": 12.0,
            "weight_job_size": 10.0,
        },
        age_and_shape,
    ),
}
RESERVATIONS = {
    0: reference_batch.fcfs,
    1: reference_batch.easy,
    3: reserving(3),
    "all": reference_batch.conservative,
}


def random_works(rng, count):
    """Jobs that keep eight processors more than busy, some of them shorter and some longer than promised."""
    works, now = [], 0
    for number in range(1, count + 1):
        now += rng.choice([0, 0, 1, 2, 5])
        runtime = rng.choice([0, 1, 2, 3, 5, 8, 12])
        estimate = rng.choice([runtime, runtime, 2 * runtime + 1, 12, max(0, runtime - 1)])
        works.append(Work(number, now, runtime, rng.choice([1, 1, 2, 3, 4, 8]), estimate))
    return works


def starts(works, policy, capacity=CAPACITY):
    return [(job.start, job.end) for job in play(works, capacity, policy).record.jobs]


@pytest.mark.parametrize("reservations", RESERVATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_every_start_is_that_of_the_reference(rule, reservations):
    parameters, priority = RULES[rule]
    policy = {"kind": "priority", "reservations": reservations, **parameters}
    for seed in range(4):
        works = random_works(random.Random(f"{rule} {reservations} {seed}"), 45)
        expected = by_priority(priority, RESERVATIONS[reservations])
        made = starts(works, policy)
        reference_batch.schedule(works, CAPACITY, expected)
        assert made == [(work.start, work.end) for work in works]


@pytest.mark.parametrize(("reservations", "same"), [(0, "fcfs"), (1, "easy"), ("all", "conservative")])
@settings(max_examples=60, deadline=None)
@given(workload=workloads())
def test_by_age_alone_it_is_the_policy_of_that_many_reservations(reservations, same, workload):
    capacity, works = workload
    policy = {"kind": "priority", "reservations": reservations}
    assert starts(works, policy, capacity) == starts(works, same, capacity)


@settings(max_examples=60, deadline=None)
@given(workload=workloads())
def test_more_reservations_than_jobs_are_all(workload):
    capacity, works = workload
    some, every = ({"kind": "priority", "rule": "sjf", "reservations": count} for count in (99, "all"))
    assert starts(works, some, capacity) == starts(works, every, capacity)


def test_use_fades_and_lowers_the_priority_of_its_owner():
    half_life = 20.0
    works = random_works(random.Random(7), 60)

    def use(user, now):
        rate = log(2) / half_life
        return sum(
            work.processors
            * (exp(-rate * (now - min(now, work.end))) - exp(-rate * (now - work.start)))
            / rate
            for work in works
            if work.id % 3 == user and work.start is not None and work.start < now
        )

    def fair(work, now):
        known = {other.id % 3 for other in works if other.submit <= now}
        # Owners are known to a site once they wait or have run; all who came have done either.
        total = sum(use(user, now) for user in known)
        part = use(work.id % 3, now) / total if total else 0.0
        return 10.0 * 2 ** (-part * len(known) / 1.5) + min(1.0, (now - work.submit) / 100.0)

    policy = {
        "kind": "priority",
        "weight_age": 1.0,
        "max_age": 100.0,
        "weight_fairshare": 10.0,
        "half_life": half_life,
        "damping": 1.5,
    }
    made = starts(works, policy)
    reference_batch.schedule(works, CAPACITY, by_priority(fair, reference_batch.easy))
    assert made == [(work.start, work.end) for work in works]


def test_equal_priorities_are_served_in_order_of_arrival():
    works = [Work(1, 0, 5, 1, 5), Work(3, 1, 2, 1, 2), Work(2, 2, 2, 1, 2), Work(4, 3, 1, 1, 1)]
    made = [
        job.start
        for job in play(works, 1, {"kind": "priority", "rule": "sjf", "reservations": 0}).record.jobs
    ]
    assert made == [0, 6, 8, 5]


def test_a_queue_is_a_tier_unless_it_is_a_factor():
    from gridtune.model.batch.queues import Queue

    # Each job enters the first queue whose limits it keeps: short ones the better queue.
    queues = [Queue("short", priority=2.0, max_runtime=5.0), Queue("long", priority=1.0)]
    works = [Work(1, 0, 10, 1, 10), Work(2, 1, 9, 1, 9), Work(3, 60, 1, 1, 1), Work(4, 0, 60, 1, 60)]
    works.sort(key=lambda work: work.submit)
    tier = [job.start for job in play(works, 1, {"kind": "priority"}, queues=queues).record.jobs]
    factor = {"kind": "priority", "weight_age": 100.0, "max_age": 60.0, "weight_queue": 1.0}
    blended = [job.start for job in play(works, 1, factor, queues=queues).record.jobs]
    # Jobs 1 (0 s), 4 (0 s), 2 (1 s), 3 (60 s): job 3 waits from 60 s on, job 2 since 1 s.
    assert tier == [0, 10, 71, 70]
    assert blended == [0, 10, 70, 79]

    def starts(policy, *some):
        both = [Queue(name, rank, max_runtime=end, factor=weight) for name, rank, end, weight in some]
        return [job.start for job in play(works, 1, policy, queues=both).record.jobs]

    # A factor beside equal tiers decides nothing without a weight, and with one as a priority would.
    equal = ("short", 1.0, 5.0, 2.0), ("long", 1.0, inf, 1.0)
    assert starts({"kind": "priority"}, *equal) == starts({"kind": "fcfs"}, *equal) == [0, 10, 70, 79]
    assert starts(factor | {"weight_queue": 1e6}, *equal) == tier
    # Tiers stay tiers where the factors are weighed.
    assert starts(factor, ("short", 2.0, 5.0, 1.0), ("long", 1.0, inf, 2.0)) == tier


def test_classes_have_a_quality_of_service():
    made = load("batch/replay").override(
        {"site.cluster.policy": {"kind": "priority", "weight_qos": 1.0, "qos": {"job": 3.0}}}
    )
    plain = load("batch/replay").override({"site.cluster.policy": "easy"})
    # All jobs are of one class: nothing changes.
    assert simulate(made).metrics["waiting_mean"] == simulate(plain).metrics["waiting_mean"]


def test_later_starts_than_the_window_are_not_reserved():
    # The head (2 processors) could start at 10; the narrow job of 20 s would delay it.
    works = [Work(1, 0, 10, 1, 10), Work(2, 1, 5, 2, 5), Work(3, 2, 20, 1, 20)]
    for reservations in (1, 3, "all"):
        policy = {"kind": "priority", "reservations": reservations}
        assert [start for start, _ in starts(works, policy, 2)] == [0, 10, 15]
        assert [start for start, _ in starts(works, policy | {"window": 5.0}, 2)] == [0, 22, 2]


def test_only_the_first_jobs_of_the_queue_are_looked_at():
    works = [Work(1, 0, 10, 1, 10), Work(2, 1, 5, 2, 5), Work(3, 1, 90, 1, 90), Work(4, 2, 4, 1, 4)]
    assert [start for start, _ in starts(works, {"kind": "priority", "queue_depth": 2}, 2)] == [0, 10, 15, 15]
    assert [start for start, _ in starts(works, {"kind": "priority"}, 2)] == [0, 10, 15, 2]


def test_between_backfilling_passes_nobody_passes_the_head():
    works = [Work(1, 0, 100, 1, 100), Work(2, 1, 5, 2, 5), Work(3, 2, 4, 1, 4), Work(4, 70, 4, 1, 4)]
    # Backfilling at 0 s, and again 30 s later although nothing happens then; then at 70 s.
    made = starts(works, {"kind": "priority", "interval": 30.0}, 2)
    assert [start for start, _ in made] == [0, 100, 30, 70]


@pytest.mark.parametrize(
    "wrong",
    [
        {"reservations": -1},
        {"reservations": "some"},
        {"reservations": 1.5},
        {"reservations": True},
        {"shares": {"a": 0.0}},
        {"qos": {"a": "high"}},
        {"weight_age": -1.0},
        {"rule": "fifo"},
        {"interval": -1.0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(PolicyError, match="priority"):
        make("batch", {"kind": "priority", **wrong})


def test_it_survives_a_manifest():
    made = make("batch", {"kind": "priority", "reservations": "all", "shares": {"a": 2.0}})
    assert make("batch", spec(made)) == made


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("sjf", -16.0),
        ("saf", -16.0 * 4),
        ("lxf", 30 / 16),
        ("wfp3", (30 / 16) ** 3 * 4),
        ("unicef", 30 / (2 * 16)),
        ("f1", -(log10(16) * 4 + 870 * 2)),
        ("f2", -(4 * 4 + 25_600 * 2)),
        ("f3", -(16 * 4 + 6_860_000 * 2)),
        ("f4", -(16 * 2 + 530_000 * 2)),
    ],
)
def test_rules_are_the_formulas_of_their_papers(rule, expected):
    job = Job(1, "u", 90.0, 99.0, processors=4, estimate=16.0)
    job.queue(100.0)
    assert rules.RULES[rule](job, 130.0) == pytest.approx(expected)


def test_a_policy_whose_parameters_are_not_named_stays_what_it_was():
    """Slurm's defaults where it has them; a document that names none of these must not change its meaning."""
    day = 86400.0
    assert spec(make("batch", "priority")) == {
        "kind": "priority", "rule": "multifactor", "weight_age": 100.0, "weight_fairshare": 0.0,
        "weight_job_size": 0.0, "weight_shortness": 0.0, "weight_queue": 0.0, "weight_qos": 0.0,
        "max_age": 7 * day, "longest": day, "favour": "large", "half_life": 7 * day,
        "algorithm": "classic", "damping": 1.0, "by": "user", "shares": {}, "accounts": {}, "qos": {},
        "reservations": 1, "queue_depth": 0.0, "window": inf, "interval": 0.0, "max_wait": 0.0,
    }  # fmt: skip
