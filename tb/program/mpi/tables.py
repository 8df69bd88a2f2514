"""Tables of objects by handle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from firmware.mpi.host.errors import ErrorClass, Misuse

T = TypeVar("T")


class Table(Generic[T]):
    """Objects of one kind by handle."""

    def __init__(self, what: str, prefix: int, wrong: ErrorClass, given: Mapping[int, T] | None = None) -> None:
        """Create a table.

        Args:
            what: Name of the objects for errors.
            prefix: Highest byte of new handles.
            wrong: Error class of an invalid handle.
            given: Predefined objects by handle.
        """
        self._what, self._next, self._wrong = what, prefix << 24, wrong
        self._things = dict(given or {})

    def __getitem__(self, handle: int) -> T:
        """Return the object of a handle. Raises Misuse for an invalid handle."""
        if handle not in self._things:
            cause = f"invalid {self._what} handle {handle:#010x}"
            raise Misuse(self._wrong, cause, "give a handle from MPI that was not freed")
        return self._things[handle]

    def __len__(self) -> int:
        return len(self._things)

    def new(self, thing: T) -> int:
        """Add an object and return its handle."""
        self._next += 1
        self._things[self._next] = thing
        return self._next

    def set(self, handle: int, thing: T) -> None:
        """Assign an object to a handle."""
        self._things[handle] = thing

    def pop(self, handle: int) -> T:
        """Remove a handle and return its object. Raises Misuse for an invalid handle."""
        thing = self[handle]
        del self._things[handle]
        return thing
