"""MPI for plain functions: the calls of the layer `mpi` without `await`, as in mpi4py.

A function runs in a greenlet of its own. Each call that is a coroutine is passed to the coroutine that runs the
function, which awaits it and then resumes the function. MPI can thus be called from any depth of plain functions,
without processes or threads.
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
from firmware.mpi.host.matched import MatchedMessage
from firmware.mpi.host.types import Types

Function = Callable[..., Any]
"""Function of a rank; its first argument is the namespace `MPI`."""
WRAPPED = (Comm, Group, Request, MatchedMessage)


class OutsideError(RuntimeError):
    """Call of MPI outside the functions of `run_plain`."""


class Runner(greenlet.greenlet):  # type: ignore[misc]
    """Greenlet of a rank's function."""


def _wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Let the coroutine that runs the function await `coroutine`; return its result or raise its exception."""
    here = greenlet.getcurrent()
    if not isinstance(here, Runner) or here.parent is None:
        coroutine.close()
        raise OutsideError("MPI was called outside a rank's function; call it inside the function of run_plain")
    return here.parent.switch(coroutine)


class Plain:
    """Communicator, request, group or message with blocking calls."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return plain(getattr(self._real, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self._real is other._real

    def __hash__(self) -> int:
        return id(self._real)


def plain(value: Any) -> Any:
    """Return the plain form of a value of the layer."""
    if isinstance(value, WRAPPED):
        return Plain(value)
    if inspect.ismethod(value) or inspect.isfunction(value):
        return _plain_call(value)
    return value


def real(value: Any) -> Any:
    """Return the layer's form of an argument."""
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
    """Return the namespace `MPI` of a function: COMM_WORLD, constants, datatypes, `Status`, `Op`, `Request`."""
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
    """Run `function(MPI, *arguments)` of one rank between MPI_Init and MPI_Finalize, and return its result."""
    runner = Runner(function)
    step: Callable[[], Any] = partial(runner.switch, namespace(mpi), *arguments)
    while True:
        runner.parent = greenlet.getcurrent()  # the greenlet that resumes this coroutine
        given = step()
        if runner.dead:
            return given
        step = await _answer(runner, given)


async def _answer(runner: Runner, given: Coroutine[Any, Any, Any]) -> Callable[[], Any]:
    """Return the step that resumes the function with the result or the exception of its call."""
    try:
        return partial(runner.switch, await given)
    except BaseException as error:  # noqa: BLE001 - the function may catch it
        return partial(runner.throw, error)
