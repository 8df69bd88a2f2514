"""Calls of a communicator under their names in the standard, which errors carry."""

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
    """Object with calls: a communicator until it is freed."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name
        self.freed = False

    @contextmanager
    def calling(self, call: str) -> Iterator[None]:
        """Run a call. Raises MpiError as `Engine.calling` does, and for a freed communicator."""
        with self.engine.calling(call):
            if self.freed:
                raise Misuse(ErrorClass.COMM, f"{self.name} is freed", "use a communicator that is not")
            yield


Method = Callable[Concatenate[C, P], Coroutine[Any, Any, T]]


def call(name: str) -> Callable[[Method[C, P, T]], Method[C, P, T]]:
    """Return a decorator that makes a method the call of this name."""

    def of(method: Method[C, P, T]) -> Method[C, P, T]:
        @wraps(method)
        async def called(self: C, *arguments: P.args, **named: P.kwargs) -> T:
            with self.calling(name):
                return await method(self, *arguments, **named)

        return called  # type: ignore[return-value]

    return of
