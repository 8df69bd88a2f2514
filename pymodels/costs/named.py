"""Search for the path names used by the Python code of a message layer, in its syntax tree, without execution.

A path name is a string that reaches `work`, `spend`, `copy_memory`, a `Watch`, `poll` or `poll_card`, or a function of
firmware/common/nic that wraps them. The string may be a literal, a constant of the layer or a choice of such. It may
also be the argument of a function of the layer that passes it on.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

VERBS = {
    "work": (0, "path"),
    "work_on": (0, "path"),
    "spend": (0, "path"),
    "copy_memory": (0, "path"),
    "Watch": (2, "path"),
    "Watched": (2, "path"),
    "Answer": (2, "path"),
    "flag_watch": (0, "path"),
    "poll": (1, "path"),
    "poll_card": (2, "path"),
}
"""Position and keyword of the path argument of each verb."""
KEPT = {"answer.path", "answer.passed"}
"""Attributes of an `Answer`, whose path was named where it was created."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Named:
    """Result of the search: places by path name, and places whose path cannot be determined without execution."""

    paths: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unknown: list[str] = field(default_factory=list)


def named_paths(*places: Path) -> Named:
    """Return the paths named by Python files and folders, analysed together."""
    paths = sorted(path for place in places for path in ([place] if place.is_file() else place.rglob("*.py")))
    return _Reader({path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}).read()


class _Reader:
    """Modules of one layer, searched until no further pass-through function is found."""

    def __init__(self, modules: dict[Path, ast.Module]) -> None:
        self.modules = modules
        self.takers = dict(VERBS)
        self.constants: dict[str, list[ast.expr]] = defaultdict(list)
        for module in modules.values():
            for node in ast.walk(module):
                if isinstance(node, ast.Module | ast.ClassDef):
                    self._collect(node.body, self.constants)

    def read(self) -> Named:
        """Search repeatedly until no further pass-through function is found."""
        known = 0
        named = Named()
        while known != len(self.takers):
            known = len(self.takers)
            named = Named()
            for path, module in self.modules.items():
                for call, function in _calls(module):
                    self._call(call, function, f"{path.name}:{call.lineno}", named)
        return named

    @staticmethod
    def _collect(body: list[ast.stmt], into: dict[str, list[ast.expr]]) -> None:
        """Collect the values assigned to names in `body`."""
        for node in body:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        into[target.id].append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                into[node.target.id].append(node.value)

    def _call(self, call: ast.Call, function: Definition | None, place: str, named: Named) -> None:
        """Record the path that a call names, if its function takes one."""
        name = (
            call.func.attr
            if isinstance(call.func, ast.Attribute)
            else call.func.id
            if isinstance(call.func, ast.Name)
            else ""
        )
        if name not in self.takers:
            return
        index, keyword = self.takers[name]
        given = next((one.value for one in call.keywords if one.arg == keyword), None)
        if given is None and len(call.args) > index:
            given = call.args[index]
        if given is None or ast.unparse(given) in KEPT:
            return
        found = self._strings(given, function, set())
        if found is None:
            named.unknown.append(place)
        for path in found or ():
            named.paths[path].append(place)

    def _strings(self, value: ast.expr, function: Definition | None, seen: set[str]) -> list[str] | None:
        """Return all strings that an expression may be; empty for a parameter passed on, None if it cannot be
        determined.
        """
        if isinstance(value, ast.Constant):
            return [value.value] if isinstance(value.value, str) else None
        if isinstance(value, ast.IfExp):
            return self._all([value.body, value.orelse], function, seen)
        if isinstance(value, ast.Tuple | ast.List):
            return self._all(value.elts, function, seen)
        if isinstance(value, ast.Dict):
            return self._all(value.values, function, seen)
        if isinstance(value, ast.Subscript):
            return self._strings(value.value, function, seen)
        if isinstance(value, ast.Attribute):
            return self._constant(value.attr, function, seen)
        if isinstance(value, ast.Name):
            return self._name(value.id, function, seen)
        return None

    def _all(self, values: list[ast.expr], function: Definition | None, seen: set[str]) -> list[str] | None:
        """Return the strings of several expressions together."""
        parts = [self._strings(value, function, seen) for value in values]
        return None if None in parts else [one for part in parts if part for one in part]

    def _name(self, name: str, function: Definition | None, seen: set[str]) -> list[str] | None:
        """Return the strings of a local, a constant of the layer, or a parameter, whose function then counts as a path
        taker.
        """
        if function is not None:
            parameters = [
                one.arg for one in function.args.posonlyargs + function.args.args if one.arg not in ("self", "cls")
            ]
            if name in parameters:
                self.takers.setdefault(function.name, (parameters.index(name), name))
                return []
            local: dict[str, list[ast.expr]] = defaultdict(list)
            self._collect([node for node in ast.walk(function) if isinstance(node, ast.stmt)], local)
            if name in local:
                return self._all(local[name], function, seen)
        return self._constant(name, function, seen)

    def _constant(self, name: str, function: Definition | None, seen: set[str]) -> list[str] | None:
        """Return the strings of a constant of a module or class, given its last name."""
        if name not in self.constants or name in seen:
            return None
        return self._all(self.constants[name], function, seen | {name})


def _calls(module: ast.Module) -> Iterator[tuple[ast.Call, Definition | None]]:
    """Yield every call of a module with the function that contains it."""
    stack: list[tuple[ast.AST, Definition | None]] = [(module, None)]
    while stack:
        node, function = stack.pop()
        if isinstance(node, ast.Call):
            yield node, function
        inside = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        stack.extend((child, inside) for child in ast.iter_child_nodes(node))
