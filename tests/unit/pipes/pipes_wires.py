"""Pipes without hardware: hosts whose software takes no time, and links whose behaviour a test controls.

A test chooses the next event: a packet in transit arrives, is lost or duplicated, or time passes until the next
time-out.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from firmware.common.host.payload import Data, MemoryRange
from firmware.hal.host.interface import KEEPABLE, Handler, Packet
from firmware.pipes.host import Pipes
from firmware.view import ClusterView
from pymodels.kernel import Event, Kernel

Choose = Callable[[int], int]
"""Function that returns a number below its argument."""
MOST = 10_000
"""Number of steps after which a schedule is considered endless."""


class Host:
    """Parts of a host that Pipes uses; software takes no time."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._kernel, self.who, self.waits = kernel, name, kernel.waits
        self.memory, self._free = bytearray(1 << 18), 0

    @property
    def now(self) -> int:
        """Simulated time, ps."""
        return self._kernel.now

    def allocate(self, size: int) -> Any:
        """Return memory."""
        begin = self._free
        self._free += size
        return type("Buffer", (), {"address": begin, "view": memoryview(self.memory)[begin : begin + size]})

    def store_bytes(self, address: int, data: bytes) -> None:
        """Store bytes into memory."""
        self.memory[address : address + len(data)] = data

    async def spend(self, path: str, times: int = 1) -> None:
        """Do nothing: software takes no time."""

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Do nothing: the bytes are already at the target."""

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Any:
        """Start a task."""
        return self._kernel.spawn(coroutine, name)


class Wires:
    """Packets in transit: target, source, bytes."""

    def __init__(self) -> None:
        self.flying: list[tuple[int, int, bytes]] = []
        self.hals: list[Hal] = []


class Hal:
    """Implementation of `firmware.hal.host.interface.Hal` without interrupts."""

    def __init__(self, host: Host, kernel: Kernel, wires: Wires, me: int) -> None:
        self.me, self.nodes, self.kept = me, 2, dict[int, bytes]()
        self._host, self._kernel, self._wires = host, kernel, wires
        self._handlers: dict[int, Handler] = {}
        self._news = Event(kernel, "packets")
        self._number = 0

    async def start(self) -> None:
        """Do nothing."""

    def on_packet(self, protocol: int, handler: Handler) -> None:
        """Set the handler."""
        self._handlers[protocol] = handler

    @property
    def keepable(self) -> int:
        """Number of send buffers that may still be kept, as on hardware."""
        return KEEPABLE - len(self.kept)

    async def send(self, node: int, protocol: int, header: bytes, data: Data = b"", keep: bool = False) -> int:
        """Put a packet on the links."""
        if isinstance(data, MemoryRange):
            data = self._host.memory[data.address : data.address + data.size]
        self._number += 1
        if keep:
            self.kept[self._number] = bytes(data)
        self._wires.flying.append((node, self.me, header + bytes(data)))
        return self._number

    async def again(self, buffer: int, header: bytes = b"") -> None:
        """Put a kept packet on the links again."""
        self._wires.flying.append((1 - self.me, self.me, header + self.kept[buffer]))

    def free(self, buffer: int) -> None:
        """Release a kept buffer."""
        del self.kept[buffer]

    async def arrived(self, source: int, data: bytes) -> None:
        """Receive a packet from the links."""
        for handler in self._handlers.values():
            await handler(Packet(source, 0, memoryview(data)))
        self.changed()

    async def poll(self) -> int:
        """Return 0: packets are handed over when they arrive."""
        return 0

    async def wait(self, condition: Callable[[], bool], until_ps: int | None = None) -> bool:
        """Wait until a packet arrives or a time is reached."""
        while not condition():
            if until_ps is not None:
                if self._kernel.now >= until_ps:
                    return False
                self._kernel.at(until_ps, self.changed)
            await self._news.wait()
        return True

    def changed(self) -> None:
        """Make waiting tasks evaluate their conditions again."""
        self._news.set()

    async def interrupts(self, on: bool) -> None:
        """Do nothing: there is no interrupt mode."""


class Play:
    """Two nodes and a schedule of the events on their links."""

    def __init__(self, choose: Choose, faults: int, **options: Any) -> None:
        """Create the nodes; `faults` packets may be lost, duplicated, or delayed past a time-out."""
        self._choose, self._faults = choose, faults
        self.kernel, self.wires = Kernel(), Wires()
        hosts = [Host(self.kernel, f"host{me}") for me in range(2)]
        self.wires.hals = [Hal(host, self.kernel, self.wires, me) for me, host in enumerate(hosts)]
        routes: Mapping[int, bytes] = {0: b"", 1: b""}
        self.pipes = [
            Pipes(hosts[me], ClusterView(me, ("host0", "host1"), routes, options), hal)  # type: ignore[arg-type]
            for me, hal in enumerate(self.wires.hals)
        ]

    def run(self, *calls: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run until all calls have returned. Fails after too many steps."""
        tasks = [self.kernel.spawn(one, "a call") for one in [*(pipe.start() for pipe in self.pipes), *calls]]
        self.kernel.run_ready()
        for _ in range(MOST):
            if all(task.finished.done for task in tasks):
                return [task.finished.value for task in tasks[2:]]
            moves = self._moves()
            assert moves, "\n".join(self.kernel.waiting())
            moves[self._choose(len(moves))]()
            self.kernel.run_ready()
        raise AssertionError("\n".join(self.kernel.waiting()))

    def _moves(self) -> Sequence[Callable[[], None]]:
        """Return the possible next events; the first is fault-free."""
        flying = range(len(self.wires.flying))
        moves: list[Callable[[], None]] = [lambda at=at: self._deliver(at) for at in flying]  # type: ignore[misc]
        if self._faults:
            moves += [lambda at=at: self._lose(at) for at in flying]  # type: ignore[misc]
            moves += [lambda at=at: self._double(at) for at in flying]  # type: ignore[misc]
        if self.kernel.next_alarm() is not None and (self._faults or not flying):
            moves.append(self._pass)
        return moves

    def _deliver(self, at: int) -> None:
        target, source, data = self.wires.flying.pop(at)
        self.kernel.spawn(self.wires.hals[target].arrived(source, data), "a packet")

    def _lose(self, at: int) -> None:
        self._faults -= 1
        self.wires.flying.pop(at)

    def _double(self, at: int) -> None:
        self._faults -= 1
        self.wires.flying.append(self.wires.flying[at])

    def _pass(self) -> None:
        """Advance the time to the next time-out."""
        self._faults -= bool(self.wires.flying)
        alarm = self.kernel.next_alarm()
        assert alarm is not None
        self.kernel.now = alarm
