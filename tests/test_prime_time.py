"""Prime time: hours of the week in which a site starts only short jobs, and how a log shows them."""

import random
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from gridtune.model.batch.prime_time import WEEK, PrimeTime, longest_at, next_change, open_to_all
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.calibration.hours import prime_times
from gridtune.scenarios.calibration.written import scenario_text
from gridtune.scenarios.results.run import faults
from gridtune.scenarios.tables.batch import PrimeTimeSpec
from gridtune.scenarios.trace_files import read_trace
from gridtune.scenarios.traces.clock import clock_of
from tests.reference_batch import Work
from tests.test_batch import play
from tests.test_batch_priority import CAPACITY, random_works
from tests.test_calibration import calibrated_as, load_text

OFFICE = PrimeTime(10.0, [(9.0, 17.0), (160.0, 170.0)])  # the last one ends at 2 h of the next week


def test_prime_time_and_its_changes_by_hand():
    hours = (0, 1.9, 2, 8.9, 9, 16.9, 17, 159, 160, 167.9, 168 + 1.9, 168 + 2, 168 + 9)
    assert [OFFICE.now(hour * 3600) for hour in hours] == [
        True, True, False, False, True, True, False, False, True, True, True, False, True,
    ]  # fmt: skip
    assert [next_change([OFFICE], hour * 3600) / 3600 for hour in (0, 2, 9, 17, 165)] == [2, 9, 17, 160, 170]
    strict = PrimeTime(5.0, [(16.0, 18.0)])
    assert [longest_at([OFFICE, strict], hour * 3600) for hour in (3, 10, 16, 17)] == [inf, 10, 5, 5]
    assert next_change([], 0.0) == inf


def test_a_week_without_an_open_hour_is_refused():
    assert open_to_all([OFFICE])
    assert not open_to_all([PrimeTime(1.0, [(0.0, 168.0)])])
    assert not open_to_all([PrimeTime(1.0, [(0.0, 100.0)]), PrimeTime(2.0, [(90.0, 170.0)])])
    text = "prime_time: leaves no hour of the week in which long jobs may start"
    with pytest.raises(ScenarioError, match=text):
        _ = (
            load("batch/replay")
            .override({"site.cluster.prime_time": [{"longest": 60.0, "hours": [[10.0, 178.0]]}]})
            .spec
        )
    with pytest.raises(ScenarioError, match="from 170 to 180: "):
        _ = (
            load("batch/replay")
            .override({"site.cluster.prime_time": [{"longest": 60.0, "hours": [[170.0, 180.0]]}]})
            .spec
        )


POLICIES = [
    "fcfs", "easy", "conservative", "fair-share",
    *({"kind": "priority", "reservations": reservations} for reservations in (0, 1, 3, "all")),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_long_job_waits_for_the_end_of_prime_time_and_a_short_one_passes_it(policy):
    works = [Work(1, 0, 20, 8, 20), Work(2, 1, 5, 8, 5), Work(3, 40, 20, 8, 20)]
    times = [PrimeTime(10.0, [(0.0, 30 / 3600), (45 / 3600, 70 / 3600)])]
    jobs = play(works, CAPACITY, policy, prime_times=times).record.jobs
    # The third one comes in when the first holds all processors, which come back in prime time.
    assert [job.start for job in jobs] == [30, 1, 70]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_no_long_job_starts_in_prime_time_and_all_are_done(policy):
    times = PrimeTime(4.0, [(begin / 3600, (begin + 25) / 3600) for begin in range(0, 1000, 40)])
    works = random_works(random.Random(str(policy)), 120)
    jobs = play(works, CAPACITY, policy, prime_times=[times]).record.jobs
    assert all(job.end is not None for job in jobs)
    long = [job for job in jobs if job.estimate > 4]
    assert len(long) > 20
    assert not any(times.now(job.start) for job in long)
    assert any(times.now(job.start) for job in jobs)


def test_prime_time_of_a_log_is_found():
    rng = np.random.default_rng(1)
    submit = np.sort(rng.uniform(0, 20 * WEEK, 6000))
    estimate = rng.choice([600.0, 3600.0, 14400.0, 50000.0], 6000)
    closed = PrimeTime(14400.0, [(day * 24.0 + 8, day * 24.0 + 19) for day in range(5)])
    wait = np.zeros(6000)
    for job in np.flatnonzero(estimate > 14400):
        if closed.now(submit[job] - submit[0]):
            wait[job] = next_change([closed], submit[job] - submit[0]) - submit[job] + submit[0]
    assert prime_times(submit, wait, estimate) == [
        {"longest": 14400.0, "hours": [[day * 24.0 + 8, day * 24.0 + 19] for day in range(5)]}
    ]
    # Whoever waits for other reasons shows none.
    assert prime_times(submit, rng.exponential(7200.0, 6000), estimate) == []


@pytest.mark.parametrize("tenth", range(1, 1680, 7))
def test_it_is_over_at_the_moment_that_is_said_also_where_hours_are_no_whole_numbers(tenth):
    times = [PrimeTime(10.0, [(0.0, tenth / 10)])]
    for week in (0, 1, 37):
        over = next_change(times, week * WEEK + 1.0)
        assert over == pytest.approx(week * WEEK + 360 * tenth)
        assert (longest_at(times, over - 1.0), longest_at(times, over)) == (10.0, inf)


@pytest.mark.parametrize(("began", "dated"), [(86400, True), (100 * 3600, True), (100 * 3600, False)])
@pytest.mark.parametrize("chosen", [{}, {"first": 3}, {"start": 1800.0}])
def test_hours_from_a_date_are_those_of_the_clock_of_the_log_that_is_replayed(tmp_path, began, dated, chosen):
    """A job of two hours comes each hour for a week; on Mondays (e.g. 1970-01-05) none starts before 12."""
    header = [f"; UnixStartTime: {began}", "; MaxProcs: 99"][not dated :]
    rows = [f"{k} {k * 3600} 0 7200 1 -1 -1 1 7200 -1 1 1 1 1 1 -1 -1 -1" for k in range(1, 168)]
    (tmp_path / "log.swf").write_text("\n".join([*header, *rows]) + "\n")
    times = [{"longest": 3600.0, "hours": [[0.0, 12.0]], "since": 4 * 86400.0}]
    made = load("batch/replay").override(
        {"workload.trace": str(tmp_path / "log.swf"), "site.cluster.prime_time": times}
        | {f"workload.{key}": value for key, value in chosen.items()}
    )
    # The file begins at its first job: times of the workload count from there.
    origin = 3600.0 + chosen.get("start", 3600.0 * (chosen.get("first", 1) - 1))
    zero = began + origin if dated else 4 * 86400.0
    jobs = simulate(made).record.jobs
    assert len(jobs) >= 160
    for job in jobs:
        hour = ((zero + job.submit) / 3600 - 96) % 168  # of the week that begins on Monday
        assert job.start - job.submit == pytest.approx((12 - hour) * 3600 if hour < 12 else 0)
    assert any("no log says when it began" in line for line in faults(made)) != dated


def test_prime_time_that_is_found_counts_from_the_date_of_its_log(tmp_path):
    one = {"longest": 60.0, "hours": [[1.0, 9.0]]}
    values = {"site.cluster.policy": "easy", "site.cluster.prime_time": [one]}
    found = replace(calibrated_as(values), since=5.0)
    (written,) = load_text(scenario_text(found), tmp_path).spec.site[0].prime_time
    assert (written.since, written.times) == (5.0, PrimeTime(60.0, [(1.0, 9.0)]))
    assert written.from_run(5.0).hours == one["hours"], "exactly as calibrated"


def test_dates_are_known_of_accounting_and_of_some_logs_in_swf(tmp_path):
    rows = {
        "sacct": "JobID|Submit|Start|End|AllocCPUS\n1|1970-01-05T00:00:07|1970-01-05T01:00:00|360000|1",
        "csv": "id,submit,start,end,procs,walltime\n1,7,8,9,1,9",
        **{
            begin: f"; UnixStartTime: {begin}\n1 7 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1"
            for begin in ("1735689600", "0", "nan", "inf", "unknown", "")
        },
    }
    known = {}
    for name, text in rows.items():
        (tmp_path / "log").write_text(text + "\n")
        known[name] = clock_of(read_trace(tmp_path / "log"))
    assert known.pop("sacct") == 4 * 86400 + 7
    assert known.pop("1735689600") == 1735689607
    assert set(known.values()) == {None}


def test_hours_are_moved_within_the_week():
    one = PrimeTimeSpec(longest=1.0, hours=[[0.0, 168.0], [8.0, 19.0]], since=3600.0)
    for began in (0.0, 3600.0 - 1e-7, 3600.0, 3600.1, 90 * 3600.0 + 0.3):
        moved = one.from_run(began).times
        assert moved.hours[1][0] == pytest.approx((8 - (began / 3600 - 1)) % 168)
        assert moved.hours[1][1] - moved.hours[1][0] == pytest.approx(11)
