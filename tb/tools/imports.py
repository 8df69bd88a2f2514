"""Imports of a Python file, read from its text: also in functions, under TYPE_CHECKING, and by `import_module`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

CALLS = ("import_module", "__import__")


class Import(NamedTuple):
    """Import of one module."""

    line: int
    module: str
    """Full name of the module; empty if the program computes it."""
    name: str = ""
    """Imported name: an attribute of the module, or a module of the package."""


def imported(text: str, package: Sequence[str]) -> Iterator[Import]:
    """Yield all imports of a file in `package`. Raises SyntaxError."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from (Import(node.lineno, module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in CALLS:
            given = node.args[0] if node.args else None
            yield Import(node.lineno, str(given.value) if isinstance(given, ast.Constant) else "")
