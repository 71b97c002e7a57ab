"""Quotas of users, groups and queues: by hand, against a slow reference, and what must hold."""

import random

import pytest

from gridtune.model.batch.queues import Queue
from gridtune.model.batch.quotas import Quota
from gridtune.model.job import State
from gridtune.scenarios import ScenarioError, load, simulate
from tests import reference_batch
from tests.reference_batch import Work
from tests.saboteurs import worst_loss
from tests.test_batch import play
from tests.test_batch_priority import CAPACITY, random_works

POLICIES = {
    "fcfs": ({"kind": "fcfs"}, reference_batch.fcfs),
    "easy": ({"kind": "easy"}, reference_batch.easy),
    "conservative": ({"kind": "conservative"}, reference_batch.conservative),
    "sjf": (
        {"kind": "priority", "rule": "sjf", "reservations": 3},
        reference_batch.by_priority(lambda work, now: -work.estimate, reference_batch.reserving(3)),
    ),
}


def user(work):
    return work.id % 3


def limited(policy, most_jobs, most_slots):
    """A policy that sees only the jobs of each user within its quota, the first ones in its own order."""

    def within(waiting, running, free, now):
        left = {
            who: [
                most_jobs - sum(user(work) == who for work in running),
                most_slots - sum(work.processors for work in running if user(work) == who),
            ]
            for who in range(3)
        }
        seen = []
        for work in waiting:
            jobs, slots = left[user(work)]
            left[user(work)] = (
                [jobs - 1, slots - work.processors] if jobs >= 1 and slots >= work.processors else [0, 0]
            )
            if jobs >= 1 and slots >= work.processors:
                seen.append(work)
        return policy(seen, running, free, now)

    return within


def narrowed(name, within):
    """A policy and its reference, which sees only the jobs that `within` lets it see, in its own order."""
    policy, reference = POLICIES[name]
    if name != "sjf":
        return policy, within(reference)
    inner = within(reference_batch.reserving(3))
    return policy, reference_batch.by_priority(lambda work, now: -work.estimate, inner)


@pytest.mark.parametrize("name", POLICIES)
def test_every_start_is_that_of_the_reference(name):
    policy, reference = narrowed(name, lambda policy: limited(policy, 2, 5))
    differs = 0
    for seed in range(8):
        works = [work for work in random_works(random.Random(f"{name} {seed}"), 50) if work.processors <= 5]
        free = [job.start for job in play(works, CAPACITY, policy).record.jobs]
        quota = Quota(user_running=2, user_slots=5)
        made = play(works, CAPACITY, policy, quota=quota).record.jobs
        reference_batch.schedule(works, CAPACITY, reference)
        assert [job.start for job in made] == [work.start for work in works]
        differs += free != [work.start for work in works]
    assert differs == 8  # the quota matters


def of_both(policy, most_jobs, most_slots):
    """A policy that sees jobs within a number for each user and processors for each pair of users."""

    def within(waiting, running, free, now):
        def holders(work):
            return ("user", user(work)), ("group", user(work) // 2)

        def full(holder, mine):
            if holder[0] == "user":
                return len(mine) > most_jobs
            return sum(work.processors for work in mine) > most_slots

        held = {}
        for work in running:
            for holder in holders(work):
                held.setdefault(holder, []).append(work)
        closed, seen = set(), []
        for work in waiting:
            if closed.intersection(holders(work)):
                continue
            over = {holder for holder in holders(work) if full(holder, [*held.get(holder, []), work])}
            closed |= over  # though another limit shuts the job out, too
            if not over:
                seen.append(work)
                for holder in holders(work):
                    held.setdefault(holder, []).append(work)
        return policy(seen, running, free, now)

    return within


@pytest.mark.parametrize("name", POLICIES)
def test_every_start_under_limits_of_users_and_groups_is_that_of_the_reference(name):
    policy, reference = narrowed(name, lambda policy: of_both(policy, 1, 4))
    groups = {"user-0": "a", "user-1": "a", "user-2": "b"}
    for seed in range(8):
        works = [
            work for work in random_works(random.Random(f"both {name} {seed}"), 50) if work.processors <= 4
        ]
        quota = Quota(user_running=1, group_slots=4)
        made = play(works, CAPACITY, policy, quota=quota, groups=groups).record.jobs
        reference_batch.schedule(works, CAPACITY, reference)
        assert [job.start for job in made] == [work.start for work in works]


def together(policy, most):
    """A policy that sees only as many jobs of each user as hold so many slots together, and one alone."""

    def within(waiting, running, free, now):
        held = {who: [work.processors for work in running if user(work) == who] for who in range(3)}
        closed, seen = set(), []
        for work in waiting:
            mine = held[user(work)]
            if user(work) in closed or (mine and sum(mine) + work.processors > most):
                closed.add(user(work))
                continue
            mine.append(work.processors)
            seen.append(work)
        return policy(seen, running, free, now)

    return within


@pytest.mark.parametrize("name", POLICIES)
def test_every_start_under_a_share_is_that_of_the_reference(name):
    policy, reference = narrowed(name, lambda policy: together(policy, 3))
    for seed in range(6):
        works = random_works(random.Random(f"share {name} {seed}"), 50)
        free = [job.start for job in play(works, CAPACITY, policy).record.jobs]
        # Three of eight processors are a little less than 0.38 of them.
        made = play(works, CAPACITY, policy, quota=Quota(user_share=0.38)).record.jobs
        reference_batch.schedule(works, CAPACITY, reference)
        assert [job.start for job in made] == [work.start for work in works] != free
        whole = play(works, CAPACITY, policy, quota=Quota(user_share=1.0)).record.jobs
        assert [job.start for job in whole] == free


def test_a_job_beyond_the_share_runs_alone_and_is_not_passed_by_its_user():
    """Four processors, half of them for several jobs of a user. Its third job asks for three of them.

    It waits for the first two to end, without a reservation, and starts at 10. The fourth one waits for it,
    though a processor is free from 2 on. Another user's job runs there meanwhile.
    """
    works = [Work(3, 0, 10, 1, 10), Work(6, 0, 5, 1, 5), Work(9, 1, 4, 3, 4), Work(12, 2, 1, 1, 1)]
    works.append(Work(13, 3, 3, 1, 3))
    free = play(works, 4, "easy").record.jobs
    assert [job.start for job in free] == [0, 0, 5, 2, 9]
    made = play(works, 4, "easy", quota=Quota(user_share=0.5)).record.jobs
    assert [job.start for job in made] == [0, 0, 10, 14, 3]


@pytest.mark.parametrize("share", [0.29, 0.5])
def test_a_share_is_of_whole_processors(share):
    """0.29 of 100 is a little less than 29 in floating point."""
    works = [Work(3, 0, 10, 1, 10) for _ in range(round(100 * share))]
    works = [Work(3 * number, 0, 10, 1, 10) for number, _ in enumerate(works, 1)]
    made = play(works, 100, "easy", quota=Quota(user_share=share)).record.jobs
    assert {job.start for job in made} == {0}
    works.append(Work(3 * len(works) + 3, 0, 10, 1, 10))
    made = play(works, 100, "easy", quota=Quota(user_share=share)).record.jobs
    assert made[-1].start == 10


@pytest.mark.parametrize("policy", ["easy", "conservative", "fair-share"])
def test_several_jobs_of_a_user_never_hold_more_than_the_share_and_none_is_lost(policy):
    for seed in range(4):
        works = random_works(random.Random(f"share held {policy} {seed}"), 60)
        grid = play(works, CAPACITY, policy, quota=Quota(user_share=0.5))
        assert {job.state for job in grid.record.jobs} == {State.DONE}
        done = [job for job in grid.record.jobs if job.end > job.start]
        for one in done:
            held = [job for job in done if job.user == one.user and job.start <= one.start < job.end]
            assert len(held) == 1 or sum(job.processors for job in held) <= CAPACITY // 2


def test_by_hand():
    """Two processors. A user may run one job: the other processor is for somebody else."""
    works = [Work(3, 0, 10, 1, 10), Work(6, 0, 10, 1, 10), Work(4, 1, 5, 1, 5)]
    free = play(works, 2, "easy").record.jobs
    assert [job.start for job in free] == [0, 0, 10]
    quota = play(works, 2, "easy", quota=Quota(user_running=1)).record.jobs
    assert [job.start for job in quota] == [0, 10, 1]


def test_groups_and_queues_have_quotas_too():
    works = [Work(3, 0, 10, 1, 10), Work(4, 0, 10, 1, 10), Work(5, 1, 5, 1, 5)]
    groups = {"user-0": "a", "user-1": "a", "user-2": "b"}
    made = play(works, 3, "easy", quota=Quota(group_slots=1), groups=groups).record.jobs
    assert [job.start for job in made] == [0, 10, 1]
    queues = [Queue("short", max_runtime=5.0), Queue("long", running=1)]
    made = play(works, 3, "easy", queues=queues).record.jobs
    assert [job.start for job in made] == [0, 10, 1]
    queues = [Queue("short", max_runtime=5.0), Queue("long", quota=Quota(group_running=1))]
    made = play(works, 3, "easy", queues=queues, groups=groups).record.jobs
    assert [job.start for job in made] == [0, 10, 1]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "fair-share", "priority"])
def test_no_user_ever_holds_more_than_its_quota(policy):
    for seed in range(5):
        works = random_works(random.Random(f"held {policy} {seed}"), 60)
        grid = play(works, CAPACITY, policy, quota=Quota(user_running=2, user_slots=4))
        done = [job for job in grid.record.jobs if job.state is State.DONE and job.end > job.start]
        for moment in {job.start for job in done}:
            for who in {job.user for job in done}:
                held = [job for job in done if job.user == who and job.start <= moment < job.end]
                assert len(held) <= 2
                assert sum(job.processors for job in held) <= 4
        # Who asks for more than a user may hold is refused; everybody else gets through.
        lost = [job for job in grid.record.jobs if job.state is not State.DONE]
        assert all(job.state is State.REJECTED and job.processors > 4 for job in lost)
        assert len(lost) == sum(work.processors > 4 for work in works)


def test_a_scenario_has_quotas():
    few = load("batch/replay").override({"site.cluster.quota.user_slots": 64})
    assert (
        simulate(few).metrics["waiting_mean"].value
        > simulate(load("batch/replay")).metrics["waiting_mean"].value
    )
    site = load("batch/replay").document["site"][0] | {
        "queue": [{"name": "all", "quota": {"user_slots": 64}}]
    }
    queue = load("batch/replay").override({"site": [site]})
    assert simulate(queue).metrics["waiting_mean"] == simulate(few).metrics["waiting_mean"]
    for name in ("user_slots", "user_running", "group_running"):
        for value in (0, "many", True):
            with pytest.raises(ScenarioError, match=rf'quota\.{name}: .*at least 1, or "none"'):
                load("batch/replay").override({f"site.cluster.quota.{name}": value})
    for value in (0, 1.5, "none"):
        with pytest.raises(ScenarioError, match=r"quota\.user_share"):
            load("batch/replay").override({"site.cluster.quota.user_share": value})


def test_no_limit_is_a_word_and_infinity_is_the_same():
    shipped = load("batch/replay").spec.site[0].quota
    for value in ("none", float("inf")):
        assert (
            load("batch/replay").override({"site.cluster.quota.user_running": value}).spec.site[0].quota
            == shipped
        )
    assert shipped.limits == Quota()


SEARCHED = {
    "quota.user_running": (8, 32),
    "quota.user_share": (0.35, 0.5, 0.7),
    "preemption.express": (900.0, 3600.0),
}


@pytest.mark.parametrize("path", SEARCHED)
def test_every_value_that_is_searched_matters_on_the_embedded_log_and_loses_no_job(path):
    known = load("batch/replay").spec.search.space[f"site.cluster.{path}"].choices
    assert (*known[1:],) == SEARCHED[path][:: 1 if path[0] == "p" else -1]
    found = []
    for value in known:
        run = simulate(load("batch/replay").override({f"site.cluster.{path}": value}), seed=3)
        assert run.metrics["lost_work"].value == 0
        found.append(tuple(run.metrics[name].value for name in ("slowdown_mean_log", "slowdown_worst_log")))
    assert len(set(found)) == len(found)
    plain = simulate(load("batch/replay"), seed=3).metrics  # the first value changes nothing
    assert found[0] == (plain["slowdown_mean_log"].value, plain["slowdown_worst_log"].value)


def test_a_quota_that_refuses_jobs_is_no_free_win():
    """A search takes no configuration that loses more than the baseline; all processors lose nothing."""
    plain = simulate(load("batch/replay"), seed=3).metrics
    refusing = simulate(load("batch/replay").override({"site.cluster.quota.user_slots": 8}), seed=3).metrics
    assert refusing["refused"].value > 0
    assert worst_loss(refusing, plain) > 0
    sharing = simulate(
        load("batch/replay").override({"site.cluster.quota.user_share": 8 / 128}), seed=3
    ).metrics
    assert worst_loss(sharing, plain) == sharing["refused"].value == 0
