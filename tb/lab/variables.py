"""Variables of a NIC's Python firmware: integers held by its objects, found through its coroutines.

A real NIC keeps them in its memory, outside the regions that the firmware's memory map names. A fault may flip a bit of
a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

OWN = "firmware."
"""Prefix of the modules whose objects belong to the firmware."""
SHIFT = 0xFFFFFFFF


@dataclass(frozen=True)
class Variable:
    """Variable of the firmware; `key` is an attribute of an object, an index of a list or a key of a dictionary."""

    name: str
    holder: Any
    key: Any

    @property
    def value(self) -> int:
        """Present value."""
        return _members(self.holder)[self.key]  # type: ignore[no-any-return]

    def flip(self, bit: int) -> None:
        """Flip one of 32 bits."""
        flipped = (self.value ^ 1 << bit) & SHIFT
        if isinstance(self.holder, (list, dict)):
            self.holder[self.key] = flipped
        else:
            setattr(self.holder, self.key, flipped)


def variables(coroutines: Iterable[Any]) -> list[Variable]:
    """Return all variables in the order of their creation.

    Constants (frozen objects, layouts) and empty list or dictionary entries are excluded.
    """
    found: list[Variable] = []
    seen: set[int] = set()
    for coroutine in coroutines:
        for frame in _frames(coroutine):
            for name, held in frame.f_locals.items():
                found += _within(held, name, seen)
    return found


def _frames(coroutine: Any) -> Iterator[Any]:
    """Yield the frames of a coroutine and of the coroutines that it awaits."""
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
    """Return the members of an object by key, or of a list by index."""
    if isinstance(held, dict):
        return held
    if isinstance(held, list):
        return dict(enumerate(held))
    slots = [name for one in type(held).__mro__ for name in getattr(one, "__slots__", ()) if hasattr(held, name)]
    return {**{name: getattr(held, name) for name in slots}, **getattr(held, "__dict__", {})}
