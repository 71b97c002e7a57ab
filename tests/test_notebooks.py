"""The notebooks run unchanged, and show what they promise."""

import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """The cells of a notebook by their first line, after all of them were run in a kernel of their own."""
    nbformat, nbclient, _ = (
        pytest.importorskip(name, reason="needs the extra [check]")
        for name in ("nbformat", "nbclient", "ipykernel")
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))

    def run(path):
        notebook = nbformat.read(path, as_version=4)
        # What a kernel warns of when it starts may appear among what the first cell prints.
        client = nbclient.NotebookClient(
            notebook,
            timeout=240,
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path)}},
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
        )
        client.execute()  # raises if any cell fails
        return [cell for cell in notebook.cells if cell.cell_type == "code"]

    return run


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert cells
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


def shown(cells, start):
    """What the cell that starts so shows last, by type."""
    (cell,) = [cell for cell in cells if cell.source.startswith(start)]
    return cell.outputs[-1]["data"]


@pytest.mark.long
def test_a_log_is_replayed_and_searched_on_a_metric_of_ones_own(executed):
    cells = executed(ROOT / "docs" / "notebooks" / "replay-and-search.ipynb")
    for cell in cells:
        *told, result = cell.outputs
        assert result.output_type == "execute_result", cell.outputs
        slow = "gt.search(" in cell.source or ".explain(" in cell.source
        assert bool(told) == slow, "only what takes long says how far it is"
        assert not slow or re.search(r"^[a-z ]+: \d+/\d+", "".join(one["text"] for one in told), re.MULTILINE)
    assert shown(cells, "import gridtune")["text/plain"] == "Scenario('batch/replay')"
    assert "waiting_mean" in shown(cells, "result = replay.run()")["text/html"]
    assert "image/png" in shown(cells, 'result.plot("waits")')
    assert "impatient" in shown(cells, "@gt.metric")["text/html"]
    study = shown(cells, "study = gt.search(")
    assert re.match(r"Study\('batch/replay', 2\d configurations, front of ", study["text/plain"])
    assert "image/png" in shown(cells, 'study.plot("pairs")')
    assert ">A<" in shown(cells, "study.recommendations")["text/html"]
    assert "reset alone" in shown(cells, "why = study.explain")["text/html"]
    assert all(len(cell.outputs[-1]["data"].get("text/html", "")) < 30_000 for cell in cells)
