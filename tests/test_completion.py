"""What a shell is offered, asked as a shell asks: by Typer's protocol, in a process of its own."""

import pytest

from tests.forked import called
from tests.processes import TESTS


def offered(line, cwd=TESTS):
    """The words offered for the last word of a line."""
    words = line.split(" ")
    asked = {
        "_GRIDTUNE_COMPLETE": "complete_bash",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = called([], cwd, 60, **asked)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gridtune sea", {"search"}),
        ("gridtune run diet/day-r", {"diet/day-regular"}),
        ("gridtune scenarios show dirac/sea", {"dirac/search"}),
        ("gridtune policies --family disc", {"discipline"}),
        ("gridtune search diet/day-regular --sampler nsga", {"nsga2", "nsga3"}),
        ("gridtune plot results gan", {"gantt"}),
        ("gridtune search diet/day-regular --objective unfair", {"unfairness", "unfairness_jain"}),
        ("gridtune run diet/day-regular --set client.disp", {"client.dispatch="}),
        ("gridtune run diet/day-regular --set client.dispatch=", {"ethic", "legacy"}),
        ("gridtune run federation/small --set site.lyon.pol", {"site.lyon.policy="}),
        ("gridtune run federation/small --set parts.harvest=", {"true", "false"}),
        ("gridtune sweep dirac/search --vary middleware.kind=pu", {"push", "pull"}),
        ("gridtune search federation/small --vary harvester.controller.k", {"harvester.controller.kp="}),
        ("gridtune reproduce dir", {"dirac"}),
    ],
)
def test_a_shell_is_offered(line, words):
    found = {word.rpartition("=")[2] or word for word in offered(line)}
    assert found >= words
    last = line.rpartition(" ")[2].rpartition("=")[2]
    assert all(word.startswith(last) for word in found)


def test_where_nothing_is_known_nothing_is_offered():
    assert offered("gridtune run no/such --set site.") == []
