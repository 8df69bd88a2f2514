"""Reference pages of numbers with names: trace events and registers, read from the enumerations of the models."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from pymodels.hardware.discover import nic_kind, nic_kinds
from tb.docs.markdown import code, docstring, escape, table
from tb.tools.paths import ROOT

KINDS = {"IntEnum", "IntFlag"}
TRACE = "pymodels/trace.py"


def register_maps() -> dict[str, str]:
    """Return the module of each register map by title."""
    own = {kind: f"pymodels/nics/{kind}/registers.py" for kind in nic_kinds()}
    return {
        "LANai 9, and what all NICs share": "pymodels/registers.py",
        **{nic_kind(kind).title.partition(" ")[2]: name for kind, name in own.items() if (ROOT / name).is_file()},
        "FPGA card": "pymodels/card/registers.py",
    }


class Member(NamedTuple):
    """Member of an enumeration."""

    name: str
    value: int
    meaning: str


class Enumeration(NamedTuple):
    """Enumeration of a module."""

    name: str
    doc: str
    members: list[Member]


def enumerations(name: str) -> Iterator[Enumeration]:
    """Yield the enumerations of a module, named by its path from the root.

    The meaning of a member is the comment on its line, or the docstring below it.
    """
    text = (ROOT / name).read_text(encoding="utf-8")
    module = import_module(name.removesuffix(".py").replace("/", "."))
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and KINDS & {ast.unparse(base) for base in node.bases}:
            members = list(_members(node, getattr(module, node.name), text.splitlines()))
            yield Enumeration(node.name, ast.get_docstring(node) or "", members)


def _members(node: ast.ClassDef, found: object, lines: list[str]) -> Iterator[Member]:
    for at, one in enumerate(node.body):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            name = one.targets[0].id
            yield Member(name, int(getattr(found, name)), _meaning(node, at, lines))


def _meaning(node: ast.ClassDef, at: int, lines: list[str]) -> str:
    following = node.body[at + 1] if at + 1 < len(node.body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return str(following.value.value)
    _, mark, comment = lines[(node.body[at].end_lineno or 1) - 1].partition("  # ")
    return comment if mark else ""


def _table(found: Enumeration, name: str, digits: int) -> Iterator[str]:
    yield from (f"### {found.name}", "", *docstring(found.doc), "")
    rows = ((code(one.name), code(f"{one.value:#0{digits + 2}x}"), escape(one.meaning)) for one in found.members)
    yield from table((name, "value", "meaning"), rows)


def trace_events() -> Iterator[str]:
    """Yield the page of trace events."""
    yield from ("# Trace events", "", "Records of `trace.npy`, for readers of a run's trace.", "")
    yield "Each record has 32 bytes: `time` (ps), `unit`, `event`, `packet`, `argument` (a) and `argument2` (b)."
    yield from ("`sanlab.events()` returns the names; `sanlab.load(folder).trace` the records.", "")
    for found in enumerations(TRACE):
        yield from _table(found, "event" if found.name == "TraceEvent" else "name", 3)


def registers() -> Iterator[str]:
    """Yield the page of registers."""
    yield from ("# Registers", "", "Register maps of the NICs and cards, for writers of firmware and drivers.", "")
    yield from ("The RTL packages are generated from the same enumerations.", "")
    for title, name in register_maps().items():
        yield from (f"## {title}", "", f"Source: `{name}`.", "")
        for found in enumerations(name):
            yield from _table(found, "register or bit", 2)
