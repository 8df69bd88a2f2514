"""View of software objects in a cocotb task: calls of a library, verbs, events and tasks that cocotb can await."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from pymodels.kernel import Event, Future, Queue, Task
from tb.cocotb_test.crossing import Crossing, future_of, is_awaitable

KERNEL = (Event, Future, Queue, Task)
"""Types of the kernel that a cocotb task can use."""


class View:
    """Software object as a cocotb task sees it.

    Each method becomes a coroutine function: the call begins and ends in the kernel, and the cocotb task awaits it.
    Data attributes are those of the object. A result or attribute that has coroutine methods is a view, too. A view of
    an event, a future or a task can be awaited.
    """

    def __init__(self, crossing: Crossing, target: Any, name: str) -> None:
        self._crossing, self._target, self._name = crossing, target, name

    @property
    def unwrapped(self) -> Any:
        """The software object itself, for code that runs in the kernel."""
        return self._target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        path = f"{self._name}.{name}"
        if callable(found) and not isinstance(found, type) and not _is_software(found):
            return self._method(found, path)
        return view(self._crossing, found, path)

    def __await__(self) -> Generator[Any, None, Any]:
        if not is_awaitable(self._target):
            raise TypeError(f"{self._name}: not awaitable; await one of its methods")
        return self._crossing.call(lambda: future_of(self._target), self._name).__await__()

    def __repr__(self) -> str:
        return f"<{self._name}: {self._target!r}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._target)})

    def _method(self, found: Callable[..., Any], path: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def call(*given: Any, **named: Any) -> Any:
            plain = [_plain(one) for one in given]
            with_names = {name: _plain(one) for name, one in named.items()}
            value = await self._crossing.call(lambda: found(*plain, **with_names), path)
            return view(self._crossing, value, path)

        call.__name__, call.__doc__ = found.__name__, found.__doc__
        return call


def view(crossing: Crossing, value: Any, name: str) -> Any:
    """Return a view of a software object; data are returned as they are."""
    return View(crossing, value, name) if _is_software(value) else value


def _plain(value: Any) -> Any:
    return value.unwrapped if isinstance(value, View) else value


def _is_software(value: Any) -> bool:
    return is_awaitable(value) or _has_coroutines(type(value))


def _has_coroutines(kind: type) -> bool:
    """Return True for a type of the kernel, and for a class with public coroutine methods."""
    if issubclass(kind, KERNEL):
        return True
    methods = (getattr(kind, name, None) for name in dir(kind) if not name.startswith("_"))
    return any(inspect.iscoroutinefunction(method) for method in methods)
