"""NIC processor of the machine, as used by firmware through the verbs: SRAM, registers, work, polling loops."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, Protocol

from pymodels.kernel import Future, Task
from pymodels.machine.actor import Actor
from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.spin import Look, Spin, WatchShape
from pymodels.machine.world import World
from pymodels.messages import NicMessages
from pymodels.trace import Part, TraceEvent, unit


class Registers(Protocol):
    """Registers at the offsets that firmware uses."""

    def read(self, register: int) -> int:
        """Return the present value of a register."""

    def write(self, register: int, value: int) -> None:
        """Write a register; the value takes effect at once."""


class ModelProcessor(NicMessages, Actor):
    """Processor that satisfies the protocol `firmware.verbs.Nic`."""

    side = "nic"
    kind: str
    word_bytes = 8
    watched = 0
    """Register that a polling loop can watch."""

    def __init__(self, world: World, node: int, sram_bytes: int) -> None:
        super().__init__(world, node, unit(node, Part.NIC_CPU), f"NIC {node}")
        self.note_messages(world.messages, node)
        self.sram_bytes = sram_bytes
        self.sram = Memory(f"node {node} SRAM", sram_bytes)
        self.special: Registers
        self._clock = world.timing.nic_clock
        self.core = world.timing.core
        """Timing of machine code, if it is given."""
        self._programs: list[Task] = []

    @property
    def chip(self) -> Registers:
        """Special registers at the chip's own offsets, for machine code."""
        return self.special

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task of the processor, which ends when the processor is halted."""
        task = super().spawn(coroutine, name)
        self._programs.append(task)
        return task

    def halt(self) -> None:
        """Stop the processor, its tasks and its polling loops."""
        for task in self._programs:
            self._kernel.stop(task)
        self._programs.clear()
        for spin in self.sram.spins:
            spin.stop()
        self.sram.spins.clear()
        self.waits.end(self.who)

    def load(self, address: int) -> int:
        """Return the big-endian 32-bit word at an SRAM address, a multiple of 4."""
        self.sram.accesses["processor"] += 1
        return self.sram.load(address)

    def store(self, address: int, value: int) -> None:
        """Store a big-endian 32-bit word."""
        self.sram.accesses["processor"] += 1
        self.sram.store(address, value)

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return `count` consecutive 32-bit words."""
        self.sram.accesses["processor"] += count
        return self.sram.load_words(address, count)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store consecutive 32-bit words."""
        self.sram.accesses["processor"] += len(words)
        self.sram.store_words(address, words)

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return `count` bytes of SRAM."""
        self.sram.accesses["processor"] += count
        return self.sram.read(address, count)

    def write(self, register: int, value: int) -> None:
        """Write a special register, which takes effect at once and costs the processor one NIC clock."""
        self.cpu.claim(self._clock)
        self.special.write(register, value)

    async def read(self, register: int) -> int:
        """Read a special register, one NIC clock after the processor's earlier work."""
        await self._kernel.sleep_until(self.cpu.claim(self._clock), "a register read")
        return self.special.read(register)

    async def work(self, path: str, times: int = 1) -> None:
        """Execute a compiled path `times` times."""
        duration, number = self._costs.get(path) or self.cost(path)
        duration *= times
        end, log = self.cpu.claim(duration), self._log
        if log.enabled:
            log.add(self._unit, TraceEvent.WORK_START, 0, number, duration // self._clock)
        if end > self._kernel.now:
            await self._kernel.sleep_until(end, path)
        if log.enabled:
            log.add(self._unit, TraceEvent.WORK_END, 0, number, duration // self._clock)

    def work_on(self, path: str, times: int = 1) -> Coroutine[Any, Any, None]:
        """Execute a compiled path `times` times; on the machine until its end, like `work`."""
        return self.work(path, times)

    async def caught_up(self) -> None:
        """Wait until all queued work has ended; on the machine it always has."""

    def store_on(self, address: int, words: Sequence[int]) -> None:
        """Store words after all queued paths have ended."""
        self.store_words(address, words)

    def begun(self, watch: WatchShape) -> None:
        """Handle the hit of a watch; the machine needs no action."""

    def take(self, clocks: int) -> Future[None]:
        """Use the processor for a number of NIC clocks."""
        return self._kernel.sleep_until(self.cpu.claim(clocks * self._clock), "its instructions")

    def post(self, path: str) -> None:
        """Execute a compiled path without waiting for its end."""
        duration, number = self.cost(path)
        clocks = duration // self._clock
        self._log.add(self._unit, TraceEvent.WORK_START, 0, number, clocks)
        end = partial(self._log.add, self._unit, TraceEvent.WORK_END, 0, number, clocks)
        self._kernel.at(self.cpu.claim(duration), end)

    def poll_loop(self, steps: Sequence[WatchShape]) -> Spin:
        """Return a polling loop over `steps`, with the times, phase and position of a spinning loop."""
        for step in steps:
            if not step.register and step.address & 3:
                raise MachineError(f"node {self.node}: watched address {step.address:#x} is not a multiple of 4")
            if step.register and step.address != self.watched:
                what = f"register {step.address:#05x} cannot be polled, only {self.watched:#05x} can"
                raise MachineError(f"node {self.node}: {what}")
        looks = [Look(step.address, step.expect, step.mask, step.register, self.cost(step.path)[0]) for step in steps]
        return self._spin(self.cpu, self.sram, looks, self.special.read, why=f"NIC {self.node} polling")

    def _watched_changed(self) -> None:
        """Notify polling loops of a change of the watched register."""
        if spins := self.sram.spins:
            for spin in tuple(spins):
                spin.registers_changed()
