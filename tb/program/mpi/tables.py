"""What handles stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from firmware.mpi.host.errors import ErrorClass, Misuse

T = TypeVar("T")


class Table(Generic[T]):
    """Things of one kind by handle."""

    def __init__(self, what: str, prefix: int, wrong: ErrorClass, given: Mapping[int, T] | None = None) -> None:
        """`prefix`: the highest byte of new handles; `wrong`: the error class of a handle that is none; `given`: those
        that there are from the beginning.
        """
        self._what, self._next, self._wrong = what, prefix << 24, wrong
        self._things = dict(given or {})

    def __getitem__(self, handle: int) -> T:
        """What a handle stands for. Raises Misuse."""
        if handle not in self._things:
            cause = f"{handle:#010x} is no {self._what}"
            raise Misuse(self._wrong, cause, "give a handle that MPI has given and that is not freed")
        return self._things[handle]

    def __len__(self) -> int:
        return len(self._things)

    def new(self, thing: T) -> int:
        """A handle for it."""
        self._next += 1
        self._things[self._next] = thing
        return self._next

    def set(self, handle: int, thing: T) -> None:
        """Let a handle stand for something else."""
        self._things[handle] = thing

    def pop(self, handle: int) -> T:
        """What it stood for; now it stands for nothing. Raises Misuse."""
        thing = self[handle]
        del self._things[handle]
        return thing
