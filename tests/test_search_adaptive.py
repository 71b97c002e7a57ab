"""Uncertain points get more replications, and a search that was interrupted gives the same ones the same."""

from collections import Counter
from dataclasses import replace
from functools import cache, partial
from statistics import fmean

import pytest

from gridtune.optimize.front.front import front
from gridtune.optimize.held_out import OVERLOOKED
from gridtune.optimize.replication.validation import FRESH
from gridtune.optimize.samplers.space_filling import RandomPoints
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.optimize.storages.storage import JOURNAL
from gridtune.optimize.study.study import load_archive
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.workers.pool import Pool
from search_toys import VARY, noisy, toy
from tests.contents import content

loud = partial(noisy, scale=8.0)
SAMPLERS = ["random", "tpe", "surrogate", "nsga2", "nsga3", "pymoo-nsga2", "pymoo-unsga3", "pymoo-smsemoa"]


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


def run(scenario, **options):
    usual = {
        "budget": 40, "vary": VARY, "work": loud, "sampler": "nsga2", "replications": 2,
        "max_replications": 8,
    }  # fmt: skip
    return search(scenario, **{**usual, **options})


@cache
def uninterrupted(sampler):
    return run(load("diet/day-regular"), sampler=sampler).archive


class Counting:
    """The noisy toy: counts its runs, and is interrupted after some."""

    def __init__(self, calls=None, most=10**9):
        self.calls = Counter() if calls is None else calls
        self.left = most

    def __call__(self, task):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        self.calls[key(task.values), task.replication] += 1
        return loud(task)


def test_every_point_gets_a_few_and_uncertain_ones_more(scenario):
    archive = run(scenario, sampler="tpe").archive
    counts = Counter(evaluation.replications for evaluation in archive.evaluations)
    assert set(counts) <= {2, 4, 8}
    assert counts[2] > counts[8] > 0
    assert archive.runs == sum(count * points for count, points in counts.items())
    assert archive.fixed_runs == 40 * 8
    for evaluation in archive.evaluations:
        assert evaluation.metrics["seen_replication"] == (evaluation.replications - 1) / 2
        assert len({len(estimate.values) for estimate in evaluation.objectives.values()}) == 1


def test_replications_beyond_the_first_are_those_of_a_fixed_number(scenario):
    fixed = {key(e.values): e for e in run(scenario, replications=8, sampler="random").archive.evaluations}
    for evaluation in run(scenario, sampler="random").archive.evaluations:
        whole = fixed[key(evaluation.values)]
        for name, estimate in evaluation.objectives.items():
            assert estimate.values == whole.objectives[name].values[: evaluation.replications]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.7, 0.95])
def test_a_search_interrupted_anywhere_ends_as_an_uninterrupted_one_and_runs_nothing_twice(
    scenario, tmp_path, sampler, share
):
    whole = uninterrupted(sampler)
    runs = sum(e.replications + e.fresh_replications for e in whole.evaluations)
    counting = Counting(most=int(share * runs))
    with pytest.raises(KeyboardInterrupt):
        run(scenario, sampler=sampler, out=tmp_path, work=counting)
    again = Counting(counting.calls)
    resumed = run(scenario, sampler=sampler, out=tmp_path, resume=True, work=again)
    assert content(resumed.archive) == content(whole) == content(load_archive(tmp_path))
    assert set(counting.calls.values()) == {1}
    assert len(counting.calls) == runs


@pytest.mark.parametrize("sampler", ["tpe", "surrogate", "pymoo-nsga2"])
def test_a_search_killed_after_any_write_ends_as_an_uninterrupted_one(scenario, tmp_path, sampler):
    whole = run(scenario, sampler=sampler, out=tmp_path / "whole").archive
    lines = (tmp_path / "whole" / JOURNAL).read_bytes().splitlines(keepends=True)
    assert sum(b"further:" in line for line in lines) > 1  # how many writes there are depends on time
    for share in (0.2, 0.5, 0.8, 0.9, 0.97):
        out = tmp_path / str(share)
        out.mkdir()
        (out / JOURNAL).write_bytes(b"".join(lines[: int(share * len(lines))]))
        resumed = run(scenario, sampler=sampler, out=out, resume=True)
        assert content(resumed.archive) == content(whole) == content(load_archive(out))


def test_a_search_interrupted_again_and_again_runs_nothing_twice(scenario, tmp_path):
    calls = Counter()
    for attempt in range(1000):
        try:
            run(scenario, out=tmp_path, resume=attempt > 0, work=Counting(calls, most=13))
        except KeyboardInterrupt:
            continue
        break
    assert attempt > 10
    assert set(calls.values()) == {1}
    assert content(load_archive(tmp_path)) == content(uninterrupted("nsga2"))


def test_what_has_been_explored_is_resumed_without_a_proposal(scenario, tmp_path, monkeypatch):
    asked = []
    ask = RandomPoints.ask
    monkeypatch.setattr(RandomPoints, "ask", lambda sampler: asked.append(1) or ask(sampler))
    options = {"sampler": "random", "out": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        run(scenario, **options, work=Counting(most=100))
    before = len(asked)
    whole = run(scenario, **options, resume=True)
    assert len(asked) >= 2 * before, "who had got more replications when was to be seen again"
    asked.clear()
    assert content(run(scenario, **options, resume=True).archive) == content(whole.archive)
    assert not asked
    larger = run(scenario, **options, resume=True, budget=50).archive
    assert asked
    assert len(larger.evaluations) == 50


@pytest.mark.parametrize("sampler", ["tpe", "surrogate", "nsga2", "pymoo-nsga2"])
def test_several_cases_and_constraints_are_resumed_as_well(scenario, tmp_path, sampler):
    options = {"sampler": sampler, "seeds": [1, 2], "robust": "worst", "require": ["unfairness<=1.5"]}
    whole = run(scenario, **options).archive
    cases = [e.cases for e in whole.evaluations]
    assert max(e.replications for e in whole.evaluations) == 8
    for evaluation, by_case in zip(whole.evaluations, cases, strict=True):
        for estimates in by_case.values():
            assert len(estimates["unfairness"].values) == evaluation.replications
        if evaluation.validated is not None:
            for estimates in evaluation.validated_cases.values():
                assert len(estimates["unfairness"].values) == evaluation.fresh_replications
    surely_broken = [e for e in whole.evaluations if e.objectives["unfairness"].mean > 2]
    assert surely_broken
    assert all(evaluation.replications == 2 for evaluation in surely_broken)
    with pytest.raises(KeyboardInterrupt):
        run(scenario, out=tmp_path, work=Counting(most=2 * whole.runs - 9), **options)
    resumed = run(scenario, out=tmp_path, resume=True, **options)
    assert content(resumed.archive) == content(whole) == content(load_archive(tmp_path))


@pytest.mark.parametrize("sampler", ["random", "tpe", "nsga2", "pymoo-nsga2"])
def test_luck_with_a_constraint_is_looked_into(scenario, sampler):
    turned, clearly = [], []
    for seed in range(1, 9):
        archive = run(scenario, sampler=sampler, require=["unfairness<=0.8"], seed=seed).archive
        for e in archive.evaluations:
            first = fmean(e.objectives["unfairness"].values[:2])
            clearly += [e.replications] if first > 2 else []
            turned += [(e.objectives["unfairness"].mean <= 0.8) - (first <= 0.8)]
    assert min(turned) == -1  # good luck at first
    assert max(turned) == 1  # bad luck at first
    assert set(clearly) == {2}


@pytest.mark.parametrize("sampler", ["tpe", "surrogate", "pymoo-nsga2"])
def test_one_and_two_workers_give_the_same_replications(scenario, sampler):
    with Pool(2) as pool:
        together = run(scenario, sampler=sampler, pool=pool)
    assert content(uninterrupted(sampler)) == content(together.archive)


def test_without_noise_nothing_is_run_again_but_a_few_probes(scenario):
    archive = run(scenario, work=toy, replications=1, objectives=["unfairness", "completed"]).archive
    assert sum(evaluation.replications > 1 for evaluation in archive.evaluations) <= 12


def test_a_study_in_a_database_keeps_further_replications(scenario, tmp_path):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    counting = Counting(most=50)
    with pytest.raises(KeyboardInterrupt):
        run(scenario, storage=url, budget=12, work=counting)
    run(scenario, storage=url, budget=12, resume=True, work=Counting(counting.calls))
    assert content(load_archive(url)) == content(run(scenario, budget=12).archive)
    assert set(counting.calls.values()) == {1}


def test_more_budget_goes_on_with_the_points_that_would_have_been_proposed(scenario, tmp_path):
    small = run(scenario, out=tmp_path, budget=20, sampler="tpe")
    large = run(scenario, out=tmp_path, budget=36, sampler="tpe", resume=True)
    whole = run(scenario, budget=36, sampler="tpe")
    assert [e.values for e in large.archive.evaluations] == [e.values for e in whole.archive.evaluations]
    for before, after in zip(small.archive.evaluations, large.archive.evaluations, strict=False):
        assert after.replications >= before.replications


def failing_late(task):
    """Fail in a later replication, for some points."""
    if 2 <= task.replication < 8 and task.values.get("client.dispatch.window") in (4, 5):
        raise RuntimeError("stuck")
    return loud(task)


@pytest.mark.parametrize("sampler", ["tpe", "surrogate", "nsga2", "pymoo-nsga2"])
def test_a_point_that_fails_in_a_later_replication_is_a_failure(scenario, tmp_path, sampler):
    vary = [*VARY, "client.dispatch=ethic"]
    options = {"sampler": sampler, "vary": vary}
    result = run(scenario, work=failing_late, out=tmp_path, **options)
    assert result.failures
    assert {failure.reason for failure in result.failures} == {"RuntimeError: stuck"}
    assert {failure.values["client.dispatch.window"] for failure in result.failures} <= {4, 5}
    assert any("failed on further seeds: RuntimeError: stuck" in note for note in result.notes)
    again = run(scenario, work=failing_late, out=tmp_path, resume=True, **options)
    assert again.evaluated == 0
    assert content(again.archive) == content(result.archive)


def test_the_scenario_may_say_how_many_replications(scenario):
    adaptive = scenario.override({"search.replications": 2, "search.max_replications": 4})
    options = {"replications": None, "max_replications": None, "budget": 20}
    archive = run(adaptive, **options).archive
    assert (archive.replications, archive.max_replications) == (2, 4)
    fixed = run(adaptive, **{**options, "replications": 3}).archive
    assert (fixed.replications, fixed.max_replications) == (3, 3)
    plain = run(scenario, **options).archive
    assert (plain.replications, plain.max_replications) == (1, 1)
    with pytest.raises(ScenarioError, match="max_replications"):
        scenario.override({"search.replications": 5, "search.max_replications": 4}).spec  # noqa: B018


def test_less_at_most_than_at_least_is_refused(scenario):
    with pytest.raises(ScenarioError, match="max_replications 1: at least the 2 replications"):
        run(scenario, max_replications=1)


def fresh(found):
    """How many fresh runs members have."""
    return {one.fresh_replications for one in found.archive.evaluations if one.validated is not None}


def test_members_that_are_uncertain_on_fresh_seeds_get_more_of_them(scenario):
    found = run(scenario, sampler="tpe")
    assert fresh(found) == {2, 4, 5, 8, 10}
    assert min(member.evaluation.fresh_replications for member in front(found.archive).kept) == 5
    assert fresh(run(scenario, sampler="tpe", budget=15)) == {5, 10}, "no model helps to judge so few points"
    assert fresh(run(scenario, sampler="tpe", validation_replications=3)) == {3, 6, 8}
    certain = run(scenario, sampler="tpe", work=lambda task: toy(replace(task, replication=0)))
    assert fresh(certain) == {2}, "what repeats itself is not run more often"
    assert fresh(run(scenario, sampler="tpe", max_replications=2)) == {5}


@pytest.mark.parametrize(("scale", "seed"), [(2.0, 1), (8.0, 5)])
def test_no_point_that_may_be_on_the_front_is_left_without_fresh_seeds(scenario, scale, seed):
    found = run(
        scenario, budget=60, work=partial(noisy, scale=scale), replications=1, max_replications=4,
        seed=seed, sampler="random",
    )  # fmt: skip
    judged = front(found.archive).judgement
    left = [one.number for one in found.archive.evaluations if one.validated is None]
    assert max(judged.chances[number] for number in left) < OVERLOOKED


def test_fresh_seeds_are_apart_from_those_of_the_search(scenario):
    counting = Counting()
    run(scenario, work=counting, budget=20)
    numbers = {replication for _, replication in counting.calls}
    assert numbers == {*range(8), *range(FRESH, FRESH + 10)}
