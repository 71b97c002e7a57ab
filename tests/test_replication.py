"""Replications: means of different numbers of them, and those that give no value."""

from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from gridtune.optimize.records.evaluations import Failed, Objective
from gridtune.optimize.replication.compare import adjusted_means, stacked
from gridtune.optimize.runs.table import evaluated
from tests.fronts import estimate


def test_means_of_fewer_replications_are_moved_by_what_the_further_replications_did_to_each_objective():
    values = np.array([[[1.0, 2.0, 6.0], [0.0, 0.0, 0.0]], [[3.0, 4.0, nan], [5.0, 7.0, nan]]])
    # The third replication moved the first one's mean from 1.5 to 3, and its other objective not at all.
    assert adjusted_means(values) == pytest.approx(np.array([[3.0, 0.0], [3.5 + 1.5, 6.0]]))


def test_runs_that_were_not_done_have_no_value():
    cost = Objective("cost", "minimize")
    assert stacked([], [cost]).shape == (0, 1, 0)
    rows = [{"cost": estimate(1.0)}, {"cost": estimate(2.0, 3.0)}, {}]
    assert str(stacked(rows, [cost]).tolist()) == "[[[1.0, nan]], [[2.0, 3.0]], [[nan, nan]]]"


@pytest.mark.parametrize(("value", "said"), [(inf, "infinite"), (1e200, "1e+200"), (-1e200, "-1e+200")])
def test_the_replication_that_gives_no_value_to_compare_is_named_by_its_number(value, said):
    settings = SimpleNamespace(run_in=[SimpleNamespace(name="a")], watched=lambda measured: ("cost",))
    runs = [[{"cost": 1.0}, {"cost": value}]]
    reason = f"cost is {said} in replication 1"
    assert evaluated(5, {}, runs, settings) == Failed(5, {}, reason)
    assert "replication 8" in evaluated(5, {}, runs, settings, first=7).reason
