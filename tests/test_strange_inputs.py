"""Inputs that Hypothesis makes: documents, paths, traces, manifests and journals are taken or refused."""

import json
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.main import get_command

from gridtune import cli
from gridtune.model.policy import PolicyError
from gridtune.optimize.runs.stored import load as load_study
from gridtune.optimize.search import search
from gridtune.optimize.studies.places import JOURNAL, TABLE
from gridtune.scenarios import ScenarioError, load, shipped_names
from gridtune.scenarios.document.paths import parse_assignments
from gridtune.scenarios.trace_files import find_trace
from gridtune.scenarios.traces.summary import summarise
from gridtune.scenarios.traces.summary_text import summary_lines
from search_toys import VARY, Interrupting, toy
from tests import strange_inputs as strange
from tests.processes import TESTS, environment

REFUSALS = (ScenarioError, PolicyError)
SCENARIOS = {name: load(name) for name in shipped_names() if "federation" not in name}
SMALL = [name for name, one in SCENARIOS.items() if len(json.dumps(one.document)) < 4000]
MANIFEST = {"scenario": "x", "base": ".", "document": SCENARIOS["diet/day-regular"].document, "plugins": {}}

fuzzed = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.data_too_large,
    ],
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(strange.STRANGE)
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)
# Hypothesis decides what such a generator draws, and makes it simpler where something goes wrong.
dice = st.randoms(use_true_random=False)

KEPT = (JOURNAL, TABLE)


def refused(attempt):
    """Whether something is refused; any other error is passed on. What is said is fit for a terminal."""
    try:
        attempt()
    except REFUSALS as error:
        faults = getattr(error, "faults", [str(error)])
        assert faults
        assert all(faults)
        assert all(len(fault) < 5000 for fault in faults), "too long to be read"
        return True
    return False


def test_other_errors_are_noticed():
    with pytest.raises(KeyError):
        refused(lambda: {}["gone"])


@pytest.mark.long
@fuzzed
@given(dice, st.sampled_from(SMALL), values)
def test_documents_are_taken_or_refused(rng, name, value):
    document = strange.changed_tree(rng, SCENARIOS[name].document)
    if isinstance(document, dict) and (known := list(strange.places(document))) and rng.random() < 0.5:
        where, key = rng.choice(known)
        where[key] = value
    scenario = SCENARIOS[name].__class__("mine.toml", document, Path("."))
    refused(lambda: scenario.spec)


@pytest.mark.long
@fuzzed
@given(dice, st.sampled_from(SMALL), values | st.sampled_from(strange.LITERALS), st.text(max_size=6))
def test_paths_and_values_are_taken_or_refused(rng, name, value, letters):
    path = strange.path_of(rng, SCENARIOS[name].document)
    texts = [f"{path}{letters if rng.random() < 0.2 else ''}={value}"]
    if rng.random() < 0.2:
        texts.append(letters)
    refused(lambda: SCENARIOS[name].override(parse_assignments(texts)))
    refused(lambda: SCENARIOS[name].override({path: value}))


@fuzzed
@given(dice, st.sampled_from(["swf", "gwf", "swf.gz", "gwf.bz2", "swf.xz"]), st.binary(max_size=200))
def test_traces_are_read_or_refused(tmp_path, rng, suffix, tail):
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(strange.trace(rng) + (tail if rng.random() < 0.3 else b""))
    refused(lambda: summary_lines(summarise(find_trace(str(path)))))


@pytest.mark.long
@fuzzed
@given(dice, values, st.booleans())
def test_manifests_are_taken_or_refused(tmp_path, rng, value, whole):
    about = strange.changed_tree(rng, MANIFEST)
    if isinstance(about, dict) and rng.random() < 0.3:
        about[rng.choice([*about, "x"])] = value
    text = json.dumps(about).encode()
    path = tmp_path / "manifest.json"
    path.write_bytes(text if whole else strange.changed_bytes(rng, text))
    refused(lambda: load(path))


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A finished search and one that was interrupted."""
    found = []
    for name, work in (("whole", toy), ("interrupted", Interrupting(30, toy))):
        out = tmp_path_factory.mktemp(name)
        options = {"budget": 8, "vary": VARY, "replications": 2, "sampler": "random"}
        with suppress(KeyboardInterrupt):
            search(SCENARIOS["diet/day-regular"], **options, work=work, out=out)
        found.append({name: (out / name).read_bytes() for name in KEPT})
    return found


@pytest.mark.long
@fuzzed
@given(dice)
def test_studies_are_read_or_refused(studies, tmp_path, rng):
    content = dict(rng.choice(studies))
    damaged = rng.choice(KEPT)
    for _ in range(rng.randint(1, 3)):
        change = strange.changed_bytes if rng.random() < 0.4 else _changed_lines
        content[damaged] = change(rng, content[damaged])
    out = tmp_path / "study"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for name, text in content.items():
        (out / name).write_bytes(text)
    refused(lambda: load_study(out))
    refused(lambda: load_study(out, skip_broken=True))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == content
    options = {"budget": 8, "vary": VARY, "replications": 2, "sampler": "random"}
    refused(lambda: search(SCENARIOS["diet/day-regular"], **options, work=toy, out=out, resume=True))


def _changed_lines(rng, content):
    try:
        return strange.changed_lines(rng, content)
    except (ValueError, AttributeError):  # it is no journal any more
        return strange.changed_bytes(rng, content)


def test_every_command_that_is_called_has_options_to_try():
    commands = strange.commands_of(get_command(cli.app))
    for name in strange.CALLS:
        kinds = [one.param_type_name for one in commands[name].params]
        assert kinds.count("option") >= 3, name


@pytest.mark.long
def test_generated_inputs_meet_one_boundary(tmp_path):
    """A few of what `tests.benchmarks.fuzz` generates by the thousand."""
    start = str(random.Random("gridtune").randrange(10**6))
    words = [sys.executable, "-m", "tests.benchmarks.fuzz", "10", "--seed", start]
    made = subprocess.run(
        words, cwd=TESTS.parent, env=environment(TMPDIR=str(tmp_path)), capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert " refused" in made.stdout
