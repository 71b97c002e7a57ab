"""Small changes of the code: where one can be made, and the code with it.

A comparison, sum, product, constant, condition, `return`, `break` or keyword argument becomes another one.
Texts, annotations, decorators, assertions and what a policy's parameters say of themselves are left alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
UNCHANGED, RAISING = -1, -2  # places of no change, and of the change of all functions into ones that raise

COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
ast.NotEq: ast.Eq,
               ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv:
ast.Mult,
              ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip
# What a policy says of a parameter: its default counts, which comes first.
PARAMETER = ("parameter", "_weight", "_time", "_count")


@dataclass(frozen=True)
class Mutant:
    """A change of a module.

    Attributes:
        room: of the module.
        module: its path.
        function: in which it is; empty outside of all.
        line: its number, from 1.
        first: number of the line in which the statement starts.
        last: number of the line in which what is changed ends.
        repeat: how many times the same change stands before it in the function.
        place: its number among all changes of the module.
        operator: kind of change.
        before, after: the expression or statement.
        text: the unchanged line.
    """

    room: str
    module: str
    function: str
    line: int
    first: int
    last: int
    repeat: int
    place: int
    operator: str
    before: str
    after: str
    text: str

    @property
    def inside(self) -> bool:
        """Whether it is in a function, and not in what is run on import."""
        name = self.function.split(".")[-1].lstrip("_")
        return bool(name) and not name[0].isupper()

    @property
    def key(self) -> str:
        """What tells it from others, whatever changes elsewhere in the module."""
        parts = [
            self.module, self.function, self.text, self.operator, self.before, self.after, str(self.repeat)
        ]  # fmt: skip
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


class Changes(ast.NodeTransformer):
    """Finds all changes of a module, and makes one of them.

    Args:
        wanted: number of the change to make.
    """

    def __init__(self, wanted: int = UNCHANGED) -> None:
        self.wanted = wanted
        self.found: list[dict[str, Any]] = []  # what Mutant has of a change
        self._names: list[str] = []
        self._first = 0  # line in which the statement starts

    def visit(self, node: ast.AST) -> Any:
        """Visit a node and all in it, and remember which statement it is in."""
        outer = self._first
        if isinstance(node, ast.stmt):
            self._first = node.lineno
        made = super().visit(node)
        self._first = outer
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._named(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._named(node)

    def _named(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if isinstance(node, ast.FunctionDef):  # what a default is, is decided outside of the function
            for defaults in (node.args.defaults, node.args.kw_defaults):
                defaults[:] = [default and self.visit(default) for default in defaults]
        self._names.append(node.name)
        node.body = [self.visit(statement) for statement in node.body]
        self._names.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node
        self.generic_visit(node)
        node.test = self._choice(node.test, "condition", ast.UnaryOp(ast.Not(), node.test))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        kind = COMPARISONS.get(type(node.ops[0]))
        if kind is None:
            return node
        return self._choice(
            node, "comparison", ast.Compare(node.left, [kind(), *node.ops[1:]], node.comparators)
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = ARITHMETIC.get(type(node.op))
        text = any(
            isinstance(side, ast.Constant | ast.JoinedStr) and not _is_number(side)
            for side in (node.left, node.right)
        )
        return (
            node
            if kind is None or text
            else self._choice(node, "arithmetic", ast.BinOp(node.left, kind(), node.right))
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        kind = ARITHMETIC.get(type(node.op))
        return (
            node
            if kind is None
            else self._choice(node, "arithmetic", ast.AugAssign(node.target, kind(), node.value))
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return self._choice(node, "boolean", ast.BoolOp(other, node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not | ast.USub):
            return self._choice(node, "boolean" if isinstance(node.op, ast.Not) else "sign", node.operand)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return self._choice(node, "constant", ast.Constant(not node.value))
        if _is_number(node):
            return self._choice(node, "constant", ast.Constant(node.value + 1))  # type: ignore[operator]
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg != "strict":  # that lengths agree is asserted
            node.value = self.visit(node.value)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            return node
        return self._choice(node, "return", ast.Return(ast.Constant(None)))

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return self._choice(node, "loop", ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self._choice(node, "loop", ast.Break())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in PARAMETER:
            node.args[:1] = [self.visit(argument) for argument in node.args[:1]]
            return node
        if name in ("register", "define", "TypeVar", "cast", "field"):
            return node
        self.generic_visit(node)
        made: ast.AST = node
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in ("strict", "dtype", "copy", "unit", "key"):
                fewer = ast.Call(
                    node.func, node.args, [other for other in node.keywords if other is not keyword]
                )
                changed = self._choice(node, "keyword", fewer)
                made = changed if changed is not node else made
        return made

    def _choice(self, node: Any, operator: str, other: Any) -> Any:
        """Note a change; the changed node if it is the wanted one, else the node."""
        at = len(self.found)
        self.found.append(
            {
                "function": ".".join(self._names),
                "line": node.lineno,
                "first": self._first,
                "last": node.end_lineno,
                "operator": operator,
                "before": ast.unparse(node),
                "after": ast.unparse(other),
            }
        )
        return ast.fix_missing_locations(ast.copy_location(other, node)) if at == self.wanted else node


def _is_number(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    )


def mutants_of(room: str, module: str) -> list[Mutant]:
    """All changes of a module."""
    source = (ROOT / module).read_text(encoding="utf-8")
    lines, changes = source.splitlines(), Changes()
    changes.visit(ast.parse(source))
    seen: Counter[tuple[str, ...]] = Counter()
    made = []
    for place, found in enumerate(changes.found):
        text = lines[found["line"] - 1].strip()
        same = (found["function"], text, found["operator"], found["before"], found["after"])
        made.append(Mutant(room, module, place=place, text=text, repeat=seen[same], **found))
        seen[same] += 1
    return made


def code_of(module: str, place: int) -> CodeType:
    """A module compiled with a change."""
    path = imported_path(module)
    tree = Changes(place).visit(ast.parse(path.read_text(encoding="utf-8")))
    if place == RAISING:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node.body = [ast.parse("raise RuntimeError('broken')").body[0]]
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


def imported_path(module: str) -> Path:
    """Where the package has a module of one of its floors."""
    return ROOT / "src" / "gridtune" / module
