"""A search that was interrupted or killed goes on where it was, and ends as if nothing had happened."""

import importlib
import signal
import subprocess
import sys
from contextlib import nullcontext

import pytest
from optuna.storages.journal import JournalFileBackend

from gridtune.model.metrics.custom import exactly
from gridtune.model.policy import unregister
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.optimize.studies import tables
from gridtune.optimize.studies.places import JOURNAL
from gridtune.optimize.studies.stored_study import read_study
from gridtune.scenarios import ScenarioError, load
from search_toys import SAMPLERS, VARY, Interrupting, toy, toy_with_baseline
from tests.contents import content
from tests.processes import PATIENCE, TESTS, environment, heed_interrupts, until


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular")


def run(scenario, **options):
    return search(scenario, **{"budget": 40, "vary": VARY, "work": toy, "replications": 2, **options})


def counted(calls):
    def work(task):
        calls.append(task.replication)
        return toy(task)

    return work


@pytest.mark.long
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_resumed_search_equals_an_uninterrupted_one(scenario, tmp_path, sampler):
    with pytest.raises(KeyboardInterrupt):
        run(scenario, sampler=sampler, out=tmp_path, work=Interrupting(51, toy))
    assert len(stored.load(tmp_path).archive.evaluations) == 25
    calls = []
    resumed = run(scenario, sampler=sampler, out=tmp_path, resume=True, work=counted(calls))
    whole = run(scenario, sampler=sampler)
    assert content(resumed.archive) == content(whole.archive) == content(stored.load(tmp_path).archive)
    assert resumed.simulated == len(calls) == whole.simulated - 51
    assert sum(replication < 2 for replication in calls) == 29, "a run of the 26th configuration was done"


@pytest.mark.long
def test_a_finished_search_is_not_run_again(scenario, tmp_path):
    first = run(scenario, out=tmp_path)
    calls = []
    again = run(scenario, out=tmp_path, resume=True, work=counted(calls))
    assert calls == []
    assert again.simulated == 0
    assert content(again.archive) == content(first.archive)


@pytest.mark.long
@pytest.mark.parametrize("sampler", ["auto", "nsga2", "pymoo-nsga2"])
def test_a_search_can_be_given_more_budget(scenario, tmp_path, sampler):
    small = run(scenario, out=tmp_path, budget=15, sampler=sampler)
    calls = []
    large = run(scenario, out=tmp_path, budget=35, sampler=sampler, resume=True, work=counted(calls))
    assert sum(replication < 2 for replication in calls) == 40
    assert [e.values for e in large.archive.evaluations[:15]] == [e.values for e in small.archive.evaluations]
    assert len(stored.load(tmp_path).archive.evaluations) == 35


@pytest.mark.long
def test_an_interrupted_validation_is_finished_later(scenario, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(scenario, out=tmp_path, work=Interrupting(80 + 12, toy))
    calls = []
    resumed = run(scenario, out=tmp_path, resume=True, work=counted(calls))
    whole = run(scenario)
    assert content(resumed.archive) == content(whole.archive)
    assert len(calls) == whole.simulated - 92
    assert not any(replication < 2 for replication in calls)


@pytest.mark.long
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_killed_search_goes_on_to_its_full_budget(scenario, tmp_path, sent):
    out = tmp_path / "out"
    coordinator = subprocess.Popen(
        [sys.executable, TESTS / "search_toys.py", out, "nsga2"],
        env=environment(),
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    until(lambda: _lines(out / JOURNAL) > 15)
    coordinator.send_signal(sent)
    expected = -signal.SIGKILL if sent == signal.SIGKILL else 130
    assert coordinator.wait(PATIENCE) == expected, coordinator.stderr.read().decode()
    assert 10 <= len(stored.load(out).archive.evaluations) < 60
    kept = len(read_study(out).runs)
    resumed = search(scenario, budget=60, sampler="nsga2", vary=VARY, jobs=2, out=out, resume=True, work=toy)
    whole = search(scenario, budget=60, sampler="nsga2", vary=VARY, work=toy)
    assert content(resumed.archive) == content(whole.archive)
    assert resumed.simulated == whole.simulated - kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 2}, "seed was 1, not 2"),
        ({"replications": 5}, "replications was 2, not 5"),
        ({"sampler": "random"}, "sampler was surrogate, not random"),
        ({"batch": 3}, "batch was 8, not 3"),
        ({"objectives": ["unfairness"]}, "the objectives changed"),
        ({"vary": ["sed.speed=0.5:3.0"]}, "the space changed"),
    ],
)
def test_a_study_is_not_resumed_as_something_else(scenario, tmp_path, options, message):
    run(scenario, out=tmp_path, budget=12)
    with pytest.raises(ScenarioError, match=f"cannot be resumed: {message}"):
        run(scenario, out=tmp_path, resume=True, **options)


OWN = """
from dataclasses import dataclass
from functools import partial
import gridtune as gt

@gt.metric("own_delay", unit="s", direction="minimize")
def own_delay(run, more=0.0):
    "A delay."
    return 1.0 + more

@gt.policies.register("retry", "own-wait")
@dataclass(frozen=True)
class OwnWait(gt.policies.Retry):
    "A wait."
    first: float = gt.policies.parameter(2.0, help="the first", unit="s")
    table: object = gt.policies.parameter(object(), help="has an address")
    @staticmethod
    def base() -> float:
# a comment
        return 4.0
    def wait(self, failures: int) -> float:
        return self.first * 3.0 if failures in {1, 2, 5} else self.base()

gt.metric("own_part", unit="s", direction="minimize", meaning="A part.")(partial(own_delay, more=6.0))
"""


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("    return 1.0 + more", "\n    return 1.0 + more  # s", None),
        ("import gridtune", "\n\nimport gridtune", None),
        ("return 1.0", "return 1.5", "the metric own_delay and the metric own_part"),
        ("=6.0", "=6.5", "the metric own_part"),
        ("4.0", "4.5", "the retry policy own-wait"),
        ("5}", "6}", "the retry policy own-wait"),
        ("* 3.0", "* 3.5", "the retry policy own-wait"),
        ("(2.0", "(2.5", "the retry policy own-wait"),
    ],
)
def test_a_study_is_not_resumed_with_other_definitions_of_the_program(
    scenario, tmp_path, monkeypatch, old, new, changed
):
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "own_definitions.py"
    path.write_text(OWN)
    with exactly(()):
        own = importlib.import_module(path.stem)
        try:
            run(scenario, out=tmp_path / "out", budget=3)
            path.write_text(OWN.replace(old, new) + "# longer\n")
            importlib.reload(own)
            with pytest.raises(ScenarioError, match=f"{changed} changed$") if changed else nullcontext():
                run(scenario, out=tmp_path / "out", budget=4, resume=True)
        finally:
            unregister(path.stem)
            del sys.modules[path.stem]


@pytest.mark.long
def test_where_there_is_no_study_to_resume_one_begins_and_says_so(scenario, tmp_path):
    class Heard(Progress):
        def __init__(self):
            self.notes = []

        def note(self, text):
            self.notes.append(text)

    said = "note: diet/day-regular: there is no study of that name to resume; it begins"
    first, again = Heard(), Heard()
    begun = run(scenario, out=tmp_path, resume=True, progress=first)
    assert said in first.notes
    repeated = run(scenario, out=tmp_path, resume=True, progress=again)
    made = [[one.values for one in some.archive.evaluations] for some in (begun, repeated)]
    assert made[0] == made[1]
    assert said not in again.notes


def test_a_changed_scenario_is_not_resumed_but_a_changed_title_is_no_matter(scenario, tmp_path):
    run(scenario, out=tmp_path, budget=3)
    other = scenario.override(
        {"client.n_submit": 2, "sed.speed": 3.0, "sed.count": 4, "network.latency": 0.0}
    )
    with pytest.raises(ScenarioError, match=r"scenario .*\(network\.latency, sed\.count, sed\.speed, …\)"):
        run(other, out=tmp_path, budget=4, resume=True)
    run(scenario.override({"title": "Better title"}), out=tmp_path, budget=4, resume=True)


@pytest.mark.long
def test_any_storage_that_optuna_knows_will_do(scenario, tmp_path):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with pytest.raises(KeyboardInterrupt):
        run(scenario, storage=url, budget=10, work=Interrupting(9, toy))
    assert len(stored.load(url).archive.evaluations) == 4
    run(scenario, storage=url, budget=10, resume=True)
    assert content(stored.load(url).archive) == content(run(scenario, budget=10).archive)
    journal = tmp_path / "mine.log"
    run(scenario, storage=str(journal), budget=3)
    assert len(stored.load(journal).archive.evaluations) == 3


def _never(task):
    raise AssertionError("evaluated")


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        ("sqlite:////no/such/place/studies.db", "studies.db: .*No such file or directory$"),
        ("postgresql://me:secret@127.0.0.1:1/db", r"postgresql://me:\*\*\*@127.0.0.1:1/db: cannot be "),
        ("nonsense://x", "nonsense://"),
        ("sqlite:studies.db", "sqlite:studies.db: .* ://"),
        ("sqlite://", "sqlite://: names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
def test_an_unreachable_storage_is_refused_before_anything_is_evaluated(scenario, storage, message):
    with pytest.raises(ScenarioError, match=message) as caught:
        run(scenario, storage=storage, work=_never)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_directory_that_cannot_be_written_is_refused_before_anything_is_evaluated(scenario, tmp_path):
    file = tmp_path / "file"
    file.write_text("not a directory")
    for out in (file, file / "below"):
        with pytest.raises(ScenarioError, match=r"cannot be written there: (File exists|Not a directory)"):
            run(scenario, out=out, work=_never)
        with pytest.raises(ScenarioError, match=r"cannot be written there: (File exists|Not a directory)"):
            run(scenario, out=out, storage=f"sqlite:///{tmp_path}/studies.db", work=_never)
    assert not (tmp_path / "studies.db").exists()
    assert file.read_text() == "not a directory"


@pytest.mark.long
@pytest.mark.parametrize("writes", [0, 1, 5, 30])
@pytest.mark.parametrize("owner", [(tables.FileTable, "append"), (JournalFileBackend, "append_logs")])
def test_a_storage_that_stops_working_ends_the_search_in_one_line(
    scenario, tmp_path, monkeypatch, owner, writes
):
    write = getattr(*owner)
    done = []

    def full(self, *arguments):
        done.append(arguments)
        if len(done) > writes:
            raise OSError(28, "No space left on device")
        write(self, *arguments)

    monkeypatch.setattr(*owner, full)
    with pytest.raises(ScenarioError, match=f"{JOURNAL}: .*No space left on device"):
        run(scenario, out=tmp_path)
    monkeypatch.undo()
    resumed = run(scenario, out=tmp_path, resume=True)
    assert content(resumed.archive) == content(run(scenario).archive)


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"runs": 100}, {"runs": 130}),
        ({"budget": 15}, {"budget": 35}),
        ({"budget": 15, "validation_replications": 5}, {"budget": 35, "validation_replications": 3}),
        ({"budget": 35}, {"budget": 15}),
    ],
)
def test_what_a_search_with_more_budget_says_is_what_the_study_says(scenario, tmp_path, first, then):
    """Also of configurations and validation runs that only the earlier search came to."""
    options = {"work": toy_with_baseline, "baseline": True, "sampler": "random", "out": tmp_path}
    before = run(scenario, **options | {"budget": None} | first).archive
    after = run(scenario, **options | {"budget": None} | then, resume=True).archive
    assert content(after) == content(stored.load(tmp_path).archive)
    numbers = {one.number: one.values for one in after.evaluations}
    assert len(numbers) == len(after.evaluations)
    assert numbers | {one.number: one.values for one in before.evaluations} == numbers, (
        "none is lost or renamed"
    )
    again = run(scenario, **options | {"budget": None, "work": _never} | then, resume=True)
    assert content(again.archive) == content(after)


def test_a_name_behind_the_place_chooses_one_of_several_studies(scenario, tmp_path):
    place = f"sqlite:///{tmp_path}/several.db"
    for name in ("one", "two"):
        run(scenario, budget=2, storage=place, study=name)
    with pytest.raises(ScenarioError, match=r"several.db: .*#NAME; .*one, two"):
        read_study(place)
    assert read_study(f"{place}#two").name == "two"
    with pytest.raises(ScenarioError, match=r"no such study; .*one, two"):
        read_study(f"{place}#three")


def test_a_folder_holds_one_study(scenario, tmp_path):
    run(scenario, budget=2, out=tmp_path / "a#b")
    assert read_study(tmp_path / "a#b").name == "diet/day-regular", "a folder may have such a name"
    with pytest.raises(ScenarioError, match=r"diet/day-regular, not dirac/search"):
        search(load("dirac/search"), budget=2, out=tmp_path / "a#b", resume=True)


def test_a_search_on_a_log_that_changed_is_not_resumed(tmp_path):
    log = tmp_path / "site.csv"
    rows = [f"{k},{60 * k},{60 * k + 30},{60 * k + 90 + k},1,600" for k in range(1, 9)]
    log.write_text("\n".join(["id,submit,start,end,procs,walltime", *rows]) + "\n")
    replay = load("batch/replay").override(
        {"workload.trace": str(log), "workload.resample": "none", "site.cluster.nodes": 2}
    )
    more = {"vary": ["site.cluster.policy=fcfs,easy"], "seed": 1, "out": tmp_path / "out"}
    first = search(replay, budget=2, **more)
    assert any("--replications 1" in note for note in first.notes), "nothing is random in a log as it is"
    assert len(search(replay, budget=2, resume=True, **more).archive.evaluations) == 2
    log.write_text(log.read_text().replace(",1,600", ",2,600", 1))
    with pytest.raises(ScenarioError, match=r"resumed: .*logs changed"):
        search(replay, budget=2, resume=True, **more)
