"""The language of requirements and ranks: it computes what it should and understands nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.policy import PolicyError
from gridtune.model.wms.expression import ExpressionError, compile_expression
from gridtune.model.wms.ranking import Expression

VALUES = {"free": 3, "ett": 12.5, "name": "lal", "sdj": True}


def value(text):
    return compile_expression(text, VALUES)(VALUES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 * free", 11),
        ("-ett / 5", -2.5),
        ("name == 'lal' and free >= 3", True),
        ("sdj and not free > 3", True),
        ("free < 1 or ett != 12.5", False),
        ("1 if sdj else 2", 1),
        ("min(free, ett, 2) + max(1, 4) + abs(-free)", 9),
        ("true == sdj", True),
        ("1 / 0 > free", True),
    ],
)
def test_it_computes(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "free.real", "name.__class__", "__import__('os')", "open('x')", "eval('1')", "__builtins__", "nodes",
        "9 ** 9 ** 9", "1 << 99", "7 // 2", "7 % 2", "~1", "[1, 2]", "(1, 2)", "{1: 2}", "[x for x in name]",
        "lambda: 1", "f'{free}'", "name[0]", "(free := 1)", "b'x'", "1j", "None", "...", "1 < free < 5",
        "min(*name)", "abs(x=1)", "abs(1, 2)", "max(1)", "min()", "", "1 +", "a b", "import os", "1\n2", "\0",
        "name - 1", "'a' * 9999999999", "'a' * true", "(" * 249 + "1" + ")" * 249, "1 + " * 200 + "1",
        "free / 1" + "0" * 400,
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_one_line(text):
    with pytest.raises(ExpressionError) as caught:
        value(text)
    assert "\n" not in str(caught.value)


def test_a_rank_must_be_a_number_before_the_run():
    assert Expression(rank_by="free - ett / 60").rank_by
    with pytest.raises(PolicyError, match="rank_by: 'name' is no number"):
        Expression(rank_by="name")


NUMBERS = st.integers(0, 50).map(str) | st.floats(0.125, 50).map(repr) | st.sampled_from(["free", "ett"])
ARITHMETIC = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(
            lambda parts: "({} {} {})".format(*parts)
        ),
        inner.map(lambda text: f"(-{text})"),
        st.tuples(inner, inner).map(lambda parts: "min({}, {})".format(*parts)),
        st.tuples(inner, inner, inner).map(lambda parts: "({} if {} > 2 else {})".format(*parts)),
    ),
    max_leaves=10,
).filter(lambda text: len(text) <= 500)


@settings(max_examples=150, deadline=None)
@given(ARITHMETIC)
def test_arithmetic_agrees_with_python(text):
    assert value(text) == pytest.approx(eval(text, {"min": min}, VALUES), rel=1e-12, abs=1e-9)
