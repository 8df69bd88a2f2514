"""Mutants of a Python file: its source with one small mistake.

An operator becomes its neighbour, a condition its opposite, a number the next one, or a statement or its cost is
removed. Annotations, decorators and docstrings are unchanged.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tb.quality.mutants import Mutant, numbered

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.BitXor: ("^", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""Operators with their replacements."""
COSTS = {"work", "work_on", "post", "spend", "syscall", "compute", "copy_memory", "switch_context"}
"""Verbs that charge time."""


def mutants(text: str) -> list[Mutant]:
    """Return all mutants of a file in the order of the text. Raises SyntaxError for invalid Python."""
    found = {(one.start, one.end, one.new): one for one in _Finder(text).found()}
    return numbered([found[key] for key in sorted(found)])


class _Finder:
    """Finder of the mutants of a text."""

    def __init__(self, text: str) -> None:
        self._text, self._lines = text, text.splitlines(keepends=True)
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line))

    def found(self) -> Iterator[Mutant]:
        """Yield the mutants in any order."""
        yield from self._of(ast.parse(self._text))

    def _of(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.JoinedStr):  # its parts have no positions before Python 3.12
            return
        yield from self._own(node)
        for name, inside in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment", "op", "ops"):
                continue
            for child in inside if isinstance(inside, list) else [inside]:
                if isinstance(child, ast.AST):
                    yield from self._of(child)

    def _own(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare):
            pairs = zip([node.left, *node.comparators][:-1], node.ops, node.comparators, strict=True)
            for left, operator, right in pairs:
                yield from self._operator(left, operator, right)
        elif isinstance(node, ast.BinOp):
            yield from self._operator(node.left, node.op, node.right)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values[:-1], node.values[1:], strict=True):
                yield from self._operator(left, node.op, right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._at(self._begin(node), self._begin(node.operand), "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield self._whole(node, str(not node.value) if isinstance(node.value, bool) else str(node.value + 1))
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            test = self._text[self._begin(node.test) : self._end(node.test)]
            yield self._whole(node.test, f"(not ({test}))")
        elif _goes(node):
            yield self._whole(node, "pass")

    def _operator(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> Iterator[Mutant]:
        """Yield the mutant of an operator between two operands, except in a union of types."""
        if type(operator) not in OPERATORS or any(_type(one) for one in (left, right)):
            return
        old, new = OPERATORS[type(operator)]
        begin, end = self._end(left), self._begin(right)
        word = re.escape(old).replace(r"\ ", r"\s+")
        match = re.search(rf"(?<!\w){word}(?!\w)" if old[0].isalpha() else word, self._text[begin:end])
        if match:
            yield self._at(begin + match.start(), begin + match.end(), new)

    def _whole(self, node: ast.AST, new: str) -> Mutant:
        return self._at(self._begin(node), self._end(node), new)

    def _at(self, start: int, end: int, new: str) -> Mutant:
        line = self._text.count("\n", 0, start)
        old = " ".join(self._text[start:end].split())
        return Mutant(start, end, old, new, line + 1, self._lines[line].strip())

    def _begin(self, node: ast.AST) -> int:
        return self._place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> int:
        return self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _place(self, line: int, column: int) -> int:
        """Return the position of a line and column; columns of the tree count bytes."""
        return self._begins[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _goes(node: ast.AST) -> bool:
    """Return True for a statement that does more than bind a name, whose removal any use of the name would reveal."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    does = isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))
    return does or isinstance(node, ast.AugAssign)


def _type(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str))


def is_cost(mutant: Mutant) -> bool:
    """Return True if the removed statement charges time."""
    return mutant.new == "pass" and bool(re.search(rf"\.({'|'.join(sorted(COSTS))})\(", mutant.old))
