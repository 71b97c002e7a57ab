"""Simulated schedules against those that OAR made."""

import pytest

from gridtune.scenarios.reproduction.oar.claims import compare, schedule_path, schedules
from gridtune.scenarios.reproduction.workbench import Workbench
from gridtune.scenarios.trace_files import TraceError
from gridtune.scenarios.workers.pool import Pool


@pytest.fixture(autouse=True)
def _needs_schedules():
    try:
        schedule_path(0)
    except TraceError as error:
        pytest.skip(str(error))


@pytest.mark.long
def test_ten_schedules_decide_three_claims(tmp_path):
    verdicts = {claim.id: claim.verdict for claim in schedules(Workbench(Pool(), 1, 1, tmp_path))}
    assert verdicts == {"O1": "met", "O2": "met", "O3": "undecided", "O4": "undecided", "O5": "met"}


def test_without_start_overhead_waits_are_too_short():
    assert compare("conservative", 1, overhead=0.0).ratio < compare("conservative", 1).ratio < 1.0
