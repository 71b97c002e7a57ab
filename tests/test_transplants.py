"""Kinds of systems are compared in the same place: alternatives put into points of the front."""

import zlib
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.commands import kinds as command
from gridtune.optimize.explanation import transplants as room
from gridtune.optimize.front import kind_test
from gridtune.optimize.front.changes import Change
from gridtune.optimize.front.dominant_choice import dominant_choices
from gridtune.optimize.front.front import front
from gridtune.optimize.replication.paired import Difference
from gridtune.optimize.replication.validation import FRESH, FreshRuns
from gridtune.optimize.search import search
from gridtune.scenarios import load
from gridtune.scenarios.workers.pool import Pool
from search_toys import VARY, toy
from tests.fronts import UNFAIR

SEEN = []


def kinds(task, gap=0.0):
    """Ethic clients are better than legacy ones by a gap in both objectives, under noise that all share."""
    SEEN.append(task.replication)
    noise = zlib.crc32(f"{task.seed} {task.replication}".encode()) % 997 / 997
    legacy = task.values.get("client.dispatch") == "legacy"
    own = zlib.crc32(f"{task.replication} {sorted(task.values.items())}".encode()) % 991 / 991
    cost = 5 * noise + 0.1 * own + gap * legacy + 0.01 * task.values["sed.speed"]
    return {"unfairness": Metric(cost, ""), "completed": Metric(100 - cost, "jobs")}


def worse(task):
    return kinds(task, 1.0)


def level(task):
    return kinds(task, 0.0)


def outcome(work, lucky):
    """A front of ethic points alone, by luck or worth, and the test of legacy ones."""
    found = search(
        load("diet/day-regular"), budget=30, vary=VARY, sampler="random", work=lucky, seed=3,
        objectives=["unfairness", "completed"],
    )  # fmt: skip
    whole = front(found.archive)
    choices = dominant_choices(whole)
    assert [one.value for one in choices] == ["ethic"]
    first, count = room.streams_of(whole)
    SEEN.clear()
    with Pool(1) as pool:
        fresh = FreshRuns(found.settings, count, pool, work=work, first=first)
        (made,) = room.tested(whole, found.settings.space, choices, fresh)
    return made


def test_a_kind_that_is_worse_in_every_place_is_said_to_be():
    made = outcome(worse, worse)
    assert made.verdict == "worse"
    assert "ethic is better than legacy on this front." in str(made)
    assert {one.values["client.dispatch"] for one in made.transplants} == {"legacy"}
    assert all("client.n_submit" in one.values for one in made.transplants)
    assert len({one.values["client.n_submit"] for one in made.transplants}) >= 3
    assert min(SEEN) > FRESH + 1000, "streams that nothing was chosen by"
    assert len(set(SEEN)) == made.runs >= 10


def test_a_kind_that_lost_by_luck_is_undecided():
    made = outcome(level, worse)
    assert made.verdict == "undecided"
    assert str(made).endswith("Undecided.")


def test_a_kind_that_is_better_is_named_with_its_settings():
    made = outcome(lambda task: kinds(task, -1.0), worse)
    assert made.verdict == "better"
    assert "legacy beats ethic in some objective there: for one, client.dispatch=legacy" in str(made)
    assert made.as_json()["verdict"] == "better"


def test_without_a_run_there_is_no_verdict():
    assert room.Tested("a", "x", "y", (), 10).verdict == "undecided"


@pytest.mark.parametrize("answer", ["table", "json"])
def test_a_front_of_one_kind_that_was_tried_alone_has_nothing_to_test(tmp_path, answer):
    from gridtune.optimize.commands.kinds import kinds_text

    search(load("diet/day-regular"), budget=4, vary=VARY, work=toy, out=tmp_path, require=["completed>=0"])
    text = kinds_text(str(tmp_path), replications=2, jobs=1, dask=None, json=answer == "json")
    assert "nothing to test" in text or '"kinds"' in text


def searched(work):
    """A search whose random points are few, so that a kind may be missing from its front by chance."""
    return search(
        load("diet/day-regular"), budget=60, vary=VARY, sampler="random", work=work, seed=3,
        objectives=["unfairness", "completed"], replications=2,
    )  # fmt: skip


def test_a_search_says_that_a_kind_is_worse_only_where_it_was_put_in_the_others_place():
    archive = searched(worse).archive
    grafted = [one for one in archive.evaluations if one.host is not None]
    hosts = {one.number: one for one in archive.evaluations}
    assert len(grafted) >= 3
    assert all(one.validated for one in grafted)
    for one in grafted:
        host = hosts[one.host]
        assert (host.values["client.dispatch"], one.values["client.dispatch"]) == ("ethic", "legacy")
        assert host.values["sed.speed"] == one.values["sed.speed"]
    (said,) = dominant_choices(front(archive))
    assert str(said).startswith(
        "All points of the front have client.dispatch ethic: legacy, put in its place"
    )
    assert str(said).endswith("is worse beyond noise.")
    spent = sum(one.replications + one.fresh_replications for one in grafted)
    assert spent <= 0.2 * sum(one.replications + one.fresh_replications for one in archive.evaluations)
    bare = replace(archive, evaluations=tuple(one for one in archive.evaluations if one.host is None))
    (untested,) = dominant_choices(front(bare))
    assert str(untested).startswith("Undecided")


def test_variants_that_the_sampler_has_proposed_count_as_those_that_the_search_puts_in_place():
    few = [
        "sed.speed=0.5,0.7,1,1.4,2",
        "client.n_submit=3,10,30,100,300,1000",
        "client.dispatch.window=1,4,8",
    ]
    result = search(
        load("diet/day-regular"), budget=60, vary=few, sampler="random", work=worse, seed=3,
        objectives=["unfairness", "completed"], replications=3,
    )  # fmt: skip
    assert len(result.archive.evaluations) == 45, "all that there are"
    assert all(one.host is None for one in result.archive.evaluations)
    (said,) = dominant_choices(front(result.archive))
    assert str(said).endswith("is worse beyond noise.")


def test_variants_none_of_which_can_be_run_are_said_to_fail():
    def broken(task):
        speed = task.values["sed.speed"]
        if task.values.get("client.dispatch") == "legacy" and speed < 0.8:
            raise ValueError("no nodes")
        found = worse(task)
        return found | {"unfairness": Metric(found["unfairness"].value + 10 * speed, "")}

    archive = searched(broken).archive
    assert len([one for one in archive.failed if one.host is not None]) >= 3
    (said,) = dominant_choices(front(archive))
    assert "none of which could be run" in str(said)
    assert "worse beyond noise" not in str(said)


def test_a_kind_that_is_no_worse_in_the_others_place_is_not_said_to_be():
    def better_where_it_was_not_tried(task):
        return kinds(task, -0.5 if 49 < task.values.get("client.n_submit", 0) < 52 else 1.0)

    archive = searched(better_where_it_was_not_tried).archive
    proposed = replace(archive, evaluations=tuple(one for one in archive.evaluations if one.host is None))
    assert [one.value for one in dominant_choices(front(proposed))] == ["ethic"]
    for said in dominant_choices(front(archive)):
        assert "worse beyond noise" not in str(said)
    kept = front(archive).kept
    assert any(member.evaluation.host is not None for member in kept), "what no other beats joins the front"


@pytest.mark.parametrize("seed", [1, 5])
def test_what_only_the_model_says_all_of_the_front_has_is_tried_in_its_place_too(seed):
    def work(task):
        """A trade-off over speed; luck brings single legacy points to the front, as means go."""
        luck = [
            zlib.crc32(f"{task.replication} {k} {sorted(task.values.items())}".encode()) % 991 / 991
            for k in (0, 1)
        ]
        speed, gap = task.values["sed.speed"], 0.1 * (task.values.get("client.dispatch") == "legacy")
        return {
            "unfairness": Metric(speed + gap + 0.3 * luck[0], ""),
            "completed": Metric(10 - 1 / speed - gap - 0.3 * luck[1], "jobs"),
        }

    archive = search(
        load("diet/day-regular"), budget=60, vary=VARY, sampler="random", work=work, seed=seed,
        objectives=["unfairness", "completed"], replications=2, max_replications=4,
    ).archive  # fmt: skip
    (said,) = dominant_choices(front(archive))
    assert said.value == "ethic"
    assert all(one.tested for one in said.alternatives)


def test_a_resumed_search_makes_the_same_transplants(tmp_path):
    def go(budget=60, **more):
        return search(
            load("diet/day-regular"), budget=budget, vary=VARY, sampler="random", work=worse, seed=3,
            objectives=["unfairness", "completed"], replications=2, out=tmp_path, **more,
        )  # fmt: skip

    first = go()
    again = go(resume=True)
    assert again.evaluated == 0
    assert again.archive.evaluations == first.archive.evaluations
    more = go(64, resume=True)
    assert sum(one.host is None for one in more.archive.evaluations) == 64
    assert not any("not proposed again" in note for note in more.notes)


def test_a_kind_is_worse_if_it_is_wherever_it_could_be_run():
    def tested(*verdicts):
        changes = {
            verdict: (Change(UNFAIR, 0.0, mean, Difference(mean, 0.1, mean - 0.2, mean + 0.2, 1.0, 9)),)
            for verdict, mean in (("worse", 1.0), ("better", -1.0))
        }
        made = [
            kind_test.Transplant(0, {"x": 1}, changes.get(one, ()), "x" * (one == "failed"))
            for one in verdicts
        ]
        return kind_test.Tested("kind", "a", "b", tuple(made), 9).verdict

    assert tested("worse", "failed", "worse", "worse") == "worse"
    assert tested("worse", "failed", "worse") == "undecided", "two are too few"
    assert tested("failed", "failed") == "undecided"
    assert tested("worse", "worse", "worse", "level") == "undecided"
    assert tested("worse", "better") == "better"


def test_fresh_runs_give_every_metric_that_is_a_number_in_all_of_them():
    found = search(load("diet/day-regular"), budget=6, vary=VARY, sampler="random", work=toy)
    with Pool(1) as pool:
        fresh = FreshRuns(found.settings, 2, pool, work=toy, first=3)
        (known,) = fresh.run([found.archive.evaluations[0].values])
    assert known.values["seen_replication"] == (3.0, 4.0)
    assert "waiting_mean" not in known.values, "no number but in replication 0"


def test_what_was_found_of_kinds_keeps_the_width(monkeypatch):
    study = SimpleNamespace(details=None, name="study", settings=SimpleNamespace(run_in=[], space=None))
    told = ["a sentence about a kind in the place of another, " * 4 + "undecided."]
    for name, given in (
        ("dominant_choices", lambda front: [object()]),
        ("streams_of", lambda front: (0, 5)),
        ("workers", lambda *jobs: nullcontext()),
        ("FreshRuns", lambda *parts, **more: None),
        ("tested", lambda *parts: told),
    ):
        monkeypatch.setattr(command, name, given)
    monkeypatch.setattr(command.api, "open_study", lambda name: study)
    monkeypatch.setenv("COLUMNS", "60")
    text = command.kinds_text("study", replications=5, jobs=1, dask=None, json=False)
    assert max(map(len, text.splitlines())) <= 60
    assert text.split() == told[0].split()
