"""What is scheduled is owed until it is made, in whatever order it comes."""

import pytest

from gridtune.model.owed import Owed
from gridtune.scenarios import load, simulate


def owed_after(made, times=(1.0, 2.0, 2.0, 5.0)):
    """What is still owed at 2 s once some of four equal things have been made."""
    owed, things = Owed(), [[] for _ in times]
    assert [what for _, _, what in owed.schedule(zip(times, "abcd", things, strict=True))] == things
    for k in made:
        owed.made(things[k])
    return [next(k for k, thing in enumerate(things) if thing is what) for what in owed.unmade(2.0)]


def test_what_is_not_made_when_its_time_has_come_is_owed():
    assert owed_after([]) == [0, 1, 2]
    assert owed_after([0, 1, 2]) == []
    assert owed_after([2]) == [0, 1]
    assert owed_after([2, 0]) == [1]
    assert owed_after([3, 1]) == [0, 2]


def test_what_no_stream_brings_is_owed_too():
    owed, one, other = Owed(), [], []
    owed.add((1.0, None, one))
    assert owed.unmade(0.5) == []
    assert owed.unmade(1.0)[0] is one
    owed.made(other)
    assert owed.unmade(1.0)[0] is one
    owed.made(one)
    assert owed.unmade(9.0) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["deadline/several-agents", "dirac/search", "diet/day-regular"])
def test_what_is_made_late_was_owed_since_its_time(name, monkeypatch):
    def since(record):
        return [job.submit for job in record.jobs[:5]], [stay.entry for stay in record.stays[:5]]

    scenario = load(name)
    on_time = since(simulate(scenario).record)
    schedule = Owed.schedule

    def late(self, arrivals):
        for time, action, what in schedule(self, arrivals):
            yield time + 100.0, action, what

    monkeypatch.setattr(Owed, "schedule", late)
    delayed = since(simulate(scenario).record)
    # Requests of clients are submitted when these decide so; their stays began before.
    assert delayed[1] == on_time[1]
    assert delayed[0] == on_time[0] or on_time[1]
