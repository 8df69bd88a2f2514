"""Memory use of our objects, for tests that memory does not grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

OURS = ("firmware.", "tb.program.")
CONTAINERS = (dict, list, tuple, set, frozenset, deque)


def memory_use(root: object) -> int:
    """Return the elements of all containers, and bytes, reachable from an object through our own objects."""
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
    """Yield the direct contents of a container or of one of our objects."""
    if isinstance(one, dict):
        yield from one.keys()
        yield from one.values()
    elif isinstance(one, CONTAINERS):
        yield from one
    elif type(one).__module__.startswith(OURS):
        yield from getattr(one, "__dict__", {}).values()
        yield from (getattr(one, name) for name in getattr(type(one), "__slots__", ()) if hasattr(one, name))
