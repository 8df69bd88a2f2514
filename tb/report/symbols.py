"""Symbols of the programs that NICs execute, written by a run for its wave views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pymodels.lanai.program import Program
from pymodels.results import write_atomically

FILE = "symbols.json"
SCHEMA = 1


def write_symbols(programs: Mapping[str, Program], path: Path) -> None:
    """Write the names of all words of the programs, by host, atomically; nothing if no NIC executes a program.

    Raises ResultsError if writing fails.
    """
    different = {program.data: program for program in programs.values()}
    if different:
        told = [
            {"hosts": [host for host, one in programs.items() if one.data == data], "words": _names(program)}
            for data, program in different.items()
        ]
        write_atomically(path, json.dumps({"schema": SCHEMA, "programs": told}) + "\n")


def _names(program: Program) -> dict[int, str]:
    """Return the name of each word without spaces: `main+0x8`, or `send@main+0x8` for `send` inlined in `main`."""
    words = range(program.base, program.base + len(program.data), 4)
    return {at: program.place(at).replace(" in ", "@") for at in words if program.function(at)}


def read_symbols(folder: Path) -> list[tuple[frozenset[str], dict[int, str]]]:
    """Return hosts and word names of each program; empty if no NIC has executed one."""
    path = folder / FILE
    if not path.exists():
        return []
    programs = json.loads(path.read_text(encoding="utf-8"))["programs"]
    return [(frozenset(one["hosts"]), {int(at): name for at, name in one["words"].items()}) for one in programs]
