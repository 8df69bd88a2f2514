"""The variables of a NIC's program in Python: whole numbers that its objects hold, found from its coroutines.

A real NIC has them in its memory beside what the firmware's map names. A fault may flip a bit of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

OWN = "firmware."
"""Modules whose objects are the program's."""
SHIFT = 0xFFFFFFFF


@dataclass(frozen=True)
class Variable:
    """One: `key` is an attribute of an object, an index of a list or a key of a dictionary."""

    name: str
    holder: Any
    key: Any

    @property
    def value(self) -> int:
        """What it holds now."""
        return _members(self.holder)[self.key]  # type: ignore[no-any-return]

    def flip(self, bit: int) -> None:
        """Flip a bit of its 32."""
        flipped = (self.value ^ 1 << bit) & SHIFT
        if isinstance(self.holder, (list, dict)):
            self.holder[self.key] = flipped
        else:
            setattr(self.holder, self.key, flipped)


def variables(coroutines: Iterable[Any]) -> list[Variable]:
    """All, in the order in which they were made. What never changes (frozen, layout) is none, nor an entry of a list
    that holds nothing.
    """
    found: list[Variable] = []
    seen: set[int] = set()
    for coroutine in coroutines:
        for frame in _frames(coroutine):
            for name, held in frame.f_locals.items():
                found += _within(held, name, seen)
    return found


def _frames(coroutine: Any) -> Iterator[Any]:
    """Those of a coroutine and of what it awaits."""
    while coroutine is not None and hasattr(coroutine, "cr_frame"):
        if coroutine.cr_frame is not None:
            yield coroutine.cr_frame
        coroutine = coroutine.cr_await


def _within(held: Any, name: str, seen: set[int]) -> Iterator[Variable]:
    if id(held) in seen or not _looked_into(held):
        return
    seen.add(id(held))
    for key, value in list(_members(held).items()):
        inner = f"{name}[{key!r}]" if isinstance(held, (list, dict)) else f"{name}.{key}"
        if type(value) is int:
            if value or not isinstance(held, (list, dict)):
                yield Variable(inner, held, key)
        else:
            yield from _within(value, inner, seen)


def _looked_into(held: Any) -> bool:
    if isinstance(held, (list, dict)):
        return True
    own = type(held).__module__.startswith(OWN)
    parameters = getattr(held, "__dataclass_params__", None)
    return own and not (parameters and parameters.frozen) and not type(held).__name__.endswith("Layout")


def _members(held: Any) -> Any:
    """By key; of a list by index."""
    if isinstance(held, dict):
        return held
    if isinstance(held, list):
        return dict(enumerate(held))
    slots = [name for one in type(held).__mro__ for name in getattr(one, "__slots__", ()) if hasattr(held, name)]
    return {**{name: getattr(held, name) for name in slots}, **getattr(held, "__dict__", {})}
