"""Circuits in Python in the slots of an FPGA card (hdl/sim/doorway/circuit.c)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from pymodels.card.fabric import Circuit, places
from pymodels.card.python import load
from pymodels.card.slot import MOST_BYTES, Header, Running, Slot
from pymodels.kernel import Future, Kernel, Task
from pymodels.trace import Part, unit
from tb.sim.doorway import Doorway

OP_TAKE, OP_COUNT, OP_GIVE, OP_READ, OP_WRITE = 1, 2, 3, 4, 5
LOADED, UNLOADED, COMPLETE = 40, 41, 42
"""Event codes; a: number of the circuit in its card, b: bytes that are complete."""


class RtlPort:
    """Port of a slot in the simulated card (`pymodels.card.slot.Port`)."""

    def __init__(self, unit: int, place: int, name: str, kernel: Kernel, doorway: Doorway) -> None:
        self._unit, self._place, self._name = unit, place, name
        self._kernel, self._lib = kernel, doorway.lib
        self.pending: Future[Any] | None = None
        """Future that the circuit awaits."""
        self._reads = False

    def receive(self) -> Future[Any]:
        """Return the future of the next message."""
        return self._await(False, OP_TAKE, 0, 0, f"a message for {self._name}")

    def read(self, word: int, count: int) -> Future[Any]:
        """Return the future of words of the bank."""
        return self._await(True, OP_READ, word, 4 * count, f"the bank for {self._name}")

    def send(self, data: bytes) -> None:
        """Order the slot to offer the words of the result."""
        self._lib.dw_circuit_order(self._unit, self._place, OP_GIVE, 0, len(data), data)

    def clocks(self, count: int) -> None:
        """Order the slot to let user clocks pass."""
        self._lib.dw_circuit_order(self._unit, self._place, OP_COUNT, count, 0, None)

    def write(self, word: int, data: bytes) -> None:
        """Order the slot to write words of the bank."""
        self._lib.dw_circuit_order(self._unit, self._place, OP_WRITE, word, len(data), data)

    def complete(self, size: int) -> None:
        """Continue the circuit with the bytes that have arrived."""
        pending, self.pending = self.pending, None
        if pending is None:
            raise RuntimeError(f"{self._name}: {size} bytes that nothing awaits")
        data = ctypes.string_at(self._lib.dw_circuit_data(self._unit, self._place), size) if size else b""
        if self._reads:
            pending.set(data)
            return
        arguments = self._lib.dw_circuit_arguments(self._unit, self._place)
        pending.set(Header((arguments[0], arguments[1], arguments[2], arguments[3]), data))

    def _await(self, reads: bool, op: int, value: int, size: int, why: str) -> Future[Any]:
        self._lib.dw_circuit_order(self._unit, self._place, op, value, size, None)
        self._reads = reads
        self.pending = self._kernel.future(why)
        return self.pending


class CardCircuits:
    """Circuits in Python of one FPGA card: each starts when its image is loaded, and ends when another one is."""

    def __init__(self, node: int, host: str, kernel: Kernel, doorway: Doorway, circuits: Sequence[Circuit]) -> None:
        """Register the event handler of the card, and load the circuits.

        Args:
            node: Number of the node (VNN).
            host: Name of the node.
            kernel: Event loop.
            doorway: Doorway of the run.
            circuits: Circuits of the card.

        Raises:
            SanlabError: A circuit cannot be loaded.
        """
        self.wakes = 0
        """Number of times that a circuit continued: once a message, and once a read of the bank."""
        self.most = MOST_BYTES
        """Largest result in bytes, for circuits that start from now on."""
        self._unit, self._host, self._kernel, self._doorway = unit(node, Part.FPGA), host, kernel, doorway
        self._places = places(circuits)
        self._functions = {number: load(one.python) for number, one in enumerate(self._places) if one.python}
        self._running: dict[int, tuple[RtlPort, Task]] = {}
        lib = doorway.lib
        lib.dw_circuit_order.argtypes = [*[ctypes.c_int] * 3, ctypes.c_uint32, ctypes.c_int64, ctypes.c_char_p]
        lib.dw_circuit_data.restype = ctypes.c_void_p
        lib.dw_circuit_arguments.restype = ctypes.POINTER(ctypes.c_uint32)
        doorway.on_event(self._unit, self._on_event)

    def _on_event(self, _time: int, code: int, place: int, size: int) -> None:
        if code == COMPLETE:
            self.wakes += 1
            self._running[place][0].complete(size)
        elif code == LOADED:
            self._start(place)
        elif place in self._running:
            self._kernel.stop(self._running.pop(place)[1])

    def _start(self, place: int) -> None:
        circuit = self._places[place]
        name = f"circuit {circuit.python} (slot {circuit.slot} of the card of {self._host})"
        port = RtlPort(self._unit, place, name, self._kernel, self._doorway)
        running = Running(name, self._functions[place], Slot(name, port, self.most), lambda one: one is port.pending)

        async def run() -> None:
            await running

        self._running[place] = port, self._kernel.spawn(run(), name)
