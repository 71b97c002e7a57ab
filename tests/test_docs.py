"""What the pages say is true: their documents, commands and pictures are those of the program."""

import fnmatch
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError
from typer.main import get_command

import gridtune as gt
from gridtune import cli
from gridtune.model.policy import FAMILIES, Policy, make
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.document.paths import parse_assignment
from gridtune.scenarios.document.scenario import load, shipped_names
from gridtune.scenarios.execution.sweep import grid, parse_vary
from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.tables.schema import ScenarioSpec
from tests.benchmarks.rows import placeless
from tests.chromium import document

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "making"))  # its scripts import each other


def module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "making" / f"{name}.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


shown = module("pages")
PAGES = shown.pages()
# Words at most, between white space: of all pages, and of the page of a system with its tables and code.
ALL_WORDS, SYSTEM_WORDS = 45_000, 1_500
README_LINES = 120


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def cells(notebook):
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in found)


@pytest.fixture(params=PAGES, ids=name_of)
def page(request):
    return request.param


@pytest.fixture
def folder(page, tmp_path, monkeypatch):
    """A folder with the files that a page shows."""
    for name, text in shown.files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_documents_are_toml_and_programs_are_python(page):
    for block in shown.blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            compile(block.text, name_of(page), "exec")


def parsed(words):
    """Name of a command and its parameters.

    Raises:
        typer.TyperException: no such command or option, or a wrong value.
    """
    command = get_command(cli.app)
    path = []
    while hasattr(command, "commands"):
        path.append(words[0])
        command, words = command.commands[words[0]], words[1:]
        if not words and getattr(command, "invoke_without_command", False):
            return " ".join(path), {}
    return " ".join(path), command.make_context(path[-1], list(words)).params


@pytest.mark.long
def test_commands_exist_with_their_options_scenarios_and_paths(page, folder):
    # A policy of a plugin file is registered once for the whole process, so that page is run instead (below).
    for words in shown.commands(page):
        command, given = parsed(words)
        name = given.get("scenario") or ""
        if command not in ("run", "sweep", "search", "validate", "identify") or (folder / "mine.py").exists():
            continue
        if name.endswith(".toml") and not (folder / name).exists():
            continue  # a reader's own
        scenario = load(name).override(dict(map(parse_assignment, given.get("set") or [])))
        if command == "sweep":
            for values in grid([parse_vary(text) for text in given["vary"]]):
                scenario.override(values)
        elif command == "search":
            Space.of(scenario, given["vary"] or []).check(scenario)


def test_the_page_on_policies_has_a_row_for_each_family_whose_base_class_there_is():
    page = (DOCS / "writing-a-policy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`[^|]*\| `(\w+)` \|", page, re.M)
    assert {family for family, _ in rows} == {*FAMILIES}
    for _, base in rows:
        assert issubclass(getattr(gt.policies, base), Policy), base


PROGRAMS = {
    **{name_of(page): [block.text for block in shown.blocks(page)] for page in PAGES},
    **{name_of(path): [path.read_text(encoding="utf-8")] for path in (DOCS / "gallery").glob("*.py")},
    **{name_of(path): [cells(path)] for path in (DOCS / "notebooks").glob("*.ipynb")},
}


@pytest.mark.parametrize("place", PROGRAMS)
def test_programs_import_nothing_but_the_public_name(place):
    deep = re.compile(r"^.*\b(?:from|import) gridtune\..*$", re.MULTILINE)
    assert [found for text in PROGRAMS[place] for found in deep.findall(text)] == []


@pytest.mark.long
def test_the_policy_of_the_page_works(tmp_path):
    page = DOCS / "writing-a-policy.md"
    for name, text in shown.files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    trusted, validated, run = shown.commands(page)[:3]
    assert (trusted[0], validated[0], run[0]) == ("trust", "validate", "run")
    own = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    for words in (trusted, validated, [*run, "--set", "workload.count=50"]):
        done = subprocess.run(
            [sys.executable, "-m", "gridtune", *words], cwd=tmp_path, env=own, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert "waiting_mean" in done.stdout


def words_of(page):
    return len(page.read_text(encoding="utf-8").split())


def test_pages_are_short_enough_to_be_read():
    assert {
        name_of(page): words_of(page)
        for page in PAGES
        if page.parent.name == "systems" and words_of(page) > SYSTEM_WORDS
    } == {}
    assert sum(map(words_of, PAGES)) <= ALL_WORDS
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


def test_pictures_are_there_and_each_is_shown():
    shown_ones = {picture for page in PAGES for picture in shown.pictures(page)}
    kept = {file.resolve() for file in (DOCS / "figures").iterdir()}
    assert shown_ones == kept
    assert sum(file.stat().st_size for file in kept) < 4e6


def test_tables_of_claims_are_as_the_data_say():
    claims = module("claims")
    for page in claims.pages():
        text = page.read_text(encoding="utf-8")
        assert claims.written(text) == text, page
    assert claims.counts() in (DOCS / "validation.md").read_text(encoding="utf-8")


def test_claims_that_differ_in_a_remark_are_a_row_and_what_was_measured_is_left_to_the_reference():
    def claim(name, text, source, reason="", verdict="met"):
        found = [{"what": "wait with a period of 30 s"}, {"what": "s"}]
        said = {"id": name, "claim": text, "source": source, "verdict": verdict, "reason": reason}
        return said | {"experiment": "periods", "replications": 10, "quick": False, "findings": found}

    table = module("claims").claims({"paper": "dirac", "claims": [
        claim("A", "fallback gains (all sizes), if late", "figure 4(b)"),
        claim("A", "fallback gains (above 4 h), if late", "figure 4(c), section 2"),
        claim("B", "a task (it stays)", "section 3"),
        claim("C", "a task (it is rejected)", "section 3"),
        claim("D", "w", "section 3", "wait with a period of 30 s is 5 s. The load is 2 s", "undecided"),
        claim("E", "errors stay", "control theory"),
    ]})  # fmt: skip
    assert [line for line in table.splitlines() if line.startswith("| ")][1:] == [
        "| A | fallback gains (all sizes; above 4 h), if late | met |",
        "| B, C | a task (B: it stays; C: it is rejected) | met |",
        "| D | w | **undecided**: the load is 2 s |",
        "| E | *control theory*: errors stay | met |",
    ]


def measured(low, high, verdict="met", at_least=0.0):
    finding = {"value": (low + high) / 2, "low": low, "high": high, "at_least": at_least, "at_most": None}
    return {"verdict": verdict, "reason": "why", "findings": [{**finding, "outcome": verdict, "runs": 20}]}


@pytest.mark.parametrize(
    ("claim", "seeds", "stands"),
    [
        (measured(2.0, 4.0), {}, True),  # three half-widths from the bound
        (measured(0.5, 2.5), {}, False),  # one and a half
        (measured(0.5, 2.5), {"met": 19}, False),
        (measured(0.5, 2.5), {"met": 19, "undecided": 1}, True),
        (measured(0.5, 2.5), {"met": 18, "undecided": 2}, False),
        (measured(2.0, 4.0), {"met": 10, "undecided": 10}, True),  # the reduced size says too little
        (measured(-4.0, -2.0, "not met"), {}, True),
        (measured(-2.5, -0.5, "not met"), {"undecided": 20}, False),
        (measured(0.0, 0.2, at_least=None), {}, True),  # expected of every run
        (measured(0.0, 0.2, at_least=None), {"met": 18, "undecided": 2}, False),
        (measured(3.0, 3.0), {"undecided": 2}, True),  # always the same in full
        (measured(-1.0, 1.0, "by definition"), {"by definition": 1, "not met": 1}, True),
    ],
)
def test_a_verdict_that_hangs_on_the_seed_is_stated_as_undecided(claim, seeds, stands):
    made = module("claims").stated(claim, Counter(seeds))
    assert made == claim if stands else made["verdict"] == "undecided"
    assert made["reason"].startswith("why")


@pytest.mark.long
def test_references_name_everything_there_is():
    reference = module("reference")
    policies = "\n".join(reference.policies())
    for policy in reference_policies():
        assert f"### {policy['family']}: {policy['name']}\n" in policies
    commands = "\n".join(reference.command_line())
    for name in get_command(cli.app).commands:
        assert f"## gridtune {name}" in commands
    assert "Usage: gridtune run" in commands
    assert all("\n".join(page()).startswith("# ") for page in reference.PAGES.values())


def unit_faults(policies):
    """Parameters of policies that hold numbers and name no unit."""
    for policy in policies:
        for one in policy["parameters"]:
            if {"integer", "float", "table"} & {*one["type"].split(" or ")} and not one["unit"]:
                yield f"{policy['family']} {policy['name']}.{one['name']}"


def test_every_number_of_a_policy_has_a_unit_and_every_parameter_says_what_it_may_be():
    reference, policies = module("policy_reference"), reference_policies()
    assert list(unit_faults(policies)) == []
    parameters = [one for policy in policies for one in policy["parameters"]]
    assert len(parameters) > 100
    assert [
        one["name"] for one in parameters if not reference.allowed(one) or len(one["help"].split()) < 2
    ] == []
    known = {one["name"]: reference.allowed(one) for one in parameters}
    assert known["conservatism"] == "number, > 0, ≤ 1"
    assert known["reservations"] == "a whole number ≥ 0, or `all`"
    none = {"name": "weight", "type": "float", "unit": ""}
    assert list(unit_faults([{"family": "f", "name": "p", "parameters": [none]}])) == ["f p.weight"]


def test_the_example_of_every_policy_is_one_and_stands_where_scenarios_have_it():
    reference, parts = module("policy_reference"), module("scenario_schema")
    schema = ScenarioSpec.model_json_schema()
    places = {
        place.partition(" ")[0]: part
        for name, part in schema["$defs"].items()
        for place in parts.places(schema, name)
    }
    for policy in reference_policies():
        header, line = reference.policy_example(policy).splitlines()
        ((key, value),) = tomllib.loads(line).items()
        assert key in places[header]["properties"], header
        assert make(policy["family"], value).kind == policy["name"]


def test_the_reference_of_python_has_inherited_members_and_the_limits_of_a_search():
    page = "\n".join(module("reference").PAGES["python"]())
    for member in ("Scenario.value()", "Scenario.active", "GridModel.now", "Job.finish()", "Study.front"):
        assert f"\n### {member}\n" in page
    rows = {
        line.split("`")[1]: line.split(" | ")[1:4] for line in page.splitlines() if line.startswith("| `")
    }
    assert rows["seed"] == ["`int`", "0 to 4294967295", "`1`"]
    assert rows["batch"] == ["`int`", "at least 1", "`None`"]
    assert rows["seeds"] == ["`Sequence[int]`", "–", "`()`"]


def python_sections(page):
    """The entries below each heading of a section, with the code that stands before it."""
    code = section = ""
    for block in page.split("\n\n"):
        if block.lstrip("\n").startswith("```python"):
            code = block
        elif heading := re.fullmatch(r"\*\*(\w+)\*\*", block):
            section = heading[1]
        elif section:
            yield section, code, block.splitlines()
            section = ""


def test_the_reference_of_python_has_the_type_of_each_argument_attribute_and_result():
    page = "\n".join(module("reference").PAGES["python"]())
    found = list(python_sections(page))
    assert (
        len(found) == len(re.findall(r"^\*\*(Args|Attributes|Returns|Yields|Raises)\*\*$", page, re.M)) > 250
    )
    typed = re.compile(r"- `[^`]+` \(`[^`]+`(, default `[^`]+`)?\): [^a-z\s].*[.?…]$")
    entries = [line for section, _, lines in found if section in ("Args", "Attributes") for line in lines]
    assert [line for line in entries if not typed.match(line)] == []
    results = [(code, line) for section, code, (line, *_) in found if section == "Returns"]
    assert [line for code, line in results if f"-> {line.split('`')[1]}\n" not in code] == []
    heads = re.findall(r"^```python\n(.*?)\n```", page, re.M | re.S)
    assert len(results) == sum("-> " in head.rpartition(")")[2] for head in heads)
    assert [head for head in heads if not re.search(r"^\w[\w.]*(\(|: \S)", head)] == []


def test_the_reference_of_python_begins_with_all_that_gt_offers():
    page = "\n".join(module("reference").PAGES["python"]())
    headings = [re.sub(r"[^\w\s-]", "", one.lower()) for one in re.findall(r"^#+ (.*)$", page, re.M)]
    anchors = {name if not n else f"{name}_{n}" for n, name in numbered(headings)}
    rows = dict(re.findall(r"^\| \[`([\w.]+)`\]\(#(\w+)\)", page, re.M))
    assert [*rows] == [f"gt.{name}" for name in gt.__all__] + [
        f"policies.{one}" for one in gt.policies.__all__
    ]
    assert {*rows.values()} <= anchors
    assert rows["gt.Sweep"] == "gtsweep_1"
    others = page.partition("## Other types")[2]
    assert "| `SlurmChanges` | " in others
    assert "`lines` (`Sequence[str]`)" in others
    assert "| `Floats` | It stands for `NDArray[np.float64]`. |" in others


def numbered(names):
    """Each name with the number of equal ones before it."""
    return [(names[:at].count(name), name) for at, name in enumerate(names)]


def test_every_key_of_a_scenario_has_a_meaning_every_number_a_unit_and_every_table_an_example():
    known, examples = module("scenario_schema"), module("scenario_examples")
    schema = ScenarioSpec.model_json_schema()
    parts = schema["$defs"]
    keys = {
        f"{name}.{key}": value
        for name, part in {"": schema, **parts}.items()
        for key, value in part["properties"].items()
    }
    assert [key for key, value in keys.items() if not known.meaning(value, parts)] == []
    numbers = {key: value for key, value in keys.items() if known.holds_numbers(value, parts)}
    assert len(numbers) > 300
    units = {key: known.unit(value, parts) for key, value in numbers.items()}
    assert [key for key, unit in units.items() if not unit] == []
    some = (
        ".horizon",
        "SedSpec.memory",
        "SedSpec.bandwidth",
        "SiteSpec.nodes",
        "QueueingSpec.load",
        "SiteSpec.vres",
    )
    assert [units[key] for key in some] == ["s", "bytes", "bytes/s", "count", "ratio", "0 to 1"]
    assert examples.examples(schema).keys() == parts.keys()
    ScenarioSpec.model_validate(tomllib.loads(examples.RARE))


def test_the_json_schema_accepts_every_whole_scenario_that_is_valid():
    checks = jsonschema.Draft202012Validator(ScenarioSpec.model_json_schema())
    blocks = [one.text for page in PAGES for one in shown.blocks(page) if one.language == "toml"]
    texts = [text for text in blocks if text.startswith("title = ")]
    assert len(texts) > 3
    documents = [tomllib.loads(text) for text in (*texts, module("scenario_examples").RARE)]
    documents += [load(name).document for name in shipped_names()]
    assert [document["title"] for document in documents if not checks.is_valid(document)] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": 1},
        {"clients": {}},
        {"client": "one"},
        {"client": [{"part": 1}]},
        {"client": {"n_submits": 5}},
        {"site": {"nodes": 0, "policy": "easy"}},
        {"platform": {"node_class": {"speed": 1.0, "colour": "red"}}},
        {"search": {"space": {"client.dispatch": []}}},
        {"search": {"space": {"client.dispatch": "ethic"}}},
        {"search": {"space": {"client.n_submit": {"low": 5}}}},
    ],
)
def test_the_json_schema_refuses_what_is_not_valid(wrong):
    checks = jsonschema.Draft202012Validator(ScenarioSpec.model_json_schema())
    assert checks.is_valid({"title": "x"})
    assert not checks.is_valid({"title": "x", **wrong})
    with pytest.raises(ValidationError):
        ScenarioSpec.model_validate({"title": "x", **wrong})


def scenario_rows(page):
    """The rows of the reference of a scenario: heading, key, type, unit, default and meaning."""
    for table in page.partition("\n## Laws\n")[0].split("\n## ")[1:]:
        heading = table.partition("\n")[0].partition(" {")[0]
        for line in table.splitlines():
            if line.startswith("| `"):
                yield heading, *(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])


@pytest.mark.long
def test_every_key_of_a_scenario_has_a_default_a_sentence_and_the_bounds_that_are_checked():
    rows = list(scenario_rows("\n".join(module("reference").scenario_tables())))
    assert len(rows) > 500
    assert [row for row in rows if not row[4] or not re.match(r"[A-Z\[`{].*[.?…]$", row[5])] == []
    assert [row for row in rows if re.match(r"(Of|That|By|Installed|The same|Whose) ", row[5])] == []
    kinds = {(heading, key.strip("`")): (kind, default) for heading, key, kind, _, default, _ in rows}
    assert kinds["The document", "horizon"] == ("number, > 0", "none")
    assert kinds["`[[site]]`", "speed"] == ("number, > 0 or array of number, > 0", "`1.0`")
    assert kinds["`[[site]]`", "nodes"] == ("whole number, ≥ 1, ≤ 1000000 or `log`", "required")
    assert kinds["`[[site]]`", "prediction"][1] == '`"promise"`'
    assert kinds["`[site.queue.quota]`", "user_slots"] == ("number, ≥ 1 or `none`", '`"none"`')
    assert kinds["`[[sed]]`", "speed"] == ("number, > 0, or [law](#laws)", "`1.0`")


@pytest.mark.long
def test_every_law_and_every_kind_of_workload_is_on_its_page():
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Law).validate_python({"law": "none"})
    laws = re.findall(r"'([\w-]+)'", refused.value.errors()[0]["ctx"]["expected_tags"])
    table = "\n".join(module("reference").scenario_tables()).partition("\n## Laws\n")[2]
    assert len(laws) > 5
    assert [law for law in laws if f"\n| `{law}` |" not in table] == []
    rows = [[cell.strip() for cell in line.split(" | ")] for line in table.splitlines() if line[:3] == "| `"]
    parameters = [row for row in rows if len(row) > 2]
    assert {row[0].strip("|` ") for row in parameters} == {*laws}
    assert [row for row in parameters if "number, " in row[2] and not row[3]] == []
    assert [row for row in parameters if not row[4] or not re.match(r"[A-Z].*\. \|$", row[5])] == []
    assert ["| `gaussian`", "`low`", "number, ≥ 0", "of the key", "`0.0`", "Least value. |"] in rows
    known, schema = module("scenario_schema"), ScenarioSpec.model_json_schema()
    parts = {name: schema["$defs"][name] for name in known.named(schema["properties"]["workload"])}
    kinds = {known.kind_of(part) for part in parts.values()}
    assert len(kinds) > 10
    page = (DOCS / "writing-a-scenario.md").read_text(encoding="utf-8").partition("\n## Workloads\n")[2]
    assert [kind for kind in kinds if f"`{kind}`" not in page] == []


def reference_policies():
    from gridtune.scenarios.document.catalogue import policy_tree

    return policy_tree()


def files_named(page):
    """Files and folders of the repository that a page names, by path from its top."""
    text = page.read_text(encoding="utf-8")
    tops = "model|agents|scenarios|optimize|tests|docs|src"
    return re.findall(rf"`((?:{tops})/[\w./-]*|\.ci/\w+|cli\.py|[A-Z]+\.md)`", text)


def test_files_that_a_page_names_exist(page):
    assert [name for name in files_named(page) if not (ROOT / name).exists()] == []


def test_the_guides_to_the_code_name_its_files():
    rows = [
        line
        for line in (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and re.search(r"`[\w/]+(\.py|/)`", line)
    ]
    assert len(rows) >= 25
    assert len(set(files_named(DOCS / "architecture.md"))) > 60
    assert len(set(files_named(DOCS / "CONTRIBUTING.md"))) > 30
    rooms = [path.parent for floor in ("model", "agents", "scenarios", "optimize")
             for path in (ROOT / floor).glob("*/__init__.py")]  # fmt: skip
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert [room.name for room in rooms if f"{room.name}/" not in text] == []


def test_pages_in_a_folder_have_workers_for_their_search(tmp_path):
    (tmp_path / "worker.js").write_text('addEventListener("message", (e) => postMessage(e.data + 1));')
    page = tmp_path / "index.html"
    page.write_text(f"""<script>{(DOCS / "making" / "folder_search.js").read_text()}</script><body><script>
        const worker = new Worker(new URL("worker.js", location));
        worker.addEventListener("message", (e) => {{ document.title = `heard ${{e.data}}`; }});
        worker.postMessage(41);
    </script></body>""")
    assert "<title>heard 42</title>" in document(page, "--virtual-time-budget=5000")


def test_everything_measured_names_the_command_that_makes_it():
    known = {one.path: one for one in module("evidence").MEASURED}
    there = {f"data/{path.name}" for path in (DOCS / "data").iterdir()}
    assert there - {"data/made.json", "data/results.jsonl"} <= known.keys()
    for one in known.values():
        for command in one.commands:
            name = command.split()[2].replace(".", "/")
            assert (ROOT / f"{name}.py").is_file(), command


def test_what_was_measured_before_results_or_code_changed_is_out_of_date(monkeypatch):
    evidence = module("evidence")
    names = {name for line in evidence.changes() for name in line["results"]}
    for one in (*evidence.MEASURED, *evidence.drawn()):
        assert all(fnmatch.filter(names, pattern) for pattern in one.results), one.path
        assert all((ROOT / path).exists() for path in one.code), one.path
        assert one.results or one.code, one.path
    assert set(json.loads(module("stamps").MADE.read_text())) <= {
        one.path for one in (*evidence.MEASURED, *evidence.drawn())
    }

    commits = ["a", "b", "c", "d"]  # one after the other

    def git(*words):
        first, last = words[2].split("..")
        since = commits[commits.index(first) + 1 : commits.index(last.replace("HEAD", "d")) + 1]
        return str(len(since))

    monkeypatch.setattr(evidence, "git", git)
    monkeypatch.setattr(evidence, "changes", lambda: [
        {"commit": "a", "results": {"diet/x": "1", "batch/y": "1"}},
        {"commit": "c", "results": {"diet/x": "2"}},
    ])  # fmt: skip
    results = evidence.Evidence("", (), results=("diet/*",))
    assert evidence.older(results, "b") == "1 results changed"
    assert evidence.older(results, "c") == ""
    assert evidence.older(evidence.Evidence("", (), results=("batch/*",)), "b") == ""


def test_every_picture_of_a_page_has_the_name_that_its_commands_give_it():
    for page in shown.pages():
        words = [word for call, _ in shown.calls(page) for word in call if word.startswith("results/")]
        folders = [word.removeprefix("results/").replace("/", "-") for word in words]
        programs = [f"{page.stem}-{file.stem}.png" for file in page.with_suffix("").glob("*.py")]
        for picture in module("figures").drawn_by_commands(page):
            drawn = picture.name in (*folders, *programs)
            assert drawn or any(picture.name.startswith(f"{folder}-") for folder in folders), picture.name


def test_comments_and_docstrings_do_not_make_evidence_older(monkeypatch, tmp_path):
    evidence = module("evidence")
    then = {
        "same.py": 'def f():\n    """Old."""\n    return 1  # one\n',
        "other.py": "def f():\n    return 1\n",
        "page.js": "// one",
        "gone.py": "x = 1",
    }
    now = {
        "same.py": 'def f():\n    """New."""\n    return (1)\n',
        "other.py": "def f():\n    return 2\n",
        "page.js": "// two",
        "new.py": "x = 1",
    }
    for name, text in now.items():
        (tmp_path / name).write_text(text)

    def git(*words):
        if words[0] == "diff":
            return "\n".join({**then, **now})
        return then[words[1].partition(":")[2]] if words[0] == "show" else then.get(words[-1], "")

    monkeypatch.setattr(evidence, "git", git)
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence, "changes", list)
    code = evidence.Evidence("", (), code=("model",))
    assert sorted(evidence.changed_files("b", code.code)) == ["gone.py", "new.py", "other.py", "page.js"]
    assert evidence.older(code, "b") == "4 files changed"


def test_no_data_and_no_page_names_a_folder_of_one_machine():
    named = [
        path.name
        for path in (*(DOCS / "data").rglob("*.json*"), *DOCS.rglob("*.md"))
        if re.search(r"(?<![\w.:/])/(tmp|root|work)/", path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_texts_of_benchmarks_lose_their_folders():
    assert placeless('trace = "/a/b-c/mine.swf.gz"; s/h.html, 1/2') == 'trace = "mine.swf.gz"; s/h.html, 1/2'
    assert placeless("/x/y.swf has 3 weeks") == "y.swf has 3 weeks"
