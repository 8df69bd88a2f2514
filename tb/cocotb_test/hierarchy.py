"""Signals of a design by hierarchical name, from the elaborated tree that Verilator writes as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

VARIABLES = {"VAR", "PORT"}
SCOPES = {"GENBLOCK", "BEGIN"}


class Signal(NamedTuple):
    """Signal of the sources: its module and its name within the module, with generate blocks."""

    module: str
    name: str


def signals(tree: Path) -> dict[str, Signal]:
    """Return each signal by its hierarchical name, such as `top.cluster.host_paris.card.tx`.

    Args:
        tree: File that `verilator --json-only` wrote.
    """
    modules = {one["addr"]: one for one in json.loads(tree.read_text(encoding="utf-8"))["modulesp"]}
    top = next(one for one in modules.values() if one["type"] == "MODULE" and one["name"] == "top")
    return dict(_inside(top, "top", modules))


def _inside(module: Any, path: str, modules: dict[str, Any]) -> Iterator[tuple[str, Signal]]:
    """Yield the signals of a module instance and of all instances below it."""
    open_scopes = [("", module["stmtsp"])]
    while open_scopes:
        prefix, statements = open_scopes.pop()
        for one in statements:
            name = f"{prefix}{one['name']}"
            if one["type"] in VARIABLES and not one.get("isParam") and one.get("varType") != "GENVAR":
                yield f"{path}.{name}", Signal(module["origName"], name)
            elif one["type"] == "CELL":
                yield from _inside(modules[one["modp"]], f"{path}.{name}", modules)
            elif one["type"] in SCOPES:
                open_scopes.append((f"{name}." if one["name"] else prefix, one.get("itemsp", [])))
