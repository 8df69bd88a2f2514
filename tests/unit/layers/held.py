"""How much our objects hold: for tests of memory that must not grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

OURS = ("firmware.", "tb.program.")
CONTAINERS = (dict, list, tuple, set, frozenset, deque)


def held(root: object) -> int:
    """Elements of all containers, and bytes, that our own objects hold from one on."""
    seen: set[int] = set()
    todo, total = [root], 0
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, (bytes, bytearray, *CONTAINERS)):
            total += len(one)
        todo += parts(one)
    return total


def parts(one: Any) -> Iterator[Any]:
    """What an object holds directly, if it is a container or one of ours."""
    if isinstance(one, dict):
        yield from one.keys()
        yield from one.values()
    elif isinstance(one, CONTAINERS):
        yield from one
    elif type(one).__module__.startswith(OURS):
        yield from getattr(one, "__dict__", {}).values()
        yield from (getattr(one, name) for name in getattr(type(one), "__slots__", ()) if hasattr(one, name))
