"""Enumerations of the hot path: codes that firmware names at every step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import IntEnum
from typing import Generic, TypeVar, cast

E = TypeVar("E", bound=IntEnum)


class Codes(Generic[E]):
    """An enumeration as an object: its members are attributes. Called, indexed or iterated it is the enumeration."""

    def __init__(self, codes: type[E]) -> None:
        self.__doc__ = codes.__doc__
        self.__name__ = codes.__name__
        self.__members__ = codes.__members__
        self._codes = codes
        vars(self).update(codes.__members__)

    def __call__(self, value: int) -> E:
        """The member of a value. Raises ValueError when there is none."""
        return self._codes(value)

    def __getitem__(self, name: str) -> E:
        """The member of a name. Raises KeyError when there is none."""
        return self._codes[name]

    def __iter__(self) -> Iterator[E]:
        """All members, in the order of their definition."""
        return iter(self._codes)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._codes)

    def __contains__(self, member: object) -> bool:
        """Whether it is a member."""
        return isinstance(member, self._codes)


def quick(codes: type[E]) -> type[E]:
    """Decorates an enumeration whose members the hot path looks up.

    Before Python 3.12 a lookup by the class of an Enum takes as long as ten by an object.
    """
    return codes if sys.version_info >= (3, 12) else cast("type[E]", Codes(codes))
