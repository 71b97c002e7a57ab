"""Claims of the papers: intervals, verdicts, and that a change of the model can lose each claim."""

from __future__ import annotations

import json
from math import inf, isnan
from pathlib import Path

import numpy as np
import pytest

from gridtune.scenarios.reproduction.claims import contradiction, definition, hypothesis
from gridtune.scenarios.reproduction.deadline.forecasts import settled_ratio
from gridtune.scenarios.reproduction.statistics import (
    Finding,
    always,
    difference,
    exactly,
    mean,
    overall,
    quantile,
    ratio,
    share,
)
from tests.claim_mutants import MUTANTS, verdicts

TEN = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
DATA = Path("docs/data/claims")
SAMPLE = ("deadline/example", "egee/slots", "batcigri/controllers")


def test_intervals_are_those_of_the_textbooks():
    found = mean(TEN)
    assert found.value == 5.5
    assert found.high - found.value == pytest.approx(2.262 * 3.0277 / 10**0.5, rel=1e-3)
    assert (quantile(TEN).low, quantile(TEN).high) == (2.0, 9.0)  # binomial: 97.9 %; 3 to 8 hold only 89 %
    assert (share([True] * 10).low, share([True] * 10).high) == (pytest.approx(0.025**0.1), 1.0)
    assert (quantile(TEN[:5]).low, quantile(TEN[:5]).high) == (-inf, inf)
    assert isnan(mean([]).value)


@pytest.mark.parametrize(
    ("of", "truth"),
    [
        (lambda x, y: mean(x), 1.0),
        (lambda x, y: quantile(x), np.log(2.0)),
        (lambda x, y: difference(y, x), 1.0),
        (lambda x, y: ratio(y, x), 2.0),
    ],
)
def test_intervals_hold_the_truth_in_about_19_of_20_samples(of, truth):
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        x = rng.exponential(1.0, 30)
        found = of(x.tolist(), (x + rng.exponential(1.0, 30)).tolist())
        held += found.low <= truth <= found.high
    assert 175 <= held <= 200


def test_the_interval_decides():
    assert Finding("x", mean(TEN), 3.0, 8.0).outcome == "met"
    assert Finding("x", mean(TEN), 5.0, 8.0).outcome == "undecided"
    assert Finding("x", mean(TEN), low=8.0).outcome == "not met"
    assert Finding("x", mean(TEN[:9]), 0.0, 100.0).outcome == "undecided"  # less than ten runs
    assert Finding("x", exactly(0.0), low=0.0, strict=True).outcome == "not met"
    assert Finding("x", difference(TEN, TEN), low=0.0, strict=True).outcome == "not met"
    assert Finding("x", quantile([float("nan")] * 10), 0.0, 1.0).outcome == "undecided"
    assert always("x", [True] * 10).outcome == "met"
    assert always("x", [True] * 9 + [False]).outcome == "undecided"
    assert always("x", [True] * 6 + [False] * 4).outcome == "not met"
    assert always("x", [True] * 9).outcome == "undecided"


def test_a_share_of_runs_is_always_that_in_which_it_holds():
    assert always("x", [True] * 9 + [False]).estimate == share([True] * 9 + [False])
    assert always("x", [True] * 9 + [False]).measured == "in 9 of 10 runs"
    claims = (claim for path in DATA.glob("*.json") for claim in json.loads(path.read_text())["claims"])
    found = [one for claim in claims for one in claim["findings"] if one["statistic"] == "share of runs"]
    unbounded = [one for one in found if (one["at_least"], one["at_most"]) == (None, None)]
    assert len(unbounded) > 20
    assert [one for one in unbounded if (one["value"] == 1) != (one["outcome"] == "met")] == []


def test_a_claim_is_as_good_as_the_worst_of_its_findings():
    met, open_, lost = (Finding("x", mean(TEN), low) for low in (0.0, 5.0, 9.0))
    assert overall([met, met]) == "met"
    assert overall([met, open_]) == "undecided"
    assert overall([met, open_, lost]) == "not met"
    claim = hypothesis("C", "e", "text", "source", met, open_)
    assert claim.verdict == "undecided"
    assert [part["outcome"] for part in claim.findings] == ["met", "undecided"]
    json.dumps(claim.to_dict(), allow_nan=False)


def test_definitions_and_contradictions_are_computed():
    met, lost = (Finding("x", mean(TEN), low) for low in (0.0, 9.0))
    assert definition("C", "e", "t", "s", met, reason="r").verdict == "by definition"
    assert definition("C", "e", "t", "s", lost, reason="r").verdict == "not met"
    assert contradiction("C", "e", "t", "s", lost, clash=True, arithmetic="a").verdict.startswith("contra")
    assert contradiction("C", "e", "t", "s", lost, clash=False, arithmetic="a").verdict == "not met"
    assert settled_ratio(0.5) == pytest.approx(0.5**0.5, rel=1e-3)
    assert settled_ratio(2.0) == pytest.approx(2.0**0.5, rel=1e-3)


@pytest.fixture(scope="module")
def unchanged():
    return {claim: verdict for name in SAMPLE for claim, verdict in verdicts(name).items()}


@pytest.mark.long
@pytest.mark.parametrize(
    "mutant",
    [one for one in MUTANTS if {claim.rpartition("/")[0] for claim in one.claims} & {*SAMPLE}],
    ids=lambda mutant: mutant.change,
)
def test_a_change_of_the_model_loses_its_claims(mutant, unchanged):
    for name in {claim.rpartition("/")[0] for claim in mutant.claims} & {*SAMPLE}:
        changed = verdicts(name, mutant)
        for claim in mutant.claims:
            if claim in changed:
                assert unchanged[claim] == "met", claim
                assert changed[claim] == "not met", claim


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_every_claim_that_is_met_has_a_change_that_loses_it(path):
    made = json.loads(path.read_text(encoding="utf-8"))
    names = [f"{made['paper']}/{claim['experiment']}/{claim['id']}" for claim in made["claims"]]
    assert len(names) == len(set(names))
    met = {name for name, claim in zip(names, made["claims"], strict=True) if claim["verdict"] == "met"}
    covered = {claim for mutant in MUTANTS for claim in mutant.claims}
    assert met <= covered
