"""The processor of a NIC of the machine, as firmware uses it through the verbs: SRAM, registers, work, loops."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, Protocol

from pymodels.kernel import Future, Task
from pymodels.machine.actor import Actor
from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.spin import Look, Spin, WatchShape
from pymodels.machine.world import World
from pymodels.trace import Part, TraceEvent, unit


class Registers(Protocol):
    """What stands at the offsets that firmware reads and writes."""

    def read(self, register: int) -> int:
        """The value now."""

    def write(self, register: int, value: int) -> None:
        """A write, in force at once."""


class ModelProcessor(Actor):
    """The verbs of `firmware.verbs.Nic` by shape."""

    side = "nic"
    kind: str
    word_bytes = 8
    watched = 0
    """The register that a polling loop can look at."""

    def __init__(self, world: World, node: int, sram_bytes: int) -> None:
        super().__init__(world, node, unit(node, Part.NIC_CPU), f"NIC {node}")
        self.sram_bytes = sram_bytes
        self.sram = Memory(f"node {node} SRAM", sram_bytes)
        self.special: Registers
        self._clock = world.timing.nic_clock
        self.core = world.timing.core
        """What the clocks of machine code depend on, if that is given."""
        self._programs: list[Task] = []

    @property
    def chip(self) -> Registers:
        """The special registers where the chip has them, for machine code."""
        return self.special

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task of the processor, which ends when the processor is halted."""
        task = super().spawn(coroutine, name)
        self._programs.append(task)
        return task

    def halt(self) -> None:
        """The processor stops: its tasks make no further step, and its polling loops look at nothing."""
        for task in self._programs:
            self._kernel.stop(task)
        self._programs.clear()
        for spin in self.sram.spins:
            spin.stop()
        self.sram.spins.clear()
        self.waits.end(self.who)

    def load(self, address: int) -> int:
        """The 32-bit big-endian word at an SRAM address (a multiple of 4)."""
        self.sram.accesses["processor"] += 1
        return self.sram.load(address)

    def store(self, address: int, value: int) -> None:
        """Store a 32-bit big-endian word."""
        self.sram.accesses["processor"] += 1
        self.sram.store(address, value)

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """`count` consecutive 32-bit words."""
        self.sram.accesses["processor"] += count
        return self.sram.load_words(address, count)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store consecutive 32-bit words."""
        self.sram.accesses["processor"] += len(words)
        self.sram.store_words(address, words)

    def load_bytes(self, address: int, count: int) -> bytes:
        """`count` bytes of SRAM."""
        self.sram.accesses["processor"] += count
        return self.sram.read(address, count)

    def write(self, register: int, value: int) -> None:
        """Write a special register: takes effect at once, and one NIC clock of the processor."""
        self.cpu.claim(self._clock)
        self.special.write(register, value)

    async def read(self, register: int) -> int:
        """Read a special register, one NIC clock after what the processor did before."""
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
        """Execute a compiled path `times` times; here to its end."""
        return self.work(path, times)

    async def caught_up(self) -> None:
        """Let the processor end all that was given: it has."""

    def store_on(self, address: int, words: Sequence[int]) -> None:
        """Store words; the paths before have ended."""
        self.store_words(address, words)

    def begun(self, watch: WatchShape) -> None:
        """What was done of a watch by which a polling loop has just hit: nothing."""

    def take(self, clocks: int) -> Future[None]:
        """Use the processor for so many NIC clocks."""
        return self._kernel.sleep_until(self.cpu.claim(clocks * self._clock), "its instructions")

    def post(self, path: str) -> None:
        """Execute a compiled path whose end nobody waits for."""
        duration, number = self.cost(path)
        clocks = duration // self._clock
        self._log.add(self._unit, TraceEvent.WORK_START, 0, number, clocks)
        end = partial(self._log.add, self._unit, TraceEvent.WORK_END, 0, number, clocks)
        self._kernel.at(self.cpu.claim(duration), end)

    def poll_loop(self, steps: Sequence[WatchShape]) -> Spin:
        """A polling loop over `steps`. Times, phase and position as the spinning loop has them."""
        for step in steps:
            if not step.register and step.address & 3:
                raise MachineError(f"node {self.node}: watched address {step.address:#x} is not a multiple of 4")
            if step.register and step.address != self.watched:
                what = f"register {step.address:#05x} cannot be polled, only {self.watched:#05x} can"
                raise MachineError(f"node {self.node}: {what}")
        looks = [Look(step.address, step.expect, step.mask, step.register, self.cost(step.path)[0]) for step in steps]
        return self._spin(self.cpu, self.sram, looks, self.special.read, why=f"NIC {self.node} polling")

    def _watched_changed(self) -> None:
        """The register that polling loops look at has another value."""
        if spins := self.sram.spins:
            for spin in tuple(spins):
                spin.registers_changed()
