"""The page on metrics names every metric that every run has, with its unit and direction."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

from gridtune.model.metrics.registry import ALWAYS, CLASS_METRICS, HARM_METRICS, METRICS, definition
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario, load

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "metrics.md").read_text(encoding="utf-8")
ROWS = [
    (name, unit, better)
    for names, unit, better in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \| (less|more) \| ", PAGE, re.MULTILINE)
    for name in re.findall(r"`([^`]+)`", names)
]


def row(name, definition):
    return name, definition.unit or "–", "less" if definition.direction == "minimize" else "more"


def test_the_tables_are_those_of_the_program():
    assert [row(name, METRICS[name]) for name in ALWAYS] == ROWS


def test_the_reference_has_every_metric_with_a_range_and_an_example_in_each_table(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "making")
    page = "\n".join(runpy.run_path(str(DOCS / "making" / "metric_reference.py"))["metrics"]())
    rows = re.findall(
        r"^\| `([^`]+)` \| [^|]+ \| (?:less|more) \| (≥ -?\d|0 to 1) \| ([^|]+) \| \w", page, re.M
    )
    names = [name for name, _, _ in rows]
    assert len(names) == len(set(names)) == page.count("\n| `")
    assert {*ALWAYS, *HARM_METRICS, "waiting_mean.wide-long", "messages", "pilots"} <= {*names}
    assert {f"{name}.sdj" for name in CLASS_METRICS} <= {*names}
    tables = page.split("\n## ")[1:]
    assert len(tables) == 5
    assert all(re.search(r"\| (≥ -?\d|0 to 1) \| \d", table) for table in tables)


def outside(metrics):
    """Metrics of a run whose values the registry says to be impossible."""
    for name, one in metrics.items():
        low, high = definition(name).within
        if one.value == one.value and not low <= one.value <= high:
            yield name, one.value


@pytest.mark.parametrize(
    "scenario",
    [
        "federation/small",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("cigri/search", "dirac/search", "batch/replay")
        ),
    ],
)
def test_values_are_in_the_range_that_is_told(scenario):
    metrics = simulate(load(scenario)).metrics
    assert list(outside(metrics)) == []
    assert list(outside({"utilisation": metrics["utilisation"]._replace(value=1.1)})) == [
        ("utilisation", 1.1)
    ]


@pytest.mark.long
def test_measured_tables_are_those_of_their_data(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "making")  # as for a script there
    tables = runpy.run_path(str(DOCS / "making" / "tables.py"))
    for page in tables["TABLES"]:
        assert tables["written"](page) == (DOCS / page).read_text(encoding="utf-8"), page


def test_the_example_bounds_responses_as_the_text_says():
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    document = tomllib.loads(example) | {"title": "t", "site": [{"nodes": 4, "policy": "fcfs"}]}
    for runtime, bound in ((600.0, 6000.0), (60.0, 3600.0)):
        changed = Scenario("page", document, Path()).override(
            {"workload.analysis.runtime": runtime, "workload.analysis.count": 3}
        )
        jobs = simulate(changed).record.jobs
        assert [job.deadline - job.submit for job in jobs] == pytest.approx([bound] * 3)
