"""Reference page of the HDL: each module with its parameters and ports, read from the sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, takewhile
from pathlib import Path
from typing import NamedTuple

from tb.docs.markdown import code, escape, table
from tb.quality.text import HDL, hdl_files
from tb.tools.paths import ROOT

MODULE = re.compile(r"^module\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
PORT = re.compile(r"^\s*(input|output|inout)\s+(.*?)(\w+)\s*((?:\[[^\]]*\]\s*)*),?\s*(?://\s*(.*))?$")
PARAMETER = re.compile(r"^\s*parameter\s+(.*?)(\w+)\s*=\s*(.*?),?\s*(?://\s*(.*))?$")


class Pin(NamedTuple):
    """A port or parameter of a module."""

    kind: str
    """`input`, `output`, `inout` or `parameter`."""
    type: str
    name: str
    meaning: str
    default: str = ""


class Module(NamedTuple):
    """A module of the HDL."""

    name: str
    path: Path
    about: str
    pins: list[Pin]


def modules() -> Iterator[Module]:
    """Yield all modules below `hdl`, by file name."""
    for path in hdl_files():
        if path.is_relative_to(HDL):
            yield from read(path)


def read(path: Path) -> Iterator[Module]:
    """Yield the modules of a file."""
    text = path.read_text(encoding="utf-8")
    for found in MODULE.finditer(text):
        header = takewhile(lambda line: ");" not in line.partition("//")[0], text[found.start() :].splitlines())
        yield Module(found[1], path, _comment(text[: found.start()]), list(_pins(header)))


def _comment(before: str) -> str:
    """Return the comment that ends directly before a module, or else the one at the head of its file."""
    lines = before.splitlines()
    last = list(takewhile(_is_comment, reversed(lines)))[::-1]
    return "\n".join(line.removeprefix("//").strip() for line in last or takewhile(_is_comment, lines)).strip()


def _is_comment(line: str) -> bool:
    return line.startswith("//")


def _pins(header: Iterable[str]) -> Iterator[Pin]:
    for line in header:
        if found := PARAMETER.match(line):
            yield Pin("parameter", found[1].strip(), found[2], found[4] or "", found[3])
        elif found := PORT.match(line):
            yield Pin(found[1], f"{found[2]}{found[4]}".strip(), found[3], found[5] or "")


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# HDL modules", "", "Each module with its parameters and ports, for readers and users of the RTL.", "")
    for folder, members in groupby(modules(), key=lambda one: one.path.parent.relative_to(ROOT).as_posix()):
        yield from (f"## {folder}", "")
        for one in members:
            yield from _module(one)


def _module(one: Module) -> Iterator[str]:
    yield from (f"### {one.name}", "", *map(escape, one.about.splitlines()), "")
    if one.pins:
        yield from table(
            ("kind", "name", "type", "meaning"),
            (
                (
                    pin.kind,
                    code(f"{pin.name} = {pin.default}" if pin.default else pin.name),
                    code(pin.type),
                    escape(pin.meaning),
                )
                for pin in one.pins
            ),
        )
