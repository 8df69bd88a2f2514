"""Hosts on each binding of their verbs, with equal times: the RTL's in C and in Python, and the machine's."""

from __future__ import annotations

import ctypes
from collections.abc import Coroutine
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pymodels.costs.table import PathTable
from pymodels.hardware.discover import nic_kind
from pymodels.hardware.processors import HostProcessor
from pymodels.kernel import Kernel
from pymodels.machine import Machine, Timing
from pymodels.trace import Part, TraceEvent, unit
from tb.bind.actor import PathNumbers
from tb.bind.host import EVENT_INTERRUPT, HostTiming, RtlHost
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway
from tb.sim.exchange import TRACE_RECORD

BINDINGS = ("compiled", "in Python", "machine")
SWITCH, ENTRY, SIGNAL = 500, 300, 200
"""Duration in ps of a context switch, of a system call, and of the delivery of a signal."""
FAULT, PROTECT = 400, 600
"""Duration in ps of a page fault to its handler, and of a change of a page's rights."""
LATENCY = 150
"""Latency of an interrupt, ps."""
PATH = 7_000
"""Duration of the path `look_flag`, ps."""
HOST = unit(0, Part.HOST_CPU)


NOW, WAKE = ctypes.CFUNCTYPE(ctypes.c_int64), ctypes.CFUNCTYPE(None, ctypes.c_int64)
KERNELS: list[Kernel] = []
"""Kernel of the last host on the doorway, whose time is that of the hardware's events."""


class Hooks(ctypes.Structure):
    """`dw_hooks` of the doorway, supplied by a simulator."""

    _fields_ = (
        *(("now", NOW), ("wake_at", WAKE)),
        *((name, ctypes.c_void_p) for name in ("kick_at", "start", "faults", "quiet_until")),
    )


NO_SIMULATOR = Hooks(now=NOW(lambda: KERNELS[-1].now if KERNELS else 0), wake_at=WAKE(lambda time: None))


class Bound:
    """Host on a binding: `host` with its verbs, and the kernel that owns time."""

    def __init__(
        self,
        binding: str,
        library: Path,
        monkeypatch: pytest.MonkeyPatch,
        miss: int = 70,
        copy_byte: float = 0,
        verbs: type[RtlHost] = RtlHost,
    ) -> None:
        """Create the host.

        Args:
            binding: One of `BINDINGS`.
            library: The compiled doorway.
            monkeypatch: Setter of the environment that selects the binding.
            miss: Time in ps to fetch a changed polled word from memory, on the RTL.
            copy_byte: Time in ps in which memory copies a byte; an integer on the machine.
            verbs: Class of the host on the RTL.
        """
        self.host: Any
        if binding == "machine":
            fixed = Timing(
                context_switch=SWITCH,
                syscall=ENTRY,
                signal=SIGNAL,
                fault=FAULT,
                protect=PROTECT,
                interrupt_least=LATENCY,
                interrupt_most=LATENCY,
                copy_byte=int(copy_byte),
            )
            machine = Machine(2, timing=fixed, cost=lambda side, path: PATH, names=("h", "other"))
            self.kernel, self.host, self._log = machine.kernel, machine.host(0), machine.host(0)._log
            self._doorway = None
        else:
            monkeypatch.setenv("SANLAB_DOORWAY", str(library))
            monkeypatch.setenv(COMPILED, str(int(binding == "compiled")))
            self._doorway = doorway = Doorway()
            doorway.trace_create(1 << 12)
            doorway.trace_on(True)
            doorway.exchange.trace_count[0] = 0
            doorway.lib.dw_set_hooks(NO_SIMULATOR)
            self.kernel = doorway.backend(Kernel)()
            KERNELS[:] = [self.kernel]
            memory = doorway.memory(0, 1 << 24, HOST)
            overheads: MappingProxyType[str, int] = MappingProxyType(
                {"signal": SIGNAL, "fault": FAULT, "protect": PROTECT}
            )
            processor = HostProcessor(1.0, 1.0, 1.0, 0.0)
            timing = HostTiming(1.0, SWITCH, ENTRY, overheads, (LATENCY,) * 2, miss, processor, copy_byte)
            card, paths = nic_kind("lanai9").card(1 << 21), PathNumbers()
            self.host = doorway.backend(verbs)(0, "h", self.kernel, doorway, memory, 0, card, timing, paths, 1)
            self.host.use(PathTable.load("host", "echo"))
            self.host._cost = lambda path, times=1: (PATH * times, 0)

    def stretches(self) -> list[tuple[int, int]]:
        """Return begin and end of each interval in which a path or a computation had the CPU, in order."""
        if self._doorway is None:
            records = [(time, event, more) for time, _, event, _, _, more, _ in self._log.records]
        else:
            count, rows = self._doorway.exchange.trace_count[0], self._doorway.exchange.records
            every = [TRACE_RECORD.unpack_from(rows, i * TRACE_RECORD.size) for i in range(count)]
            records = [(time, event, more) for time, _, event, _, _, _, more, _ in every]
        ends = [(time, took) for time, event, took in records if event == TraceEvent.SPEND_END]
        return sorted((time - took, time) for time, took in ends)

    def dma(self, address: int, word: int) -> None:
        """Store eight bytes in host memory as the card: the word first, then zeroes."""
        data = word.to_bytes(4, "big") + bytes(4)
        if self._doorway is None:
            self.host.bus_memory().write(address, data)
        else:
            self._doorway.exchange.head[0] = self._doorway.exchange.tail[0] = 0
            self._doorway.lib.san_mem_write(0, address, ctypes.c_longlong(int.from_bytes(data, "little")), 0xFF)
            self._doorway.drainer()()

    def interrupt(self, held: bool) -> None:
        """Set the level of the interrupt line, as the hardware does."""
        if self._doorway is None:
            self.host._interrupt_line(held)
        else:
            self._doorway.exchange.head[0] = self._doorway.exchange.tail[0] = 0
            self._doorway.lib.san_event(self.kernel.now, HOST, EVENT_INTERRUPT, held, 0)
            self._doorway.drainer()()

    def ends(self, *programs: Coroutine[Any, Any, Any]) -> list[int]:
        """Start programs as threads and return the time at which each ends."""
        times = [0] * len(programs)

        async def timed(i: int, program: Coroutine[Any, Any, Any]) -> None:
            await program
            times[i] = self.kernel.now

        for i, program in enumerate(programs):
            self.host.spawn(timed(i, program), f"program {i}")
        self.kernel.run()
        return times

    def routine(self, at: int, calls: int = 1) -> None:
        """Run an interrupt routine that takes the CPU at a time, for `calls` kernel entries."""

        async def serve() -> None:
            for _ in range(calls):
                await self.host.syscall()

        self.kernel.at(at, lambda: self.host.spawn(serve(), "interrupt"))
