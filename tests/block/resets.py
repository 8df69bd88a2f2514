"""Check for state without a reset: on Icarus a flop starts as X, and keeps it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from cocotb.handle import HierarchyObject, LogicObject

CONTROL = ("_valid", "_ready", "_req", "busy", "_q")
"""Suffixes of control wires and flops, which must be known after reset."""
DATA = ("head_q",)
"""Data flops, which are not read before a control flop validates them."""


def unreset(scope: Any) -> list[str]:
    """Return the single control bits within a scope that are X."""
    log = logging.getLogger("gpi")
    before = log.level
    log.setLevel(logging.ERROR)  # not every member of a scope is a cocotb object
    try:
        return list(_unreset(scope))
    finally:
        log.setLevel(before)


def _unreset(scope: Any) -> Iterator[str]:
    for handle in scope:
        if isinstance(handle, HierarchyObject):
            yield from _unreset(handle)
        elif _is_control(handle) and not handle.value.is_resolvable:
            yield handle._path


def _is_control(handle: Any) -> bool:
    return isinstance(handle, LogicObject) and handle._name.endswith(CONTROL) and handle._name not in DATA
