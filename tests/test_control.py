"""Controllers of a harvester: published gains, the tap's rule, and laws worked out by hand."""

import numpy as np
import pytest

from gridtune.model.harvest import FirstOrder, Reading, Tap, WaitBatch, fit_first_order, pole_placement
from gridtune.model.harvest.control import CampaignReading
from gridtune.model.policy import PolicyError, make, spec


def drive(control, readings):
    """What a controller submits over successive readings."""
    memory, jobs = None, []
    for reading in readings:
        decision = control.decide(reading, memory)
        memory = decision.memory
        jobs.append(decision.jobs)
    return jobs


def loop(control, plant, cycles, cycle=30.0):
    """Measured load of a first-order plant under a controller."""
    y, memory, measured = 0.0, None, []
    for k in range(cycles):
        measured.append(y)
        decision = control.decide(Reading(k * cycle, cycle, load=y, left=10**9), memory)
        memory = decision.memory
        y = plant.a * y + plant.b * decision.jobs
    return np.array(measured)


def test_poles_for_ten_cycles_and_five_percent_give_the_gains_of_the_scenario():
    gains = pole_placement(1.0, 1.0, settling=10, overshoot=0.05)
    assert gains.kp == pytest.approx(0.551, abs=5e-4)
    assert gains.ki == pytest.approx(0.225, abs=5e-4)


def test_poles_for_twenty_cycles_are_softer():
    gains = pole_placement(1.0, 1.0, settling=20, overshoot=0.05)
    assert gains == pytest.approx((0.330, 0.069), abs=5e-4)


def test_the_zero_of_the_controller_adds_to_the_overshoot():
    control = make("control", {"kind": "pole-placement", "reference": 1000.0, "sensor": "load"})
    assert loop(control, FirstOrder(1.0, 1.0), 40).max() == pytest.approx(1315, abs=5), "5 % by the poles"


def test_an_overshoot_for_which_the_poles_would_be_beyond_half_a_turn_is_refused():
    with pytest.raises(PolicyError, match=r"overshoot must be between 0 and 0.368"):
        make("control", {"kind": "pole-placement", "settling": 4.0, "overshoot": 0.37})
    make("control", {"kind": "pole-placement", "settling": 4.0, "overshoot": 0.36})


@pytest.mark.parametrize("wrong", [{"b": 0.0}, {"settling": 0.0}, {"overshoot": 1.0}, {"overshoot": 0.0}])
def test_poles_cannot_be_placed_anywhere(wrong):
    with pytest.raises(ValueError, match=r"must be|is 0"):
        pole_placement(**{"a": 0.6, "b": 0.1, "settling": 10.0, "overshoot": 0.05, **wrong})


@pytest.mark.parametrize("plant", [FirstOrder(0.6065, 0.0704), FirstOrder(0.8, 0.5), FirstOrder(0.3, 2.0)])
def test_identification_recovers_a_plant_from_a_noisy_step_response(plant):
    rng = np.random.default_rng(1)
    inputs = [0.0] * 20 + [10.0] * 60 + [4.0] * 60
    measured = [0.0]
    scale = 0.005 * plant.gain * 10
    for u in inputs:
        measured.append(plant.a * measured[-1] + plant.b * u + rng.normal(0.0, scale))
    found = fit_first_order(measured, inputs)
    assert found.a == pytest.approx(plant.a, rel=0.05)
    assert found.b == pytest.approx(plant.b, rel=0.05)


def test_identification_is_exact_without_noise():
    assert fit_first_order([0, 2, 3, 3.5, 3.75], [4, 4, 4, 4]) == pytest.approx((0.5, 0.5))


def test_identification_refuses_signals_that_tell_nothing():
    with pytest.raises(ValueError, match="identify a and b"):
        fit_first_order([3.0] * 10, [1.0] * 10)
    with pytest.raises(ValueError, match="3 cycles"):
        fit_first_order([0.0, 1.0], [1.0, 1.0])


def test_pi_is_positional_and_whole_errors_add_up():
    control = make("control", {"kind": "pi", "reference": 10.0, "kp": 0.5, "ki": 0.1})
    readings = [Reading(0, 30), Reading(30, 30, waiting=4, used=4), Reading(60, 30, waiting=30, used=4)]
    # Errors 10, 2, -24: sums 10, 12, -12; never less than no jobs.
    assert drive(control, readings) == pytest.approx([6.0, 2.2, 0.0])


def test_pid_adds_the_change_of_the_error():
    control = make("control", {"kind": "pid", "reference": 10.0, "kp": 0.0, "ki": 0.0, "kd": 2.0})
    assert drive(control, [Reading(0, 30, used=10), Reading(30, 30, used=7)]) == pytest.approx([0.0, 6.0])


def test_a_proportional_controller_keeps_an_error_that_an_integral_removes():
    plant = FirstOrder(0.6065, 0.0704)
    p = make("control", {"kind": "p", "sensor": "load", "reference": 3.0, "kp": 2.0})
    placed = {"kind": "pole-placement", "sensor": "load", "reference": 3.0, "a": plant.a, "b": plant.b}
    assert loop(p, plant, 100)[-1] < 1.0
    assert loop(make("control", placed), plant, 100)[-1] == pytest.approx(3.0)


def test_placed_poles_settle_and_overshoot_as_wanted():
    plant = FirstOrder(0.6065, 0.0704)
    placed = {"kind": "pole-placement", "sensor": "load", "reference": 3.0, "a": plant.a, "b": plant.b}
    measured = loop(make("control", placed), plant, 60)
    assert measured.max() <= 3.0 * 1.10
    assert np.abs(measured[13:] / 3.0 - 1).max() <= 0.02


def test_a_model_free_controller_needs_no_plant():
    control = make("control", {"kind": "mfc", "sensor": "load", "reference": 3.0})
    for plant in (FirstOrder(0.6065, 0.0704), FirstOrder(0.6065, 0.0352)):
        measured = loop(control, plant, 200)
        assert measured[-1] == pytest.approx(3.0, rel=0.01)


def test_the_tap_grows_and_shrinks_in_every_cycle_of_a_long_closing():
    open_tap = [Reading(30.0 * k, 30.0, left=1000) for k in range(4)]
    assert drive(Tap(), open_tap) == [3, 4, 6, 9]
    shut = [*open_tap, Reading(120, 30, waiting=5, left=1000), Reading(150, 30, waiting=1, left=1000)]
    # Closed at 120 s: cycles that begin from 180 s on, after a closed one, divide the rate of 13, the one
    # that reopens the tap included: 13 / 1.5 = 8, 8 / 1.5 = 5, and never below 3.
    assert drive(Tap(), [*shut[:5], Reading(150, 30, left=1000)]) == [3, 4, 6, 9, 0, 13]
    assert drive(Tap(grace=61.0), [*shut, Reading(180, 30, left=1000)]) == [3, 4, 6, 9, 0, 0, 13]
    for cycles, rate in ((0, 8), (1, 5), (2, 3), (9, 3)):
        waiting = [Reading(180 + 30 * k, 30, waiting=1, left=1000) for k in range(cycles)]
        assert drive(Tap(), [*shut, *waiting, Reading(180 + 30 * cycles, 30, left=1000)])[-1] == rate
    # Open again it grows, and an open cycle is followed by no division.
    reopened = [Reading(180.0 + 30.0 * k, 30.0, left=1000) for k in range(3)]
    assert drive(Tap(), [*shut, *reopened])[-3:] == [8, 12, 18]


def test_each_campaign_has_a_tap_of_its_own():
    def reading(k, blocked):
        campaigns = (CampaignReading("a", blocked, 1000), CampaignReading("b", 0, 2))
        return Reading(30.0 * k, 30.0, waiting=blocked, left=1002, campaigns=campaigns)

    control, memory, given = Tap(), None, []
    for k, blocked in enumerate((0, 0, 5, 0)):
        decision = control.decide(reading(k, blocked), memory)
        memory = decision.memory
        given.append(dict(decision.of))
        assert decision.jobs == sum(given[-1].values())
    # The jobs of a wait at 60 s; b has two jobs at most, and its rate does not grow beyond what it needs.
    assert [one["a"] for one in given] == [3, 4, 0, 6]
    assert [one["b"] for one in given] == [2, 2, 2, 2]


def test_a_reference_can_be_in_slots_of_the_site():
    control = make("control", {"kind": "p", "reference": 2.0, "kp": 1.0, "relative": True})
    assert control.decide(Reading(0, 30, used=10, slots=32), None)[:1] == (54.0,)
    load = make("control", {"kind": "p", "reference": 2.0, "kp": 1.0, "relative": True, "sensor": "load"})
    assert load.decide(Reading(0, 30, load=0.5, slots=32), None)[:1] == (1.5,)


def test_the_tap_never_exceeds_its_maximum_and_never_falls_below_its_initial_rate():
    assert max(drive(Tap(), [Reading(30.0 * k, 30.0, left=10**6) for k in range(30)])) == 100
    blocked = [Reading(0, 30, waiting=1, left=9), Reading(600, 30, left=9)]
    assert drive(Tap(), blocked) == [0, 3]


def test_the_tap_does_not_grow_when_the_bag_was_short():
    assert drive(Tap(), [Reading(0, 30, left=1), Reading(30, 30, left=50)]) == [1, 3]


def test_waiting_for_the_batch_waits_for_the_last_job():
    readings = [Reading(0, 30), Reading(30, 30, waiting=1), Reading(60, 30, running=1), Reading(90, 30)]
    assert drive(WaitBatch(), readings) == [3, 0, 0, 4]


@pytest.mark.parametrize(("kind", "jobs"), [("min", 2.0), ("max", 5.0), ("sum", 7.0)])
def test_compositions(kind, jobs):
    parts = [
        {"kind": "p", "sensor": "load", "reference": 3.0, "kp": 1.0},
        {"kind": "p", "sensor": "waiting", "reference": 10.0, "kp": 0.5},
    ]
    control = make("control", {"kind": kind, "of": parts})
    assert drive(control, [Reading(0, 30, load=1.0)]) == [jobs]
    assert make("control", spec(control)) == control


@pytest.mark.parametrize("of", [[], "pi", [{"kind": "nothing"}]])
def test_a_composition_needs_controllers(of):
    with pytest.raises(PolicyError):
        make("control", {"kind": "min", "of": of})


def wound_up(control, cycles=50, error=-40.0, left=100):
    """Cycles after which a controller wants a job again once a long error is over."""
    memory = None
    for k in range(cycles):
        memory = control.decide(Reading(30.0 * k, 30.0, used=int(-error), left=left), memory).memory
    for k in range(10_000):
        decision = control.decide(Reading(30.0 * (cycles + k), 30.0, left=left), memory)
        if decision.jobs >= 1:
            return k
        memory = decision.memory
    raise AssertionError("it never wants a job again")


PI = {"kind": "pi", "reference": 4.0, "kp": 0.5, "ki": 0.1}


def test_an_integral_winds_up_unless_it_is_kept_from_it():
    # 50 cycles with 36 too many: the sum is -1800, and each cycle adds 4; it must come to -10.
    assert wound_up(make("control", PI)) == 447
    for kept, cycles in {"conditional": 0, "clamping": 0, "back-calculation": 9}.items():
        assert wound_up(make("control", PI | {"anti_windup": kept})) <= cycles, kept


@pytest.mark.parametrize("kept", ["none", "conditional", "clamping", "back-calculation"])
def test_what_can_be_applied_is_the_same_with_and_without_anti_windup(kept):
    readings = [Reading(30.0 * k, 30.0, used=k % 3, left=1000) for k in range(20)]
    assert drive(make("control", PI | {"anti_windup": kept}), readings) == drive(
        make("control", PI), readings
    )


def test_integrals_do_not_wind_up_on_work_that_is_not_there_either():
    short = [Reading(30.0 * k, 30.0, left=2) for k in range(200)]
    late = [Reading(6000.0, 30.0, used=5, left=1000)]  # one too many
    assert drive(make("control", PI), short + late)[-1] > 70
    for kept in ("conditional", "clamping", "back-calculation"):
        assert drive(make("control", PI | {"anti_windup": kept}), short + late)[-1] < 3, kept


def test_back_calculation_bleeds_off_what_could_not_be_applied():
    control = make("control", PI | {"anti_windup": "back-calculation", "tracking": 2.0})
    first = control.decide(Reading(0.0, 30.0, used=104, left=100), None)
    # Error -100: u = -50 - 10 = -60, applied 0, so 60 / (0.1 x 2) = 300 of the sum come back.
    assert first.jobs == 0.0
    assert first.memory.total == pytest.approx(-100 + 300)


@pytest.mark.parametrize(
    ("control", "settled"),
    [
        ({"kind": "p", "reference": 9.0, "kp": 0.1}, True),
        ({"kind": "pi", "reference": 9.0, "kp": 0.1, "ki": 0.0}, True),
        ({"kind": "pi", "reference": 9.0, "kp": 0.1, "ki": 1e-9}, False),
        ({"kind": "mfc", "reference": 0.0}, True),
        ({"kind": "mfc", "sensor": "load", "reference": 3.0}, False),
        ({"kind": "step", "high": 10.0, "at": 1e5}, False),
        ({"kind": "step", "high": 0.5, "at": 1e5}, True),
        ({"kind": "step", "high": 10.0, "until": 20.0}, True),
        ({"kind": "min", "of": [PI, {"kind": "p", "reference": 9.0, "kp": 0.1}]}, True),
        ({"kind": "max", "of": [PI | {"kp": 0.0, "ki": 1e-9}, {"kind": "p", "kp": 0.01}]}, False),
        ("tap", False),
        ("wait-batch", False),
    ],
)
def test_a_controller_has_settled_only_where_nothing_will_change_any_more(control, settled):
    made, memory = make("control", control), None
    for k in range(5):
        reading, before = Reading(30.0 * k, 30.0, left=10), memory
        decision = made.decide(reading, before)
        memory = decision.memory
    assert made.settled(reading, before, decision) is settled
