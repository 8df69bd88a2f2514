"""Running cocotb test: waits of its tasks, and its failure. No other module touches cocotb's internals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cocotb
from cocotb import _test_manager
from cocotb.task import Task

from pymodels.waiting import Wait, Wanted

ENGINE = "cluster"
"""Name of the cocotb task that runs the cluster."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
ELSEWHERE = tuple(str(Path(file).parent) for file in (cocotb.__file__, __file__))
"""Folders of cocotb and of this module."""


def fail(error: BaseException) -> None:
    """Fail the running test: add an exception to its outcome while cocotb is ending it, else raise the exception."""
    test = _test_manager._current_test
    if test is None or not test._finishing:
        raise error
    test._excs.append(error)


def failure() -> BaseException | None:
    """Return the exception with which the running test ends, or None."""
    test = _test_manager._current_test
    return test.exception() if test is not None else None


def waits(calls: Mapping[object, str]) -> Iterator[Wait]:
    """Yield the wait of each unfinished cocotb task: its line in the test file, and the call or trigger.

    `calls` has the names of the unfinished calls of cluster software by task.
    """
    test = _test_manager._current_test
    for task in list(test._tasks) if test is not None else ():
        trigger = vars(task).get("_trigger")
        if task.done() or trigger is None or task.get_name() == ENGINE:
            continue
        wanted = calls.get(task) or ADDRESS.sub("", repr(trigger))
        yield Wait(f"cocotb task {task.get_name()!r}{_line(task)}", Wanted(wanted))


def _line(task: Task[Any]) -> str:
    """Return the line at which a task waits, outside of cocotb and of this folder; empty if unknown."""
    if not task._native_coroutine:
        return ""
    frames = [frame for frame in task._get_coro_stack() if not frame.filename.startswith(ELSEWHERE)]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
