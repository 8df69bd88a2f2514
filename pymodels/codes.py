"""Enumerations with fast member access, for codes that firmware uses at every step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import IntEnum
from typing import Generic, TypeVar, cast

E = TypeVar("E", bound=IntEnum)


class Codes(Generic[E]):
    """Enumeration as an object whose attributes are the members. Calls, indexing and iteration act on the
    enumeration.
    """

    def __init__(self, codes: type[E]) -> None:
        self.__doc__ = codes.__doc__
        self.__name__ = codes.__name__
        self.__members__ = codes.__members__
        self._codes = codes
        vars(self).update(codes.__members__)

    def __call__(self, value: int) -> E:
        """Return the member with a value. Raises ValueError for an unknown value."""
        return self._codes(value)

    def __getitem__(self, name: str) -> E:
        """Return the member with a name. Raises KeyError for an unknown name."""
        return self._codes[name]

    def __iter__(self) -> Iterator[E]:
        """Iterate over all members in the order of their definition."""
        return iter(self._codes)

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self._codes)

    def __contains__(self, member: object) -> bool:
        """Return True if an object is a member."""
        return isinstance(member, self._codes)


def quick(codes: type[E]) -> type[E]:
    """Decorate an enumeration for fast member access.

    Before Python 3.12, access through the class of an Enum takes ten times as long as through an object.
    """
    return codes if sys.version_info >= (3, 12) else cast("type[E]", Codes(codes))
