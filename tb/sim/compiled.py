"""The same as `tb.sim.exchange`, in C (twin/doorway_python.c), if Python's headers were installed when it was built.

Classes whose hot methods C has too name their type there in `compiled` (`Kernel`, the bindings of the verbs): `quick`
gives such a class those methods. State stays in attributes of the same names, and what is rare stays in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeVar

from pymodels.kernel import Kernel
from tb.sim.exchange import Commands, Exchange, Handler, Words, full, lost_events
from tb.sim.turns import Cost, Turns

COMPILED = "SANLAB_COMPILED"
"""The environment variable that forbids the compiled exchange when it is 0."""
T = TypeVar("T")


def exchange_with(library: Path, words: Words) -> Exchange:
    """The exchange with a doorway library: the compiled one where it was built beside it."""
    module = library.with_name("doorway_python.so")
    if os.environ.get(COMPILED) == "0" or not module.exists():
        return Exchange(words)
    spec = spec_from_file_location(module.stem, module)
    assert spec is not None
    assert spec.loader is not None
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    compiled.bind(str(library))
    return CompiledExchange(words, compiled)


class CompiledExchange(Exchange):
    """The exchange by the extension module."""

    def __init__(self, words: Words, compiled: Any) -> None:
        super().__init__(words)
        self._compiled = compiled
        self.record = compiled.record
        self._classes: dict[type, type] = {}

    def quick(self, cls: type[T]) -> type[T]:
        """A class that has the methods of its type of the module, but for those that a class below has replaced."""
        if cls not in self._classes:
            base = next(parent for parent in cls.__mro__ if "compiled" in vars(parent))
            inside = getattr(self._compiled, base.compiled)  # type: ignore[attr-defined]
            methods = {
                name: method
                for name, method in vars(inside).items()
                if name[:2] != "__" and getattr(cls, name, None) is getattr(base, name, None)
            }
            self._classes[cls] = type(cls.__name__, (cls, inside), methods)
        return self._classes[cls]

    def cost(self) -> Cost:
        """`Cost` of the module."""
        return self._compiled.Cost()  # type: ignore[no-any-return]

    def turns(self, *parts: Any) -> Turns:
        """`Turns` of the module."""
        return self._compiled.Turns(self.handlers, lost_events, *parts)  # type: ignore[no-any-return]

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """`Commands` of the module."""
        return self._compiled.Commands(unit, kernel, ends, other, data, partial(full, unit))  # type: ignore[no-any-return]

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """`Recorder` of the module."""
        return self._compiled.Recorder(unit, kernel)  # type: ignore[no-any-return]

    def drainer(self) -> Callable[[], None]:
        """`drain` of the module, and the check."""
        compiled, handlers = self._compiled.drain, self.handlers

        def drain() -> None:
            if count := compiled(handlers):
                lost_events(count)

        return drain
