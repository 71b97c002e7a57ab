"""The table of mechanisms: every row names code, a scenario and a test that there are."""

import re
from pathlib import Path

import pytest

from gridtune.scenarios.document.catalogue import scenario_rows

SHIPPED = {row["name"] for row in scenario_rows()}
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
    for line in Path("docs/mechanisms.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| mechanism")
]


def test_there_are_mechanisms_of_five_papers_and_no_cell_is_empty():
    assert Path("docs/mechanisms.md").read_text(encoding="utf-8").count("| mechanism |") == 5
    assert len(ROWS) > 50
    assert all(len(row) == 5 and all(row) for row in ROWS)
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_code_scenario_and_test_are_there(row):
    _, _, code, scenario, test = row
    assert Path(code).is_file()
    assert scenario in SHIPPED
    file, _, name = test.partition("::")
    text = (Path("tests") / file).read_text(encoding="utf-8")
    assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE)
