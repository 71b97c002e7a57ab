"""The log of a real CiGri: the law of its controller, and ours beside it."""

import csv

import numpy as np
import pytest

from gridtune.scenarios import ScenarioError
from gridtune.scenarios.commands.reproduce import remarks, run_paper
from gridtune.scenarios.reproduction.batcigri import log as cigri
from gridtune.scenarios.reproduction.batcigri.log import IntegralLaw, Log


def made(ki=2.0, reference=3.0, cycles=60):
    """A log of an integral controller over a first-order plant with noise."""
    rng = np.random.default_rng(1)
    inputs, loads = [50.0], [1.0]
    for _ in range(cycles - 1):
        inputs.append(inputs[-1] + ki * (reference - loads[-1]))
        loads.append(0.6 * loads[-1] + 0.02 * inputs[-1] + rng.normal(0.0, 0.05))
    return Log(30.0 * np.arange(cycles), np.array(inputs), np.array(loads))


def test_the_law_of_a_controller_is_found():
    assert cigri.fit_law(made()) == pytest.approx(IntegralLaw(2.0, 3.0))
    assert cigri.unexplained_steps(made(), IntegralLaw(2.0, 3.0)) < 1e-9
    assert cigri.unexplained_steps(made(), IntegralLaw(1.0, 3.0)) > 0.3


def test_our_controller_does_what_the_logged_one_did():
    log = made()
    assert cigri.fed(log, IntegralLaw(2.0, 3.0))[:-1] == pytest.approx(log.input[1:])


def test_a_first_order_plant_is_predicted_better_than_by_persistence():
    log = made()
    assert cigri.prediction(cigri.half(log, 1), cigri.half(log, 0)) < 0.9


def test_the_real_log_is_read_where_it_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRIDTUNE_DATA", str(tmp_path))
    assert cigri.read_log() is None
    (tmp_path / cigri.FILE).write_text("100, 50, 1.5, 0, 0\n130, 51, 1.25, 0, 0\n")
    log = cigri.read_log()
    assert (log.time.tolist(), log.input.tolist(), log.load.tolist()) == ([0, 30], [50, 51], [1.5, 1.25])
    (tmp_path / cigri.FILE).write_text("time, input\n")
    with pytest.raises(ScenarioError, match="no log of CiGri"):
        cigri.read_log()


def test_what_a_missing_log_leaves_out_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRIDTUNE_DATA", raising=False)
    made = run_paper("batcigri/log", 1, 1, 1, tmp_path / "out", quick=True)
    assert made["claims"] == []
    assert [line for line in remarks(made) if "left out: batcigri/log" in line and cigri.FILE in line]


@pytest.mark.long
def test_the_picture_shows_the_real_signals_and_those_simulated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRIDTUNE_DATA", str(tmp_path))
    log = made(cycles=12)
    rows = zip(log.time, log.input, log.load, strict=True)
    (tmp_path / cigri.FILE).write_text("".join(f"{time},{jobs},{load},0,0\n" for time, jobs, load in rows))
    run_paper("batcigri/log", 1, 1, 1, tmp_path / "out", quick=True)
    with (tmp_path / "out" / "log.csv").open(newline="") as file:
        drawn = {(row["panel"][0], row["series"]) for row in csv.DictReader(file)}
    ours, real = "our file server under our controller", "real CiGri"
    assert {(panel, series) for panel in "12" for series in (ours, real)} <= drawn
