"""The agenda fires everything once, in one reproducible order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridtune.model.agenda import ARRIVAL, COMPLETION, DECISION, MANY, OBSERVATION, Agenda


def test_simultaneous_events_fire_by_order_then_in_order_of_entry():
    agenda, seen = Agenda(), []
    agenda.at(1.0, seen.append, "observe", OBSERVATION)
    agenda.at(1.0, seen.append, "decide", DECISION)
    agenda.at(1.0, seen.append, "second completion", COMPLETION)
    agenda.at(1.0, seen.append, "arrive", ARRIVAL)
    agenda.at(1.0, seen.append, "third completion", COMPLETION)
    agenda.at(0.5, seen.append, "earlier", OBSERVATION)
    agenda.run()
    assert seen == ["earlier", "second completion", "third completion", "arrive", "decide", "observe"]
    assert agenda.fired == 6
    assert agenda.now == 1.0


@given(
    entered=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20),
    streamed=st.lists(st.lists(st.integers(0, 5), max_size=8).map(sorted), max_size=3),
)
def test_streams_and_heap_merge_into_one_sorted_sequence(entered, streamed):
    agenda, seen = Agenda(), []
    for k, (time, order) in enumerate(entered):
        agenda.at(time, seen.append, (time, order, 1, k), order)
    for stream in streamed:
        agenda.feed((time, seen.append, (time, ARRIVAL, 0, 0)) for time in stream)
    agenda.run()
    assert seen == sorted(seen)
    assert len(seen) == len(entered) + sum(map(len, streamed))


def test_streams_tie_in_the_order_in_which_they_were_fed():
    # Lambdas cannot be compared: the order of a tie must never fall to them.
    agenda, seen = Agenda(), []
    for name in "abc":
        agenda.feed([(time, lambda what: seen.append(what), f"{name}{time}") for time in (1.0, 1.0, 2.0)])
    agenda.at(1.0, seen.append, "entered", ARRIVAL)
    agenda.run()
    assert seen == ["a1.0", "a1.0", "b1.0", "b1.0", "c1.0", "c1.0", "entered", "a2.0", "b2.0", "c2.0"]


def test_a_stream_may_be_fed_while_events_fire():
    agenda, seen = Agenda(), []
    agenda.feed((time, seen.append, time) for time in (1.0, 3.0, 5.0))
    agenda.at(2.0, lambda _: agenda.feed((time, seen.append, time) for time in (2.5, 4.0)))
    agenda.run()
    assert seen == [1.0, 2.5, 3.0, 4.0, 5.0]


def test_a_stream_may_not_begin_in_the_past():
    agenda = Agenda()
    agenda.at(2.0, lambda _: agenda.feed([(1.0, print, "")]))
    with pytest.raises(ValueError, match="sorted"):
        agenda.run()


def test_a_cancelled_event_does_not_fire_and_does_not_keep_the_agenda_busy():
    agenda, seen = Agenda(), []
    handle = agenda.at(2.0, seen.append, "no")
    agenda.at(1.0, seen.append, "yes")
    agenda.cancel(handle)
    agenda.run()
    assert seen == ["yes"]
    assert not agenda.busy


def test_what_was_cancelled_far_ahead_is_forgotten_and_all_else_fires_in_its_order():
    agenda, seen = Agenda(), []

    def limited(number):
        """An end at a limit in a week, taken back when the next one comes."""
        if number > 0:
            agenda.cancel(limits[-1])
        if number == 4 * MANY:
            agenda.at(7e5, seen.append, "the end")
            return
        limits.append(agenda.after(6e5, seen.append, "a limit"))
        agenda.after(50.5, seen.append, number)
        agenda.after(1.0, limited, number + 1)

    limits = []
    agenda.at(0.0, limited, 0)
    agenda.run(4 * MANY - 1)
    assert len(agenda._heap) < MANY + 100
    agenda.run()
    assert seen == [*range(4 * MANY), "the end"]
    assert not agenda.busy


def test_recurring_observations_end_with_the_last_real_event():
    agenda, seen = Agenda(), []
    agenda.every(1.0, lambda _: seen.append(agenda.now))
    agenda.every(1.5, lambda _: None)
    agenda.at(3.5, lambda _: None)
    agenda.run()
    assert seen == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_the_past_is_closed():
    agenda = Agenda()
    agenda.at(1.0, lambda _: agenda.at(0.5, print))
    with pytest.raises(ValueError, match=r"0\.5 s cannot be entered at 1\.0 s"):
        agenda.run()
    with pytest.raises(ValueError, match="nan"):
        Agenda().at(float("nan"), print)
    with pytest.raises(ValueError, match=r"-0\.5 s from now"):
        Agenda().after(-0.5, print)


def test_a_stream_that_goes_back_in_time_is_refused():
    agenda = Agenda()
    agenda.feed([(2.0, print, ""), (1.0, print, "")])
    with pytest.raises(ValueError, match="sorted"):
        agenda.run()


def test_running_in_pieces_equals_running_at_once():
    def play(pieces):
        agenda, seen = Agenda(), []

        def bounce(count):
            seen.append((agenda.now, count))
            if count:
                agenda.after(0.7, bounce, count - 1)

        agenda.at(0.0, bounce, 10)
        for end in pieces:
            agenda.run(end)
        agenda.run()
        return seen

    assert play([]) == play([0.5, 0.7, 2.1, 5.0])


def test_what_only_recurs_after_the_last_event_does_not_move_its_end():
    agenda, seen = Agenda(), []
    agenda.every(4.0, seen.append, "sample")
    agenda.at(9.0, seen.append, "event")
    agenda.poll(13.0, seen.append, "look")
    agenda.run()
    assert seen == ["sample", "sample", "sample", "event", "sample", "look"]
    assert (agenda.now, agenda.last) == (9.0, 9.0)


def test_what_a_recurring_event_brings_about_counts():
    agenda, seen = Agenda(), []
    agenda.every(4.0, lambda _: agenda.now == 8.0 and agenda.after(2.0, seen.append, "brought"))
    agenda.at(5.0, seen.append, "event")
    agenda.run()
    assert seen == ["event", "brought"]
    assert agenda.now == 10.0
    stepped = Agenda()
    stepped.every(4.0, lambda _: None)
    stepped.at(5.0, seen.append, "event")
    stepped.run(6.0)
    stepped.run(20.0)
    assert (stepped.now, stepped.last) == (20.0, 5.0)
