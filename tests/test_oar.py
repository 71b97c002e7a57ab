"""Simulated schedules against those that OAR made."""

import pytest

from gridtune.scenarios.reproduction.claims import Workbench
from gridtune.scenarios.reproduction.oar.claims import compare, schedule_path, schedules
from gridtune.scenarios.trace_files import TraceError


@pytest.fixture(autouse=True)
def _needs_schedules():
    try:
        schedule_path(0)
    except TraceError as error:
        pytest.skip(str(error))


def test_every_claim_is_met(tmp_path):
    claims = schedules(Workbench(lambda *_: [], 1, 1, tmp_path))
    assert [claim.id for claim in claims] == ["O1", "O2", "O3", "O4", "O5"]
    assert {claim.verdict for claim in claims} == {"met"}, claims


def test_without_start_overhead_waits_are_too_short():
    assert compare("conservative", 1, overhead=0.0).ratio < compare("conservative", 1).ratio < 1.0
