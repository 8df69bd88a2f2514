"""Charges of a layer's operations: every path by host and NIC, system calls and context switches, and trace events.

`python -m tests.unit.layers.charges` runs the tours on the machine, one `charged_*.py` for each among the tests of a
layer. It writes the table beside each, which `test_charges` compares. A count that depends on durations is written
with `~` (about), because it differs on a machine with other delays.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import firmware
from pymodels.machine import Machine
from pymodels.machine.host import ModelHost
from pymodels.machine.processor import ModelProcessor
from pymodels.machine.timing import Timing
from pymodels.toml import read_toml
from pymodels.trace import TraceEvent

TOURS = {path.stem.removeprefix("charged_"): path for path in sorted(Path(__file__).parents[1].glob("*/charged_*.py"))}
"""File of every tour by its name, among the tests of its layer."""
SLOW = Timing(dma_start=1_900_000, pio_read=830_000, pio_latency=410_000, cable=300_000, context_switch=4_100_000)
"""Timing of a machine with longer delays than usual."""
TRACE = "trace"
VERBS: tuple[tuple[str, type, tuple[str, ...]], ...] = (
    ("host", ModelHost, ("spend", "copy_memory", "syscall", "switch_context", "overhead", TRACE)),
    ("nic", ModelProcessor, ("work", "post", TRACE)),
)
CHARGING = frozenset(verb for _, _, verbs in VERBS for verb in verbs) | {"work_on"}
SOURCES = str(Path(firmware.__file__).parent)
WITHOUT_PATH = ("syscall", "switch_context")
SETTLE_PS = 300_000_000
"""Time after which all effects of an operation have ended."""
HEADING = (
    "# What operations charge and trace, by side. Written by `python -m tests.unit.layers.charges`; "
    "read what differs.\n"
)
Place = tuple[str, int]
"""Line of the firmware: file and number."""
Table = dict[str, dict[str, str]]
"""Count of each path by operation and side; with `~` for approximate counts."""


class Charges:
    """Counts of the charges of the machine's hosts and NICs within named operations."""

    def __init__(self) -> None:
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.places: set[Place] = set()
        self._operation = ""

    @contextmanager
    def operation(self, name: str) -> Iterator[None]:
        """Attribute all charges of all nodes inside the context to an operation."""
        self._operation = name
        yield
        self._operation = ""

    def noting(self, side: str, name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        """Return a verb that is counted before it is executed."""

        def noted(who: Any, *arguments: Any, **named: Any) -> Any:
            if self._operation:
                self.places.add(_caller(sys._getframe(1)))
                path = _path(name, arguments)
                times = named.get("times", arguments[1] if name in ("work", "spend") and len(arguments) > 1 else 1)
                self.counts[f"{self._operation}, {side}"][path] += times
            return verb(who, *arguments, **named)

        return noted


def _path(verb: str, arguments: tuple[Any, ...]) -> str:
    """Return the counted name of a call."""
    if verb == TRACE:
        return TraceEvent(arguments[0]).name
    return verb if verb in WITHOUT_PATH else str(arguments[0])


def _caller(frame: FrameType | None) -> Place:
    """Return the line of the firmware that calls a verb, also through other verbs, as a process does."""
    while frame and not frame.f_code.co_filename.startswith(SOURCES):
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def charged_calls() -> Iterator[tuple[str, range]]:
    """Yield every charging call in the firmware: file and lines."""
    for file in sorted(Path(SOURCES).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _charges(node.func):
                yield str(file), range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _charges(verb: ast.Attribute) -> bool:
    """Return True if a method is a charging verb. `post` is one on a NIC only; elsewhere it posts a descriptor."""
    return verb.attr in CHARGING and (verb.attr != "post" or ast.unparse(verb.value).endswith("nic"))


def tour(name: str, timing: Timing | None = None) -> Charges:
    """Return the charges of every operation of a tour, optionally on machines with other delays."""
    module = importlib.import_module(f"tests.unit.{TOURS[name].parent.name}.charged_{name}")
    run: Callable[[Charges], None] = module.tour
    charges = Charges()
    with ExitStack() as patches:
        patches.enter_context(patch("pymodels.machine.machine.Timing", lambda: timing or Timing()))
        for side, owner, verbs in VERBS:
            for verb in verbs:
                noted = charges.noting(side, verb, getattr(owner, verb))
                patches.enter_context(patch.object(owner, verb, noted))
        run(charges)
    return charges


def settled(machine: Machine, call: Awaitable[Any]) -> Any:
    """Return the result of a call after all its effects have ended."""

    async def both() -> Any:
        result = await call
        await machine.kernel.sleep(SETTLE_PS, "the end of an operation")
        return result

    return both()


def table(name: str) -> Table:
    """Return the counts of a tour, with `~` where they depend on time."""
    usual, slow = tour(name).counts, tour(name, SLOW).counts
    return {
        operation: {path: f"{n}" if slow[operation][path] == n else f"~{n}" for path, n in paths.items()}
        for operation, paths in usual.items()
    }


def committed(name: str) -> Table:
    """Return the committed table."""
    lines = read_toml(TOURS[name].with_suffix(".toml"))[0]
    return {operation: dict(one.rsplit(" ", 1) for one in text.split(", ")) for operation, text in lines.items()}


def main() -> None:
    """Write the tables of the named tours, or of all."""
    for name in sys.argv[1:] or TOURS:
        lines = [
            f'"{operation}" = "{", ".join(f"{path} {count}" for path, count in sorted(paths.items()))}"\n'
            for operation, paths in sorted(table(name).items())
        ]
        TOURS[name].with_suffix(".toml").write_text(HEADING + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
