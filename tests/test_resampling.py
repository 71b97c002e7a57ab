"""Resampled logs: weeks, users and shaking by hand, and what they keep of the log."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.streams import AS_LOGGED, BUSIER, HELD_OUT, Streams
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.execution.log_noise import doubts, replay_weight, with_noise
from gridtune.scenarios.traces.resampling import WEEK, Drawn, shaken, users, weeks, whole_weeks
from tests.facts import missing

DAY = 86400.0


class Scripted:
    """A generator that draws what it is told."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def integers(self, high, size=None):
        drawn = self.draws.pop(0)
        assert np.all(np.asarray(drawn) < high)
        return np.asarray(drawn) if size is not None else drawn


def test_weeks_by_hand():
    submits = [0.0, DAY, WEEK, 2 * WEEK + 5.0, 3 * WEEK, 3 * WEEK + DAY]  # three whole weeks and a bit
    made = weeks(submits, Scripted([2, 0, 2]))
    assert made == [
        Drawn(3, 5.0),
        Drawn(0, WEEK),
        Drawn(1, WEEK + DAY),
        Drawn(3, 2 * WEEK + 5.0),
    ]


def test_users_by_hand():
    """Two weeks. a and b are there for less than one, c stays; a is drawn twice, b is not."""
    submits = [0.0, 10.0, WEEK + 1.0, WEEK + 2.0, 2 * WEEK - 1.0]
    owners = ["c", "a", "b", "a", "c"]
    assert whole_weeks(submits) == 2
    made = users(submits, owners, Scripted([0, 0], 0, 1, [0], 1))
    assert made == [
        Drawn(3, 2.0, 1),  # of the second a, a week later, which comes round
        Drawn(1, 10.0),
        Drawn(4, WEEK - 1.0),
        Drawn(0, WEEK),
        Drawn(3, WEEK + 2.0),
        Drawn(1, WEEK + 10.0, 1),
    ]


@st.composite
def logs(draw):
    """Submissions over at least four weeks, and their users."""
    count = draw(st.integers(5, 60))
    rest = draw(st.lists(st.integers(0, 8 * 7 * 24 * 3600), min_size=count, max_size=count))
    submits = sorted([0.0, 5 * WEEK, *map(float, rest)])
    owners = [f"u{draw(st.integers(0, 5))}" for _ in submits]
    return submits, owners, draw(st.integers(0, 2**20))


@settings(max_examples=60, deadline=None)
@given(log=logs())
def test_whole_weeks_are_drawn_from_the_half_that_is_meant(log):
    submits, _, seed = log
    count = whole_weeks(submits)
    for half, parity in (("all", {0, 1}), ("even", {0}), ("odd", {1})):
        made = weeks(submits, np.random.default_rng(seed), half)
        times = [drawn.submit for drawn in made]
        assert times == sorted(times)
        assert {int(submits[drawn.job] // WEEK) % 2 for drawn in made} <= parity
        # Each simulated week is one of the log's, whole, second by second.
        contents = {
            frozenset(
                (job, round(submit % WEEK, 3)) for job, submit in enumerate(submits) if submit // WEEK == week
            )
            for week in range(count)
        }
        for week in range(len(range(count)[(half == "odd") :: 1 if half == "all" else 2])):
            here = frozenset((d.job, round(d.submit % WEEK, 3)) for d in made if d.submit // WEEK == week)
            assert here in contents


@settings(max_examples=60, deadline=None)
@given(log=logs())
def test_users_keep_their_jobs_their_hours_and_days(log):
    submits, owners, seed = log
    inside = [
        owner for submit, owner in zip(submits, owners, strict=True) if submit < whole_weeks(submits) * WEEK
    ]
    pool = set(inside)
    if len(pool) < 2:
        return
    made = users(submits, owners, np.random.default_rng(seed))
    assert [drawn.submit for drawn in made] == sorted(drawn.submit for drawn in made)
    assert all(0 <= drawn.submit < whole_weeks(submits) * WEEK for drawn in made)
    copies = Counter((owners[drawn.job], drawn.copy) for drawn in made)
    assert len(copies) == len(pool)  # as many users as in the log
    for (owner, _), count in copies.items():
        assert count == inside.count(owner)  # all jobs of a user, once for each copy
    assert all((drawn.submit - submits[drawn.job]) % WEEK == pytest.approx(0, abs=1e-6) for drawn in made)


def test_a_rest_beyond_whole_weeks_does_not_add_to_the_load():
    submits = [600.0 * number for number in range(int(12.9 * DAY / 600))]  # a week, and nearly another
    owners = [f"u{number % 40}" for number in range(len(submits))]
    assert whole_weeks(submits) == 1
    drawn = [len(users(submits, owners, np.random.default_rng(seed))) for seed in range(20)]
    assert np.mean(drawn) == pytest.approx(WEEK / 600, rel=0.02)


def test_halves_have_no_user_in_common():
    rng = random.Random(1)
    submits = sorted([0.0, 6 * WEEK, *(rng.uniform(0, 6 * WEEK) for _ in range(200))])
    owners = [f"u{rng.randrange(12)}" for _ in submits]
    drawn = {
        half: {
            owners[one.job]
            for seed in range(9)
            for one in users(submits, owners, np.random.default_rng(seed), half)
        }
        for half in ("even", "odd")
    }
    assert not drawn["even"] & drawn["odd"]
    assert drawn["even"] | drawn["odd"] == set(owners)


def test_shaking_moves_a_little():
    submits = [0.0, 100.0, 5000.0, 5000.0]
    made = shaken(submits, np.random.default_rng(1), 60.0)
    assert sorted(drawn.job for drawn in made) == [0, 1, 2, 3]
    assert all(abs(drawn.submit - submits[drawn.job]) <= 60 and drawn.submit >= 0 for drawn in made)
    assert [drawn.submit for drawn in made] == sorted(drawn.submit for drawn in made)
    assert any(drawn.submit != submits[drawn.job] for drawn in made)


@pytest.fixture
def log(tmp_path):
    """Nine weeks of a small site in SWF: busier every week, four users."""
    rng = random.Random(5)
    rows = []
    for week in range(9):
        for _ in range(6 + 2 * week):
            submit = int(week * WEEK + rng.uniform(0, 5 * DAY))
            runtime = rng.randrange(3600, 40000)
            rows.append((submit, runtime, rng.choice([1, 2, 4]), rng.randrange(1, 5)))
    rows.append((int(9 * WEEK - 3600), 600, 1, 1))
    rows.sort()
    lines = ["; MaxProcs: 8"] + [
        f"{k} {submit} 0 {run} {procs} -1 -1 {procs} {2 * run} -1 1 {user} 1 -1 1 -1 -1 -1"
        for k, (submit, run, procs, user) in enumerate(rows, 1)
    ]
    path = tmp_path / "small.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def replay(log, **values):
    return load("batch/replay").override({"workload.trace": str(log), **values})


@pytest.mark.parametrize("kind", ["shake", "weeks", "users"])
def test_replications_differ_and_seeds_repeat(log, kind):
    scenario = replay(log, **{"workload.log.resample": kind})
    first, again, other = (simulate(scenario, 1, k) for k in (0, 0, 1))
    assert [(j.submit, j.start) for j in first.record.jobs] == [
        (j.submit, j.start) for j in again.record.jobs
    ]
    assert [j.submit for j in first.record.jobs] != [j.submit for j in other.record.jobs]
    plain = [simulate(replay(log), 1, k).metrics["waiting_mean"].value for k in (0, 1)]
    assert plain[0] == plain[1]


def test_a_log_is_drawn_alike_wherever_it_lies(log):
    # An exported configuration names a log in full that its scenario names from beside it.
    elsewhere = log.parent / "further" / log.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(log.read_bytes())
    one, other = (
        simulate(replay(place, **{"workload.log.resample": "users"}), 5).metrics for place in (log, elsewhere)
    )
    assert one == other


def test_two_workloads_of_a_log_stay_in_step(log):
    from gridtune.scenarios.workloads.trace_jobs import TraceJobs

    def tasks(name, **facts):
        workload = TraceJobs(name=name, kind="trace", trace=str(log), resample="users", **facts)
        return list(workload.tasks(Streams(3, 2)))

    whole = tasks("whole")
    parts = [*tasks("short", longest=20000.0), *tasks("long", shortest=20000.5)]
    assert sorted(whole) == sorted(parts)


def test_a_search_fits_on_even_weeks_and_validates_on_odd_ones(log):
    scenario = replay(log)
    resampled, notes = with_noise(scenario)
    workload = resampled.active.workload[0]
    assert (workload.resample, workload.resample_from) == ("weeks", "split")
    assert not missing(notes[0], "1st, 3rd, 5th", "validation seeds")
    chosen = with_noise(replay(log, **{"workload.log.resample": "none"}))
    assert chosen[1] == []
    assert chosen[0].active.workload[0].resample == "none"
    short, said = with_noise(replay(log, **{"workload.log.end": 3 * WEEK}))
    assert short.active.workload[0].resample == "shake"
    assert "fewer than 8" in said[0]

    def runtimes(replication):
        return {task.runtime for task in workload.tasks(Streams(1, replication))}

    fitted = set().union(*(runtimes(k) for k in range(12)))
    validated = set().union(*(runtimes(HELD_OUT + k) for k in range(12)))
    assert fitted
    assert validated
    assert not fitted & validated


@pytest.mark.long
def test_a_search_over_a_log_has_noise_and_says_so(log):
    made = search(replay(log), budget=4, replications=3, seed=1, vary=["site.cluster.policy=fcfs,easy"])
    assert any("resample: weeks" in note for note in made.notes)
    spread = [estimate.values for entry in made.archive.evaluations for estimate in entry.objectives.values()]
    assert all(len(values) == 3 for values in spread)
    assert any(len(set(values)) > 1 for values in spread)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"workload.log.resample": "days"}, "resample"),
        ({"workload.log.resample_from": "even"}, "needs resample = weeks or users"),
        (
            {"workload.log.resample": "weeks", "workload.trace": "embedded"},
            "drawn|draws the embedded log anew",
        ),
        ({"workload.log.shake": -1.0}, "shake"),
        ({"workload.log.resample_weeks": 3}, "needs resample = weeks"),
    ],
)
def test_what_makes_no_sense_is_refused(log, values, said):
    with pytest.raises(ScenarioError, match=said):
        replay(log, **values)


def test_a_log_of_one_week_has_no_weeks_to_draw(log):
    scenario = replay(log, **{"workload.log.end": 1.9 * WEEK, "workload.log.resample": "weeks"})
    with pytest.raises(ScenarioError, match="too few to draw from"):
        simulate(scenario)


@pytest.mark.long
def test_a_log_that_is_only_repeated_has_no_noise_to_speak_of(log):
    """Equal replications are no sample: no error is printed, and no chance."""
    from gridtune.optimize.front.front import front

    same = replay(log, **{"workload.log.resample": "none"})
    options = {
        "vary": ["site.cluster.policy=fcfs,easy,conservative", "site.cluster.start_overhead=0,60"],
        "allow_starvation": True,
    }
    found = front(search(same, budget=6, replications=2, seed=1, **options).archive)
    assert found.members
    assert all(found.chance(one.number) is None for one in found.members)
    resampled = front(search(replay(log), budget=6, replications=2, seed=1, **options).archive)
    assert all(resampled.chance(one.number) is not None for one in resampled.members)


def test_a_replay_of_the_log_as_it_is_resamples_nothing(log):
    plain = list(replay(log).active.workload[0].tasks(Streams(1)))
    for kind in ("shake", "weeks", "users"):
        workload = replay(log, **{"workload.log.resample": kind}).active.workload[0]
        assert list(workload.tasks(Streams(1, AS_LOGGED))) == plain
        assert list(workload.tasks(Streams(1, AS_LOGGED - 1))) != plain


def test_in_a_replay_under_a_higher_load_every_fifth_job_comes_twice(log):
    plain = list(replay(log).active.workload[0].tasks(Streams(1)))
    workload = replay(log, **{"workload.log.resample": "weeks"}).active.workload[0]
    busier = list(workload.tasks(Streams(1, BUSIER)))
    assert [one for k, one in enumerate(busier, 1) if k % 6] == plain
    again = [one._replace(number=0) for one in plain[4::5]]
    assert busier[5::6] == again
    assert len(busier) == len(plain) + len(plain) // 5


def test_fewer_weeks_can_be_drawn_and_a_long_log_is(log):
    drawn = {"workload.log.resample": "weeks", "workload.log.resample_weeks": 2}
    for k in range(4):
        tasks = list(replay(log, **drawn).active.workload[0].tasks(Streams(1, k)))
        assert 0 < len(tasks) <= 2 * (6 + 2 * 8 + 1)
        assert max(task.submit for task in tasks) < 2 * WEEK
    lines = log.read_text().splitlines()
    later = (int(9 * WEEK + 1), int(18 * WEEK - 3600))
    lines += [f"{900 + k} {at} 0 600 1 -1 -1 1 1200 -1 1 1 1 -1 1 -1 -1 -1" for k, at in enumerate(later)]
    log.write_text("\n".join(lines) + "\n")
    scenario, (note,) = with_noise(replay(log))
    assert scenario.active.workload[0].resample_weeks == 8
    assert "8 in each run" in note
    assert replay_weight(scenario) == 17 / 8
    assert replay_weight(replay(log)) == 0, "what is not resampled needs no other replay"


def test_doubts_of_short_logs_and_short_runs_are_said(log):
    short = with_noise(replay(log, **{"workload.log.end": 3 * WEEK}))[0]
    assert [("fewer than 8" in one, "longest" in one) for one in doubts(short, 2 * DAY)] == [(True, False)]
    assert len(list(doubts(short, 3 * DAY))) == 2
    enough = with_noise(replay(log))[0]  # four of nine weeks in each run
    assert list(doubts(enough, 2 * DAY)) == []
    (said,) = doubts(enough, 3 * DAY)
    assert "4 weeks" in said
    assert "3 d" in said
