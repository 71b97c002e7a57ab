"""Which changes of a configuration are left out: known truths, from whole searches."""

import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.front.changes import change
from gridtune.optimize.front.front import front
from gridtune.optimize.inference.gaussian_process import runs_of
from gridtune.optimize.recommend import recommender
from gridtune.optimize.recommend.elimination import Elimination
from gridtune.optimize.recommend.plan import Plan
from gridtune.optimize.recommend.recommender import CONFIRMED, FIRST_CONFIRMATION, Recommender
from gridtune.optimize.recommend.replays import Replays
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import ParameterChange
from gridtune.optimize.report.recommended import why_none
from gridtune.optimize.runs.stored import load as load_study
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import key
from gridtune.scenarios import load
from tests.facts import missing

POLICY, RUNNING, SHARE, EXPRESS = (
    f"site.cluster.{name}"
    for name in ("policy", "quota.user_running", "quota.user_share", "preemption.express")
)
MODE, RULE = "site.cluster.preemption.mode", f"{POLICY}.rule"
SPACE = [f"{POLICY}=fcfs,easy", f"{RUNNING}=none,8", f"{SHARE}=1,0.5", f"{EXPRESS}=0,900"]
CHANGED = {POLICY: "easy", RUNNING: 8, SHARE: 0.5, EXPRESS: 900.0, MODE: "suspend"}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    lines = ["; MaxProcs: 8", "1 60 0 600 1 -1 -1 1 1200 -1 1 1 1 -1 1 -1 -1 -1"]
    path = tmp_path_factory.mktemp("log") / "small.swf"
    path.write_text("\n".join(lines) + "\n")
    return load("batch/replay").override({"workload.trace": str(path), "site.cluster.policy": "fcfs"})


def searched(
    scenario,
    gain,
    *,
    noise=0.3,
    others=None,
    own=False,
    hidden=lambda _: 0.0,
    killed=None,
    vary=SPACE,
    **options,
):
    """A search in which a configuration's slow-down is 20 less its gain.

    Args:
        scenario: any; nothing is simulated.
        gain: of the values of a configuration.
        noise: its standard deviation; the same for all configurations in a replication.
        others: further metrics by values and noise.
        own: whether each configuration has noise of its own instead.
        hidden: further gain that only the confirmation shows.
        killed: jobs by values, that only the confirmation shows.
        vary, options: of the search.
    """

    def work(task):
        seed = [task.replication, 3, *([zlib.crc32(key(task.values).encode())] if own else [])]
        error = noise * np.random.default_rng(seed).normal()
        last = task.replication >= FIRST_CONFIRMATION
        late = hidden(task.values) if last else 0.0
        made = {"slowdown_mean": 20.0 - gain(task.values) - late + error, "lost_fraction": 0.0}
        made |= others(task.values, error) if others else {}
        made |= {"killed": 10.0 + error + last * killed(task.values)} if killed else {}
        return {name: Metric(value, "") for name, value in made.items()}

    options = {"runs": 300, "replications": 2, "sampler": "random", **options}
    return search(
        scenario, work=work, vary=vary, baseline=True, objectives=["slowdown_mean"], allow_loss=True,
        allow_starvation=True, **options,
    ).archive  # fmt: skip


def recommended(*given, **options):
    """What such a search recommends."""
    return searched(*given, **options).recommendations


def changes(made):
    return {one.path for one in made.changes}


def each(values):
    """Four changes gain three each."""
    return 3.0 * sum(values.get(path) == CHANGED[path] for path in (POLICY, RUNNING, SHARE, EXPRESS))


def test_without_noise_one_run_shows_what_each_change_gains(scenario):
    (made,) = recommended(scenario, each, noise=0.0)
    assert changes(made) == {POLICY, RUNNING, SHARE, EXPRESS}
    assert made.objectives["slowdown_mean"].difference.mean == pytest.approx(-12.0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_what_each_change_does_alone_is_told_with_its_share_the_greatest_first(scenario, noise):
    sizes = {RUNNING: 2.0, POLICY: 6.0}

    def gain(values):
        return sum(size for path, size in sizes.items() if values.get(path) == CHANGED[path])

    found = recommended(scenario, gain, noise=noise)
    changed = found[0].changes
    assert [one.path for one in changed] == [POLICY, RUNNING]
    assert [one.alone["slowdown_mean"] for one in changed] == pytest.approx([-6.0, -2.0])
    assert [one.share for one in changed] == pytest.approx([0.75, 0.25])


def test_runs_of_the_confirmation_are_part_of_what_is_known_of_a_configuration(scenario, tmp_path):
    archive = searched(scenario, each, out=tmp_path)
    (made,) = archive.recommendations
    start, origin = archive.standing, next(one for one in archive.evaluations if one.number == made.origin)
    gap = np.subtract(origin.confirmed["slowdown_mean"].values, start.confirmed["slowdown_mean"].values)
    assert gap == pytest.approx(np.full(made.replications, -12.0))
    runs = runs_of([start, origin], front(archive).objectives)
    assert np.isfinite(runs).sum() == 2 * 2 + 2 * made.replications + 2 * max(
        one.validation_replications for one in (start, origin)
    )
    again = {one.number: one.confirmed for one in load_study(tmp_path).archive.evaluations}
    assert again == {one.number: one.confirmed for one in archive.evaluations}


@pytest.mark.long
@pytest.mark.parametrize(("runs", "least"), [(100, 3), (300, 7)])
def test_of_limited_runs_some_validate_the_more_configurations_the_more_there_are(scenario, runs, least):
    some = {"vary": [f"{SHARE}=0.05:1.0"], "own": True, "replications": 1, "sampler": "random"}
    archive = searched(scenario, lambda values: 1 - values.get(SHARE, 1.0), runs=runs, **some)
    validated = [one for one in archive.evaluations if one.validated and one.number != archive.baseline]
    assert len(validated) >= least


def test_without_noise_harm_is_told_of_one_run(scenario):
    def others(values, _):
        return {"killed": 10.0 + 5.0 * (values.get(POLICY) == "easy")}

    (made,) = recommended(scenario, each, noise=0.0, others=others)
    assert [(one.metric, one.mean) for one in made.harms] == [("killed", 15.0)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_changes_that_replace_each_other_one_is_left(scenario, seed):
    def either(values):
        return 3.0 * (values.get(POLICY) == "easy" or values.get(RUNNING) == 8) + (
            values.get(EXPRESS) == 900.0
        )

    (made,) = recommended(scenario, either, start=[CHANGED], seed=seed)
    assert len(changes(made)) == 2
    assert EXPRESS in changes(made)
    assert made.objectives["slowdown_mean"].difference.mean == pytest.approx(-4.0)


def test_a_change_that_gains_hardly_anything_is_left_out(scenario):
    sizes = {POLICY: 6.0, RUNNING: 3.0, SHARE: 0.5}

    def gain(values):
        return sum(size for path, size in sizes.items() if values.get(path) == CHANGED[path])

    (made,) = recommended(scenario, gain, start=[CHANGED])
    assert changes(made) == {POLICY, RUNNING}


@pytest.mark.long
def test_a_choice_is_kept_for_what_exists_because_of_it(scenario):
    """A rule that only one policy has outweighs what that policy costs; without the rule it does harm."""

    def gain(values):
        return (3.0 if values.get(RULE) == "sjf" else -1.0) * (values.get(POLICY) == "priority")

    space = [f"{POLICY}=fcfs,priority", f"{RULE}=multifactor,sjf", *SPACE[1:]]
    found = recommended(scenario, gain, own=True, vary=space, runs=None, budget=200)
    assert changes(found[0]) >= {POLICY, RULE}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_gain_that_nobody_asked_for_is_no_reason_to_keep_a_change(scenario, seed):
    def others(values, error):
        fewer = values.get(POLICY) == "easy" and values.get(RUNNING) == 8
        noise = np.random.default_rng([zlib.crc32(key(values).encode()), int(1e6 * abs(error))]).normal()
        return {"killed": 50.0 - 20.0 * fewer + noise}

    def gain(values):
        return 5.0 * (values.get(POLICY) == "easy")

    (made,) = recommended(scenario, gain, others=others, start=[CHANGED], seed=seed)
    assert changes(made) == {POLICY}


def test_harm_puts_a_change_first_that_gains_nothing(scenario):
    """Without the limit of running jobs, which gains nothing, many jobs are killed."""

    def others(values, error):
        harm = values.get(POLICY) == "easy" and values.get(RUNNING) != 8
        return {"killed": 10.0 + 40.0 * harm + error}

    (made,) = recommended(scenario, lambda v: 5.0 * (v.get(POLICY) == "easy"), others=others, start=[CHANGED])
    assert changes(made) == {POLICY, RUNNING}
    assert made.harms == ()


@pytest.mark.parametrize("harm", [False, True])
def test_where_the_confirmation_refuses_a_reduction_all_changes_come_back(scenario, harm):
    """It keeps too little there, or does harm."""

    def gain(values):
        return 3.0 * (values.get(POLICY) == "easy") + 3.0 * (values.get(RUNNING) == 8)

    def hidden(values):
        return (0.0 if harm else 5.0) * (values.get(SHARE) == 0.5 and values.get(EXPRESS) == 900.0)

    def killed(values):
        return 40.0 * (harm and values.get(POLICY) == "easy" and values.get(EXPRESS) != 900.0)

    made = recommended(scenario, gain, hidden=hidden, killed=killed, start=[CHANGED])
    assert [one.title for one in made] == ["lower slowdown"]
    assert changes(made[0]) == set(CHANGED)


@pytest.mark.parametrize(("cost", "refused"), [(9.0, False), (14.0, True)])
def test_what_worsens_an_objective_by_over_half_in_the_confirmation_is_refused(scenario, cost, refused):
    def work(task):
        gained, later = task.values.get(POLICY) == "easy", task.replication >= FIRST_CONFIRMATION
        error = np.random.default_rng([task.seed, task.replication]).normal(0, 0.1)
        values = {
            "slowdown_mean": 20 - 5 * gained + error,
            "waiting_mean": 20 + (cost if later else 8) * gained + error,
        }
        return {name: Metric(float(value), "s") for name, value in values.items()}

    archive = search(
        scenario, budget=8, work=work, vary=[f"{POLICY}=fcfs,easy", f"{RUNNING}=none,8"], baseline=True,
        objectives=["slowdown_mean", "waiting_mean"], sampler="exhaustive", start=({POLICY: "easy"},),
    ).archive  # fmt: skip
    assert bool(archive.recommendations) is not refused
    if refused:
        assert {one.metrics for one in archive.refusals.values()} == {("waiting_mean",)}
        said = why_none(front(archive))
        assert not missing(said, "by over half", "waiting time (mean) 70 % higher")


class Sampled:
    """Runs of a configuration, of one objective, or of others by their names."""

    def __init__(self, *values, **others):
        self.metrics = {"slowdown_mean": [*values], **others}

    def breaks(self, _):
        return ()

    def change(self, objective, start):
        return change(objective, *(one.metrics[objective.name] for one in (start, self)))


@pytest.mark.parametrize(
    ("whole", "sparse", "kept"),
    [
        ((15.0, 21.0, 16.0), (17.5, 20.5, 18.0), 0.5),  # the gain is no more than chance would explain
        ((15.0, 21.0, 16.0), (20.0, 20.0, 20.0), 0.0),
        ((20.0, 21.0, 20.0), (19.0, 18.0, 18.0), 0.0),  # there is none
        ((15.0, 15.1, 14.9), (16.0, 16.1, 15.9), 0.8),
    ],
)
def test_a_gain_is_to_be_kept_though_few_runs_do_not_show_it(scenario, whole, sparse, kept):
    archive = searched(scenario, each, runs=40)
    elimination = Elimination(front(archive), None, {})
    start = Sampled(20.0, 20.0, 20.0)
    assert elimination.kept(Sampled(*sparse), Sampled(*whole), start) == pytest.approx(kept)


def test_the_share_of_a_change_is_its_mean_over_the_objectives_that_get_better():
    elimination = object.__new__(Elimination)
    elimination._objectives = [Objective(name, "minimize") for name in ("slowdown_mean", "waiting_mean")]
    elimination._certain = False
    start, whole, alone = (
        Sampled(a, a, a, waiting_mean=[b, b, b]) for a, b in ((20, 20), (10, 10), (15, 18))
    )
    told = elimination._told(ParameterChange(POLICY, "fcfs", "easy"), alone, start, whole)
    assert told.share == pytest.approx((0.5 + 0.2) / 2)


@pytest.mark.parametrize(("kept", "values"), [(CONFIRMED, {POLICY: "easy"}), (0.79, CHANGED)])
def test_four_fifths_of_a_gain_confirm_that_a_change_may_be_left_out(kept, values):
    one = object.__new__(Recommender)
    one._elimination = SimpleNamespace(kept=lambda *_: kept)
    one._replays = SimpleNamespace(worse=lambda *_: False)
    one._borne_out = lambda candidate, *_: candidate.sparse
    candidate = recommender.Candidate([], False, SimpleNamespace(values=CHANGED), {POLICY: "easy"}, [POLICY])
    block = SimpleNamespace(run=lambda configurations: [SimpleNamespace() for _ in configurations])
    assert one._confirmed(candidate, block, 1) == values


def test_where_all_are_refused_others_are_tried_three_times(monkeypatch):
    one, tried = object.__new__(Recommender), []
    one.refusals, one._aside, one._front, one._subsets = {}, [], None, None
    one._elimination = SimpleNamespace(sure=None)
    one._screened = lambda candidates: candidates

    def refused(candidates):
        tried.extend(candidates)
        one.refusals |= dict.fromkeys(candidates)
        return ()

    one._found = refused
    monkeypatch.setattr(recommender, "candidates_of", lambda *_: [len(tried)])
    assert one.recommend() == ()
    assert tried == [0, 1, 2]


@pytest.mark.parametrize(("left", "replayed"), [(8, True), (7, False)])
def test_a_log_is_replayed_with_more_jobs_if_as_many_runs_are_left_as_it_counts(left, replayed):
    one = object.__new__(Replays)
    one.weight, one._left, one._overtime = 3.0, lambda: left, 0.0
    one._evaluator = SimpleNamespace(settings=SimpleNamespace(replications=2, run_in=[None]), table=[])
    one._busier = SimpleNamespace(new=list, run=list)
    assert one._under_load([{}, CHANGED]) == ([{}, CHANGED] if replayed else [None, None])


@pytest.mark.parametrize(("left", "asked"), [(4, True), (3, False)])
def test_changes_are_run_alone_if_as_many_runs_are_left_as_that_takes(left, asked):
    ran = []
    block = SimpleNamespace(
        replications=[1], cost=len, run=lambda some: [ran.append(one) for one in some]
    )  # which all fail
    elimination = object.__new__(Elimination)
    elimination._subsets = SimpleNamespace(
        together=lambda _: {POLICY: [POLICY], RUNNING: [RUNNING]}, combined=lambda _, paths: {paths[0]: 1}
    )
    made = SimpleNamespace(values={POLICY: 1, RUNNING: 1})
    assert elimination.with_shares(made, block, left) is made
    assert ran == ([{}, made.values, {POLICY: 1}, {RUNNING: 1}] if asked else [])


def test_where_too_few_runs_are_left_nothing_is_recommended_and_that_is_noted_once():
    one, notes = object.__new__(Recommender), []
    one._evaluator = SimpleNamespace(notes=notes, note=notes.append)
    one._replays = SimpleNamespace(as_logged=SimpleNamespace(new=lambda _: []), weight=0)
    one._plan = lambda *_: Plan()
    candidate = SimpleNamespace(origin=SimpleNamespace(values=CHANGED))
    assert [one._found([candidate]) for _ in range(2)] == [(), ()]
    assert len(notes) == 1


@pytest.mark.parametrize("which", [{}, CHANGED])
def test_why_a_replay_with_more_jobs_failed_is_told_whichever_of_both_it_was(which):
    one = object.__new__(Replays)
    alike = SimpleNamespace(breaks=lambda _: (), means={}, by_case={})
    one._evaluator, one.as_logged = None, SimpleNamespace(run=lambda some: [alike for _ in some])
    one._busier = SimpleNamespace(failures={key(which): "no memory"})
    one._under_load = lambda some: [None for _ in some]
    (remark,) = one.of(CHANGED, []).remarks
    assert "no memory" in remark
