"""C backend of `tb.sim.exchange`: the extension module twin/doorway_python.c.

The extension is built where Python's headers are installed. `exchange_with` chooses between C and Python by the
environment variable SANLAB_COMPILED. Names of classes in C end with C, so that the type of an object shows the choice.

Two kinds of classes exist in C. `FutureC`, `TaskC`, `CommandsC`, `RecorderC`, `TurnsC` and `CostC` replace a whole
class. A class with an attribute `compiled` (`Kernel`, the verbs of `tb.bind`) gets a subclass from `backend`, such as
`RtlHostC` of `RtlHost`. The subclass has the hot methods of the C type that `compiled` names. State stays in attributes
of the same names, and all other methods stay in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, TypeVar

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel
from tb.sim.exchange import Commands, Exchange, Handler, Words, full, lost_events
from tb.sim.turns import Cost, Turns

COMPILED = "SANLAB_COMPILED"
"""Environment variable; 0 selects Python in place of the C extension, for debugging."""
T = TypeVar("T")


def exchange_with(library: Path, words: Words) -> Exchange:
    """Return the exchange with a doorway library: in C if allowed and built, else in Python.

    Args:
        library: Path of the doorway library; the extension is next to it.
        words: Function that returns an array of the library.

    Raises:
        SanlabError: SANLAB_COMPILED is neither 0 nor 1.
    """
    module = library.with_name("doorway_python.so")
    if (value := os.environ.get(COMPILED) or "1") not in ("0", "1"):
        raise SanlabError(f"{COMPILED}={value}", "invalid value", "set 1 for the C extension or 0 for Python")
    if value == "0" or not module.exists():
        return Exchange(words)
    spec = spec_from_file_location(module.stem, module)
    assert spec is not None
    assert spec.loader is not None
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    compiled.bind(str(library))
    return ExchangeC(words, compiled)


class ExchangeC(Exchange):
    """Exchange through the C extension module."""

    def __init__(self, words: Words, compiled: Any) -> None:
        super().__init__(words)
        self._compiled = compiled
        self.record = compiled.record
        self._classes: dict[type, type] = {}

    def backend(self, cls: type[T]) -> type[T]:
        """Return the subclass of `cls` with hot methods in C, named `cls` with a C at the end.

        A method that a subclass of the class with `compiled` overrides stays in Python.
        """
        if cls not in self._classes:
            base = next(parent for parent in cls.__mro__ if "compiled" in vars(parent))
            inside = getattr(self._compiled, base.compiled)  # type: ignore[attr-defined]
            methods = {
                name: method
                for name, method in vars(inside).items()
                if name[:2] != "__" and getattr(cls, name, None) is getattr(base, name, None)
            }
            in_c = sorted(name for name, method in methods.items() if callable(method))
            about = f"`{cls.__name__}` with methods in C: {', '.join(in_c)}.\n\n{COMPILED}=0 selects `{cls.__name__}`."
            named = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}C", "__doc__": about}
            self._classes[cls] = type(f"{cls.__name__}C", (cls, inside), methods | named)
        return self._classes[cls]

    def cost(self) -> Cost:
        """Return a `CostC`."""
        return self._compiled.CostC()  # type: ignore[no-any-return]

    def turns(self, *parts: Any) -> Turns:
        """Return a `TurnsC`."""
        return self._compiled.TurnsC(self.handlers, lost_events, *parts)  # type: ignore[no-any-return]

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """Return a `CommandsC`."""
        more = data, partial(full, unit)
        return self._compiled.CommandsC(unit, kernel, ends, other, *more)  # type: ignore[no-any-return]

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """Return a `RecorderC`."""
        return self._compiled.RecorderC(unit, kernel)  # type: ignore[no-any-return]

    def drainer(self) -> Callable[[], None]:
        """Return a function that dispatches all events in C and raises SanlabError if events were lost."""
        compiled, handlers = self._compiled.drain, self.handlers

        def drain() -> None:
            if count := compiled(handlers):
                lost_events(count)

        return drain
