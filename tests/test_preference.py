"""Weights and limits rank the front of a study as they say."""

import pytest

from gridtune.optimize.commands.front import preferred
from gridtune.optimize.front.front import front
from gridtune.scenarios import ScenarioError
from tests.fronts import COMPLETED, UNFAIR, UNHAPPY, archive

TWO = (UNFAIR, COMPLETED)
CONFIGURATIONS = ((0.0, 0.0), (0.1, 90.0), (0.5, 95.0), (1.0, 100.0))


def ranked(text, configurations=CONFIGURATIONS, objectives=TWO):
    found = front(archive(objectives, *configurations))
    return [member.number for member in preferred(text, found)]


def test_weights_count_losses_as_shares_of_the_range():
    assert ranked("unfairness=1,completed=1")[0] == 1
    assert ranked("completed=1")[0] == 3
    assert ranked("unfairness=3,completed=1") == [1, 0, 2, 3]
    assert ranked("unfairness=10,completed=1")[0] == 0


def test_only_ratios_of_weights_count_however_large(recwarn):
    assert ranked("unfairness=1.5e308,completed=0.5e308") == ranked("unfairness=3,completed=1")
    assert ranked("unfairness=3e-320,completed=1e-320") == ranked("unfairness=3,completed=1")
    assert not recwarn.list


def test_limits_leave_configurations_out():
    assert ranked("unfairness<=0.5,completed=1") == [2, 1, 0]
    assert ranked("unfairness<=0.5,completed>=95") == [2]
    assert ranked("completed>=101") == []


def test_a_weight_without_a_number_is_1():
    assert ranked("unfairness,completed") == ranked("unfairness=1,completed=1")
    assert ranked("completed") == ranked("completed=1")


def test_maximised_objectives_are_better_the_larger():
    configurations = ((0, 0.2, 5.0), (0, 0.1, 4.0), (1, 0.0, 9.0))
    three = (UNHAPPY, UNFAIR, COMPLETED)
    assert ranked("completed", configurations, three) == [2, 0, 1]
    assert ranked("unhappy_users=9,completed", configurations, three)[0] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing is preferred"),
        ("unfairness==3", "could not convert"),
        ("unfairness=a", "could not convert"),
        ("unfairness=nan", "finite and at least 0"),
        ("unfairness=-1", "finite and at least 0"),
        ("makespan=1", "makespan: .* unfairness, completed"),
        ("makespan<=1", "makespan: .* unfairness, completed"),
        ("unfairness~0.1", "unfairness~0.1: not an objective"),
        ("unfairness<=a", "expected weights"),
        ("unfairness=1,unfairness=2", "two weights"),
        ("unfairness=0", "nothing is preferred"),
    ],
)
def test_what_cannot_be_meant_is_one_line(text, said):
    with pytest.raises(ScenarioError, match=said) as error:
        ranked(text)
    assert "\n" not in str(error.value)
