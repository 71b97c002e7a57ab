"""Small changes of the code, by which tests are judged, are found, numbered and made."""

import ast

import pytest

from tests.benchmarks import mutants, mutation

CODE = '''
LIMIT = 3


class Box:
    size: int = 1

    def room(self, used: int, spare: int = 2) -> int:
        """1 + 1 stays as it is."""
        if used < LIMIT and not self.full(used, at=5):
            return self.size * spare - used
        raise ValueError(1 + 1)
'''


def found_in(code: str) -> list[tuple[str, str, str]]:
    changes = mutation.Changes()
    changes.visit(ast.parse(code))
    return [(one["function"], one["before"], one["after"]) for one in changes.found]


def test_each_place_is_found_with_what_is_run_when() -> None:
    outside = [
        ("", "3", "4"),
        ("Box", "1", "2"),
        ("Box", "2", "3"),
    ]  # what a default is, is decided on import
    inside = [one for one in found_in(CODE) if one[0] == "Box.room"]
    assert [one for one in found_in(CODE) if one[0] != "Box.room"] == outside
    assert [before for _, before, _ in inside] == [
        "used < LIMIT", "5", "self.full(used, at=5)", "not self.full(used, at=5)",
        "used < LIMIT and (not self.full(used, at=5))", "self.size * spare", "self.size * spare - used",
        "return self.size * spare - used", "used < LIMIT and (not self.full(used, at=5))",
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(found_in(CODE))))
def test_one_change_is_made_and_no_other(place: int) -> None:
    function, before, after = found_in(CODE)[place]
    tree = mutation.Changes(place).visit(ast.parse(CODE))
    same, other = ast.unparse(ast.parse(CODE)), ast.unparse(ast.fix_missing_locations(tree))
    assert other != same
    told = [pair for pair in zip(same.splitlines(), other.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(told) == 1, (function, before, after)


def test_a_sample_stays_when_lines_move_and_differs_by_seed() -> None:
    first, again, others = (mutants.sample("fairness", 20, seed) for seed in (1, 1, 2))
    assert first == again
    assert len({one.key for one in first}) == len(first)
    assert {one.key for one in first} != {one.key for one in others}


def test_a_change_is_known_by_what_it_changes_wherever_it_stands(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(mutation, "ROOT", tmp_path)
    (tmp_path / "box.py").write_text(CODE)
    before = mutation.mutants_of("room", "box.py")
    (tmp_path / "box.py").write_text("# a line more\n" + CODE)
    after = mutation.mutants_of("room", "box.py")
    assert [one.key for one in before] == [one.key for one in after]
    assert [one.line + 1 for one in before] == [one.line for one in after]


def test_tests_are_taken_as_long_as_they_take_no_more_than_the_limit_together() -> None:
    known = {name: {"seconds": seconds} for name, seconds in (("a", 3.0), ("b", 2.0), ("c", 4.0))}
    taken = [mutants.within(list(known), known, limit) for limit in (1.0, 4.9, 5.0, 9.0)]
    assert taken == [["a"], ["a"], ["a", "b"], ["a", "b", "c"]]
    assert mutants.within([], known, 5.0) == []
