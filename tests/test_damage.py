"""Damaged studies: what is wrong is named, what is whole is salvaged, and no number is ever wrong."""

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import optuna
import pytest
from optuna.storages.journal import JournalFileBackend

from databases import postgresql_database
from gridtune.optimize.records.evaluations import Failed
from gridtune.optimize.search import search
from gridtune.optimize.storages.damage import DamagedError
from gridtune.optimize.storages.sqlite_pages import rows
from gridtune.optimize.storages.storage import JOURNAL
from gridtune.optimize.study.mending import mend
from gridtune.optimize.study.study import load
from gridtune.scenarios import ScenarioError
from gridtune.scenarios import load as load_scenario
from search_toys import VARY, forget_checksums, noisy
from tests.contents import content
from tests.test_cli import gridtune, refused

SCENARIO = load_scenario("diet/day-regular")
DAMAGES = 200


def _search(**options):
    standard = {"budget": 20, "vary": VARY, "work": noisy, "replications": 2, "max_replications": 4}
    return search(SCENARIO, **{**standard, "sampler": "random", **options})


def _values(entry):
    """Everything that a number could be wrong in."""
    found = {"values": dict(entry.values)}
    if not isinstance(entry, Failed):
        found["objectives"] = {name: list(one.values) for name, one in entry.objectives.items()}
        found["fresh"] = {name: list(one.values) for name, one in (entry.validated or {}).items()}
    return found


def _starts(short, long):
    """Whether what is known of a point is the beginning of what was."""
    return short["values"] == long["values"] and all(
        values == long[kind].get(name, [])[: len(values)]
        for kind in ("objectives", "fresh")
        for name, values in short[kind].items()
    )


def attempted(where, **options):
    """What is loaded, and the one line that is said instead."""
    try:
        return load(where, **options), ""
    except ScenarioError as error:
        faults = error.faults
    assert len(faults) == 1
    assert "\n" not in faults[0]
    return None, faults[0]


class Truth:
    """What was written, to compare with what is found."""

    def __init__(self, archive):
        self.entries = {entry.number: _values(entry) for entry in archive.evaluations}
        self.archive = content(archive)

    def check(self, where):
        """Look at a damaged study. Says what came of it; fails if anything is wrong."""
        found, refusal = attempted(where)
        outcome = "whole"
        if refusal:
            assert str(where).removeprefix("sqlite:///") in refusal
            outcome = "named"
        elif content(found.archive) != self.archive:  # the search as it was at an earlier time
            assert found.notes, "not noticed"
            self.compare(found.archive)
            outcome = "earlier"
        saved, refusal = attempted(where, salvage=True)
        if refusal:
            return outcome, 0
        self.compare(saved.archive)
        return outcome, len(saved.archive.evaluations)

    def compare(self, archive):
        for entry in archive.evaluations:
            assert _starts(_values(entry), self.entries[entry.number]), entry.number


def _flip(draw, content):
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def _cut(draw, content):
    return content[: draw.randrange(1, len(content))]


def _hole(draw, content):
    at = draw.randrange(len(content))
    return content[:at] + content[at + draw.randrange(1, 200) :]


def _zeros(draw, content):
    at, length = draw.randrange(len(content)), draw.randrange(1, 600)
    return (content[:at] + bytes(length) + content[at + length :])[: len(content)]


def _without_a_line(draw, content):
    lines = content.splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def _line_twice(draw, content):
    lines = content.splitlines(keepends=True)
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    return b"".join(lines)


def _edited(draw, content):
    """Another digit in the place of one: still a journal, still numbers."""
    places = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
    at = draw.choice(places)
    return content[:at] + str((int(chr(content[at])) + 1) % 10).encode() + content[at + 1 :]


def _resigned(draw, content):
    """As one who edits a line and takes its checksum away."""
    lines = content.splitlines(keepends=True)
    at = draw.randrange(len(lines))
    log = json.loads(lines[at])
    del log["record"], log["check"]
    lines[at] = json.dumps(log).replace(":0.", ":9.").encode() + b"\n"
    return b"".join(lines)


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    out = tmp_path_factory.mktemp("journal")
    return Truth(_search(out=out).archive), (out / JOURNAL).read_bytes()


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("database") / "studies.db"
    return Truth(_search(storage=f"sqlite:///{path}").archive), path.read_bytes()


LINES = [_flip, _cut, _hole, _zeros, _without_a_line, _line_twice, _edited, _resigned]


def test_no_damage_of_a_journal_goes_unnoticed(journal, tmp_path):
    truth, content = journal
    path = tmp_path / JOURNAL
    path.write_bytes(content)
    assert truth.check(path) == ("whole", 20)
    outcomes = []
    for number in range(DAMAGES):
        damage, draw = LINES[number % len(LINES)], random.Random(number)
        path.write_bytes(damage(draw, content))
        outcome, saved = truth.check(path)
        assert path.read_bytes() == damage(random.Random(number), content)
        lost = _lost(content, path.read_bytes())
        assert saved >= 20 - lost, (number, damage.__name__, saved, lost)
        outcomes.append(outcome)
    assert outcomes.count("named") > 0.75 * DAMAGES
    assert outcomes.count("whole") <= 2, "a newline that ends nothing"


def _lost(content, damaged):
    """Evaluations whose lines are not whole any more."""
    trials = [line for line in content.splitlines() if line.startswith(b'{"op_code":4')]
    settings = [line for line in content.splitlines() if b'"gridtune' in line]
    if not any(line in damaged for line in settings):
        return 20
    # The end of a file is not the end of a line.
    return sum(line not in damaged or damaged.endswith(line) for line in trials)


def _rows(draw, content, path):
    """A row of any table is gone, or differs in a digit."""
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as connection, connection:
        tables = ["trials", "trial_user_attributes", "trial_params", "trial_values", "study_user_attributes"]
        table = draw.choice(tables)
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        key, last = columns[0], "number" if table == "trials" else columns[3]
        row = draw.choice(connection.execute(f"SELECT {key}, {last} FROM {table}").fetchall())
        if draw.random() < 0.5:
            connection.execute(f"DELETE FROM {table} WHERE {key} = ?", row[:1])
        else:
            text = str(row[1])
            digits = [at for at, one in enumerate(text) if one.isdigit()]
            if digits:
                at = draw.choice(digits)
                changed = f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"
                connection.execute(f"UPDATE {table} SET {last} = ? WHERE {key} = ?", (changed, row[0]))
    return path.read_bytes()


def _bytewise(damage):
    return lambda draw, content, _: damage(draw, content)


PAGES = [_bytewise(_flip), _bytewise(_cut), _bytewise(_zeros), _bytewise(_hole), _rows]


def test_no_damage_of_a_database_goes_unnoticed(database, tmp_path):
    truth, content = database
    path = tmp_path / "studies.db"
    path.write_bytes(content)
    assert truth.check(f"sqlite:///{path}") == ("whole", 20)
    outcomes, saved = [], []
    for number in range(DAMAGES):
        damage = PAGES[number % len(PAGES)]
        damaged = damage(random.Random(number), content, path)
        path.write_bytes(damaged)
        outcome, count = truth.check(f"sqlite:///{path}")
        assert path.read_bytes() == damaged
        outcomes.append(outcome)
        saved.append(count)
    assert outcomes.count("earlier") == 0
    assert outcomes.count("named") > 0.6 * DAMAGES, "the rest hits what is not used"
    assert sum(saved) > 0.6 * 20 * DAMAGES


@pytest.mark.parametrize("table", ["trials", "version_info", "trial_user_attributes"])
def test_a_database_that_lacks_a_table_is_refused_in_one_line(database, table, tmp_path):
    """Nothing that Optuna or SQLAlchemy have to say is said beside it."""
    path = tmp_path / "studies.db"
    path.write_bytes(database[1])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DROP TABLE {table}")
    assert f"no such table: {table}" in refused("front", f"sqlite:///{path}")


def test_the_pages_of_a_database_hold_what_sqlite_reads(database, tmp_path):
    path = tmp_path / "studies.db"
    path.write_bytes(database[1])
    with closing(sqlite3.connect(path)) as connection:
        for table in ("trial_user_attributes", "study_user_attributes", "trial_params", "trials"):
            found = list(rows(path))
            for row in connection.execute(f"SELECT * FROM {table}"):
                assert list(row) in found


def test_a_whole_line_is_salvaged_though_the_one_before_has_run_into_it(journal, tmp_path):
    truth, content = journal
    lines = content.splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if b'"check":[7,' in line)
    lines[at] = lines[at][:100]
    (tmp_path / JOURNAL).write_bytes(b"".join(lines))
    assert truth.check(tmp_path / JOURNAL) == ("named", 19)


@pytest.mark.parametrize("storage", ["journal", "sqlite", "postgresql"])
def test_what_is_whole_is_salvaged_and_what_is_not_is_named(storage, tmp_path):
    if storage == "postgresql":
        with postgresql_database() as url:
            _salvaged(url)
    else:
        _salvaged(str(tmp_path / "my.log") if storage == "journal" else f"sqlite:///{tmp_path}/my.db")


def _salvaged(where):
    truth = Truth(_search(storage=where).archive)
    if "://" in where:
        storage = optuna.storages.RDBStorage(where.replace("postgresql:", "postgresql+psycopg:"))
        with storage.engine.begin() as connection:
            text = "UPDATE trial_user_attributes SET value_json = '{}' WHERE key = 'metrics' AND trial_id = 8"
            connection.exec_driver_sql(text)
        storage.remove_session()
        storage.engine.dispose()
        named = "evaluation 7 was changed"
    else:
        with open(where, "rb+") as file:
            lines = file.readlines()
            at = next(at for at, line in enumerate(lines) if b'"check":[7,' in line)
            lines[at] = lines[at].replace(b'"metrics":', b'"metricz":')
            file.seek(0)
            file.writelines(lines)
        named = f"line {at + 1} is garbled"
    with pytest.raises(DamagedError, match=rf"damaged: {named}.*; `gridtune front .* --salvage`"):
        load(where)
    with pytest.raises(DamagedError, match=named):
        _search(storage=where, resume=True)
    saved = load(where, salvage=True)
    truth.compare(saved.archive)
    assert [entry.number for entry in saved.archive.evaluations] == [*range(7), *range(8, 20)]
    assert any("7" in note or named in note for note in saved.notes)


def test_the_command_salvages(tmp_path):
    _search(out=tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes().replace(b'"check":[7,', b'"check":[8,', 1))
    assert refused("front", tmp_path, "--format", "json").startswith(f"gridtune: {path}: damaged: line ")
    shown = gridtune("front", tmp_path, "--format", "json", "--salvage")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["evaluations"] == 19
    assert shown.stderr.startswith(f"note: {tmp_path}: passed over: line ")
    mended = tmp_path / "mended.log"
    shown = gridtune("front", tmp_path, "--mend", mended)
    assert shown.returncode == 0, shown.stderr
    assert f"note: {mended}: has 19 evaluations; --storage {mended} --resume goes on" in shown.stderr
    assert len(load(mended).archive.evaluations) == 19


def test_a_study_from_before_there_were_checksums_is_read_and_resumed(tmp_path):
    whole = _search(out=tmp_path).archive
    path = tmp_path / JOURNAL
    logs = [json.loads(line) for line in path.read_bytes().splitlines()]
    for log in logs:
        del log["record"], log["check"]
        for name in ("gridtune:copy", "closed"):
            log.get("user_attr", {}).pop(name, None)
    path.write_text("".join(json.dumps(log) + "\n" for log in logs if log.get("user_attr", True)))
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    forget_checksums(optuna.load_study(study_name="diet/day-regular", storage=storage))
    assert content(load(tmp_path).archive) == content(whole)
    assert load(tmp_path).notes == ()
    # What the shorter search has validated stays so, be it promising in the longer one or not.
    one, other = (_search(budget=25, **more).archive for more in ({"out": tmp_path, "resume": True}, {}))
    searched = [
        [replace(each, validated=None, validated_cases=None) for each in archive.evaluations[:5]]
        for archive in (one, other)
    ]
    assert content(searched[0]) == content(searched[1])
    assert len(load(tmp_path).archive.evaluations) == 25


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda log: log["user_attr"]["gridtune"].update(batch="8"), "its settings are garbled: batch"),
        (lambda log: log["user_attr"]["gridtune"].update(objectives=[["a", "up", ""]]), "direction"),
        (lambda log: log["user_attr"]["gridtune"].pop("space"), "its settings are garbled: space"),
        (lambda log: log["user_attr"].update(gridtune=[1]), "settings are none"),
    ],
)
def test_settings_from_before_there_were_checksums_are_validated(edit, named, tmp_path):
    _refused_edit(tmp_path, edit, named, lambda log: "gridtune" in log.get("user_attr", {}))


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda known: known["objectives"]["completed"].update(mean="12"), "evaluation 0 is garbled"),
        (lambda known: known["objectives"]["completed"].update(mean=True), "evaluation 0 is garbled"),
        (lambda known: known["objectives"]["completed"].update(mean=1e9), "mean is not that of the values"),
        (lambda known: known["objectives"]["completed"].update(values=[]), "evaluation 0 is garbled"),
        (lambda known: known["objectives"].pop("completed"), "its objectives are others"),
        (lambda known: known.update(metrics=7), "evaluation 0 is garbled: metrics"),
    ],
)
def test_entries_from_before_there_were_checksums_are_validated(edit, named, tmp_path):
    _refused_edit(tmp_path, lambda log: edit(log["user_attrs"]), named, lambda log: log["op_code"] == 4)


def _refused_edit(folder, edit, named, wanted):
    _search(out=folder, budget=2)
    path = folder / JOURNAL
    logs = [json.loads(line) for line in path.read_bytes().splitlines()]
    for log in logs:
        del log["record"], log["check"]
        settings = log.get("user_attr", {}).get("gridtune", {})
        for name in ("identity", "check", "study"):
            settings.pop(name, None)
    edit(next(log for log in logs if wanted(log)))
    path.write_text("".join(json.dumps(log) + "\n" for log in logs))
    with pytest.raises(ScenarioError, match=named) as caught:
        load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ended", [True, False])
def test_a_mended_study_is_gone_on_with_to_the_same_front(ended, tmp_path):
    whole = _search(out=tmp_path / "whole").archive
    lines = (tmp_path / "whole" / JOURNAL).read_bytes().splitlines(keepends=True)
    damaged, mended = tmp_path / "damaged.log", tmp_path / "mended.log"
    lost = [b'"check":[7,', b'"check":[12,', *([] if ended else [b'"check":[18,', b'"check":[19,'])]
    damaged.write_bytes(b"".join(line for line in lines if not any(mark in line for mark in lost)))
    before = damaged.read_bytes()
    assert mend(damaged, mended) == 20 - len(lost)
    assert damaged.read_bytes() == before
    with pytest.raises(ScenarioError, match="exists; a mended study goes to a new file"):
        mend(damaged, mended)
    kept = load(mended).archive.evaluations
    assert [entry.number for entry in kept] == list(range(20 - len(lost)))
    found = _search(storage=str(mended), resume=True)
    assert found.evaluated == len(lost)

    def points(archive):
        return sorted(repr({**_values(one), "number": 0}) for one in archive.evaluations)

    assert points(found.archive) == points(whole)
