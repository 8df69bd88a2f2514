"""Calls of a communicator: each has its name in the standard, and errors carry it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from firmware.mpi.host.engine import Engine
from firmware.mpi.host.errors import ErrorClass, Misuse

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound="Called")


class Called:
    """What has calls: a communicator, until it is freed."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name
        self.freed = False

    @contextmanager
    def calling(self, call: str) -> Iterator[None]:
        """A call. Raises MpiError as `Engine.calling` does, and for a communicator that is freed."""
        with self.engine.calling(call):
            if self.freed:
                raise Misuse(ErrorClass.COMM, f"{self.name} is freed", "use a communicator that is not")
            yield


Method = Callable[Concatenate[C, P], Coroutine[Any, Any, T]]


def call(name: str) -> Callable[[Method[C, P, T]], Method[C, P, T]]:
    """Make a method the call of this name."""

    def of(method: Method[C, P, T]) -> Method[C, P, T]:
        @wraps(method)
        async def called(self: C, *arguments: P.args, **named: P.kwargs) -> T:
            with self.calling(name):
                return await method(self, *arguments, **named)

        return called  # type: ignore[return-value]

    return of
