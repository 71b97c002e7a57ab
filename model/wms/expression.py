"""A small safe language of expressions over named attributes, as requirements and ranks of jobs use it.

Numbers, texts in quotes, `true` and `false`, names of attributes, `+ - * /`, comparisons, `and or not`,
`A if C else B`, and `min`, `max`, `abs`. Nothing else is understood: no attribute of an object, no call
of anything, no power or repetition that could take for ever.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

Value = float | str | bool
Formula = Callable[[Mapping[str, Any]], Any]

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: lambda left, right: _product(left, right),
    ast.Div: lambda left, right: left / right if right else float("inf"),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _product(left: Any, right: Any) -> Any:
    # A text times a number would be as long as the number is large.
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("a text cannot be multiplied")
    return left * right


_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_CALLS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
_WORDS = {"true": True, "false": False}
_LONGEST = 500


class ExpressionError(ValueError):
    """An expression is not understood."""


def compile_expression(text: str, names: Collection[str]) -> Formula:
    """A function that computes the expression from the values of its names.

    Args:
        text: the expression, at most 500 characters.
        names: that it may use.

    Raises:
        ExpressionError: naming what is not understood.
    """
    if len(text) > _LONGEST:
        raise ExpressionError(f"an expression may have {_LONGEST} characters, not {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ExpressionError(f"{text!r} is no expression: {getattr(error, 'msg', error)}") from None
    formula = _formula(tree.body, frozenset(names))
    try:
        # Once with numbers for all: what cannot be computed at all is found now, not in the middle of a run.
        formula({name: "" if name in ("name", "queue") else 1.0 for name in names})
    except TypeError as error:
        raise ExpressionError(f"{text!r}: {error}") from None
    return formula


def _formula(node: ast.expr, names: frozenset[str]) -> Formula:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return _constant(node.value)
    if isinstance(node, ast.Name):
        return _name(node.id, names)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        unary, inner = _UNARY[type(node.op)], _formula(node.operand, names)
        return lambda values: unary(inner(values))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _pair(_BINARY[type(node.op)], node.left, node.right, names)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BINARY:
        return _pair(_BINARY[type(node.ops[0])], node.left, node.comparators[0], names)
    if isinstance(node, ast.BoolOp):
        parts = [_formula(part, names) for part in node.values]
        every = all if isinstance(node.op, ast.And) else any
        return lambda values: every(part(values) for part in parts)
    if isinstance(node, ast.IfExp):
        test, yes, no = (_formula(part, names) for part in (node.test, node.body, node.orelse))
        return lambda values: yes(values) if test(values) else no(values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _call(node.func.id, node.args, names)
    raise ExpressionError(f"{ast.unparse(node)!r} is not understood in an expression")


def _constant(value: Value) -> Formula:
    if isinstance(value, int):
        try:
            float(value)
        except OverflowError:
            raise ExpressionError("a number of more than 308 digits is not understood") from None
    return lambda _: value


def _name(name: str, names: frozenset[str]) -> Formula:
    if name in _WORDS:
        value = _WORDS[name]
        return lambda _: value
    if name not in names:
        raise ExpressionError(f"no attribute {name!r}; there are {', '.join(sorted(names))}")
    return operator.itemgetter(name)


def _pair(
    binary: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr, names: frozenset[str]
) -> Formula:
    first, second = _formula(left, names), _formula(right, names)
    return lambda values: binary(first(values), second(values))


def _call(name: str, arguments: list[ast.expr], names: frozenset[str]) -> Formula:
    if name not in _CALLS:
        raise ExpressionError(f"no function {name!r}; there are {', '.join(_CALLS)}")
    if len(arguments) < (1 if name == "abs" else 2) or (name == "abs" and len(arguments) > 1):
        raise ExpressionError(f"{name} takes {'one value' if name == 'abs' else 'two values or more'}")
    function, parts = _CALLS[name], [_formula(part, names) for part in arguments]
    return lambda values: function(*(part(values) for part in parts))
