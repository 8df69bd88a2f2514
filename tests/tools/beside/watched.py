"""Hooks in a firmware and its NIC for the comparison with its C."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from firmware.common.nic import Loop
from pymodels.machine.memory import Memory
from pymodels.machine.processor import ModelProcessor
from tests.tools.beside.compiled import Compiled
from tests.tools.beside.frames import charging
from tests.tools.beside.together import Layer, Together


def work(both: Together, real: Any) -> Any:
    """Hook the charging of a path."""

    def noted(nic: Any, path: str, times: int = 1) -> Any:
        both.charge(nic, path, charging().f_locals, times)
        return real(nic, path, times)

    return noted


def post(both: Together, real: Any) -> Any:
    """Hook the charging of a path whose end is not awaited."""

    def noted(nic: Any, path: str) -> Any:
        both.charge(nic, path, sys._getframe(1).f_locals, 1)
        return real(nic, path)

    return noted


def store(both: Together, real: Any) -> Any:
    """Hook a store of a word in NIC memory."""

    def noted(nic: Any, address: int, value: int) -> None:
        both.stored(nic, address, (value,))
        real(nic, address, value)

    return noted


def store_words(both: Together, real: Any) -> Any:
    """Hook stores of words in NIC memory."""

    def noted(nic: Any, address: int, words: Sequence[int]) -> None:
        both.stored(nic, address, words)
        real(nic, address, words)

    return noted


def write(both: Together, real: Any) -> Any:
    """Hook a write of a special register."""

    def noted(nic: Any, register: int, value: int) -> None:
        both.wrote(nic, register, value)
        real(nic, register, value)

    return noted


def changed(both: Together, real: Any) -> Any:
    """Hook a store in a memory by any writer."""

    def noted(memory: Any, address: int, value: Any) -> None:
        both.changed(memory, address, 4 if isinstance(value, int) else len(value))
        real(memory, address, value)

    return noted


def read(both: Together, real: Any) -> Any:
    """Hook a read of a special register."""

    async def noted(nic: Any, register: int) -> int:
        value: int = await real(nic, register)
        both.read(nic, register, value)
        return value

    return noted


def made(both: Together, real: Any) -> Any:
    """Hook the construction of a main loop."""

    def noted(loop: Any, nic: Any, services: Any) -> None:
        loop.nic = nic
        real(loop, nic, services)

    return noted


def run(both: Together, real: Any) -> Any:
    """Hook the end of a step of the main loop; the next one begins when the loop has found work."""

    async def noted(loop: Any) -> int:
        nic = loop.nic
        both.end(nic)
        hit: int = await real(loop)
        step = getattr(loop.steps[hit], "func", loop.steps[hit])
        both.begin(nic, step.__qualname__)
        return hit

    return noted


HOOKS: list[tuple[type, str, Callable[[Together, Any], Any]]] = [
    (ModelProcessor, "work", work),
    (ModelProcessor, "post", post),
    (ModelProcessor, "store", store),
    (ModelProcessor, "store_words", store_words),
    (ModelProcessor, "write", write),
    (ModelProcessor, "read", read),
    (Memory, "store", changed),
    (Memory, "write", changed),
    (Loop, "__init__", made),
    (Loop, "run", run),
]
"""Methods of the firmware and its NIC, and their replacements."""


@contextmanager
def together(compiled: Compiled, layer: Layer, enough: int) -> Iterator[Together]:
    """Run the C with all NICs within the `with` block. `enough`: runs after which a path is not compared any more."""
    both = Together(compiled, layer, enough)

    def noted(_: Together, real: Any) -> Any:
        def made(what: Any, *arguments: Any) -> None:
            real(what, *arguments)
            layer.made(what)

        return made

    with ExitStack() as patches:
        for owner, name, hook in [*HOOKS, *((one, "__init__", noted) for one in layer.hooks)]:
            patches.enter_context(patch.object(owner, name, hook(both, getattr(owner, name))))
        yield both
