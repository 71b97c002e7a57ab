"""What is wrong with a document is said by the paths that stand in it, without the forms of the schema."""

import pytest

from gridtune.scenarios import ScenarioError, load

TABLES = ("batch/replay", "search.space.horizon")
SPEED = ("dirac/validation-cluster", "site.cluster.speed")
PRIORITY = ("deadline/afternoon", "workload.task.priority")
LAW = ("federation/small", "workload.sweep.runtime")
FAULTS = [  # scenario and path, value, and the lines that are said of it below the path
    (TABLES, 1, [": 1: Input should be a table"]),
    (TABLES, [], [": List should have at least 1 item after validation, not 0"]),
    (TABLES, {"low": 1}, [".high: required, but left out"]),
    (TABLES, {"low": "x", "high": 3}, [".low: 'x': Input should be a valid integer or a valid number"]),
    (
        TABLES,
        {"low": 1, "hight": 3},
        [".high: required, but left out", ".hight: no such key; did you mean high?"],
    ),
    (TABLES, {"low": 3, "high": 1}, [": low (3) must be less than high (1)"]),
    (
        TABLES,
        [1, [2]],
        [
            ".1: Input should be a valid boolean or a valid integer or a valid number or a valid string",
        ],
    ),
    (PRIORITY, "x", [": 'x': Input should be a valid integer or a table"]),
    (SPEED, [1, "x"], [".1: 'x': Input should be a valid number"]),
    (LAW, "x", [": 'x': Input should be a table"]),
    (LAW, {"value": 1}, [".law: required, but left out"]),
    (LAW, {"law": "gama"}, [".law: no gama; did you mean gamma?"]),
    (LAW, {"law": "constant", "value": "x"}, [".value: 'x': Input should be a valid number"]),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value", "said"), FAULTS)
def test_a_fault_is_named_by_the_path_that_the_user_wrote(place, value, said):
    name, path = place
    with pytest.raises(ScenarioError) as caught:
        load(name).override({path: value})
    assert caught.value.faults == [f"{name}: {path}{line}" for line in said]
