"""MPI for plain functions: the calls of the layer `mpi` without `await`, as in mpi4py.

A function runs in a greenlet of its own. Each call that is a coroutine is handed to the coroutine that runs the
function, which awaits it, and then goes on with the function where it was. So a function that calls MPI can be any
depth of plain functions, and no process or thread is needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from types import SimpleNamespace
from typing import Any

import greenlet  # type: ignore[import-untyped]

import firmware.mpi.host as layer
from firmware.mpi.host import Mpi, Request
from firmware.mpi.host.communicator import Comm
from firmware.mpi.host.groups import Group
from firmware.mpi.host.matched import Taken
from firmware.mpi.host.types import Types

Function = Callable[..., Any]
"""Of the namespace `MPI`."""
WRAPPED = (Comm, Group, Request, Taken)


class OutsideError(RuntimeError):
    """A call of MPI that no function of `run_plain` makes."""


class Runner(greenlet.greenlet):  # type: ignore[misc]
    """The greenlet of a function."""


def _wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Have a coroutine awaited by the one that runs the function; its result. Raises what it raises."""
    here = greenlet.getcurrent()
    if not isinstance(here, Runner) or here.parent is None:
        coroutine.close()
        raise OutsideError("MPI is called outside of the function of a rank; call it within")
    return here.parent.switch(coroutine)


class Plain:
    """A communicator, request, group or message whose calls return when they are done."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return plain(getattr(self._real, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self._real is other._real

    def __hash__(self) -> int:
        return id(self._real)


def plain(value: Any) -> Any:
    """What a plain function sees of a value of the layer."""
    if isinstance(value, WRAPPED):
        return Plain(value)
    if inspect.ismethod(value) or inspect.isfunction(value):
        return _plain_call(value)
    return value


def real(value: Any) -> Any:
    """What the layer sees of an argument."""
    if isinstance(value, Plain):
        return value._real
    if isinstance(value, list | tuple) and any(isinstance(one, Plain) for one in value):
        return type(value)(real(one) for one in value)
    return value


def _plain_call(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def called(*arguments: Any, **named: Any) -> Any:
        result = call(*(real(one) for one in arguments), **{name: real(one) for name, one in named.items()})
        return plain(_wait(result) if inspect.iscoroutine(result) else result)

    return called


def namespace(mpi: Mpi) -> SimpleNamespace:
    """What a function knows as `MPI`: the communicator of all, constants, datatypes, `Status`, `Op`, `Request`."""
    found = SimpleNamespace(**{name: getattr(layer, name) for name in layer.__all__})
    for name in Types.__annotations__:
        setattr(found, name, getattr(mpi, name))
    waits = [name for name in dir(Request) if name.startswith(("Wait", "Test", "Start")) and len(name) > 5]
    found.Request = SimpleNamespace(**{name: _plain_call(getattr(Request, name)) for name in waits})
    found.COMM_WORLD = Plain(mpi.COMM_WORLD)
    for name in ("Wtime", "Attach_buffer", "Detach_buffer"):
        setattr(found, name, _plain_call(getattr(mpi, name)))
    return found


async def run_plain(mpi: Mpi, function: Function, *arguments: Any) -> Any:
    """Run `function(MPI, *arguments)` of one rank, between its `MPI_Init` and `MPI_Finalize`; its result."""
    runner = Runner(function)
    step: Callable[[], Any] = partial(runner.switch, namespace(mpi), *arguments)
    while True:
        runner.parent = greenlet.getcurrent()  # whoever resumes this coroutine
        given = step()
        if runner.dead:
            return given
        step = await _answer(runner, given)


async def _answer(runner: Runner, given: Coroutine[Any, Any, Any]) -> Callable[[], Any]:
    """How the function goes on: with what its call gives, or raises."""
    try:
        return partial(runner.switch, await given)
    except BaseException as error:  # noqa: BLE001 - the function may catch it
        return partial(runner.throw, error)
