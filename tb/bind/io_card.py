"""Verbs of the processor of an I/O card on the RTL: those of a host's CPU, at the port of the card.

Addresses are local: registers of the message unit below `pymodels.iocard.registers.REGISTERS`, local memory behind
them. Loads and stores of registers cross the card's port; local memory is shared memory, as for a host.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from pymodels.hardware.processors import HostProcessor
from pymodels.iocard.registers import REGISTERS
from pymodels.kernel import Task
from pymodels.trace import Part
from tb.bind.host import HostTiming, RtlHost

CLOCK_MHZ = 66
"""Clock of the processor: that of an 80960RD (assumed)."""
IO_TIMING = HostTiming(
    clock_ps=1e6 / CLOCK_MHZ,
    switch_ps=3_000_000,
    kernel_entry_ps=0,
    overheads_ps={},
    interrupt_ps=(1_000_000, 1_000_000),
    miss_ps=0,
    processor=HostProcessor(instruction=1.0, load=1.0, store=1.0, uncached=0.0),
    copy_ps=1e6 / 66,
)
"""Times of the processor (assumed): a clock for an instruction, and another one for a load or store of local memory.
From an interrupt to its routine 1 us pass; copies have 66 MB/s.
"""


class RtlIoProcessor(RtlHost):
    """Host verbs for the processor of an I/O card: local memory, registers, interrupt, and one CPU."""

    part = Part.IO_CPU
    first_free = REGISTERS

    def __init__(self, *arguments: Any) -> None:
        self._tasks: list[Task] = []
        """Tasks of the processor's program."""
        super().__init__(*arguments)

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task of the processor's program."""
        self._tasks = [task for task in self._tasks if not task.finished.done]
        task = super().spawn(coroutine, name)
        self._tasks.append(task)
        return task

    def halt(self) -> None:
        """Stop the processor's tasks at a loss of power; a program can then be started anew."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            self._kernel.stop(task)
        self.waits.end(self.who)
        self.cpu.release()
        self._interrupts = self._new_interrupts()
        self._next_free = self.first_free
