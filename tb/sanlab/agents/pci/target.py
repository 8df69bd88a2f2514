"""PCI target over a memory: window, configuration space, wait states, and scripted terminations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from typing import Any

import cocotb

from pymodels.pci.pci import Command, Termination

from .bus import PciBus, ResetActive
from .config_space import (
    COMMAND_PARITY,
    COMMAND_SERR,
    STATUS_PARITY,
    STATUS_SYSTEM_ERROR,
    STATUS_TARGET_ABORT,
    ConfigSpace,
)
from .errors import PciError
from .memory import BufferMemory, Memory, write_lanes
from .parity import ParityCheck
from .pins import BusSample, parity
from .response import Access, Answer, Response

MEMORY = {
    Command.MEMORY_READ,
    Command.MEMORY_WRITE,
    Command.MEMORY_READ_LINE,
    Command.MEMORY_READ_MULTIPLE,
    Command.MEMORY_WRITE_AND_INVALIDATE,
}
TYPE_1 = 1
"""Lowest two address bits of a type-1 configuration cycle."""
IO = {Command.IO_READ, Command.IO_WRITE}
CONFIGURATION = {Command.CONFIGURATION_READ, Command.CONFIGURATION_WRITE}


class PciTarget:
    """Target on a PCI bus.

    Args:
        bus: Bus with wires that agents can drive.
        clock: PCI clock.
        reset: Reset, or None.
        memory: Writable buffer, or an object with `read(offset, length)` and `write(offset, data)`.
        base: Address of the window, if `config` has none.
        size: Bytes of the window; None: the length of the buffer, or the window of `config`.
        io: True for a window in I/O space.
        config: Configuration space; its base address register moves the window.
        slot: Slot: IDSEL is AD[16 + slot].
        reset_active_level: Level of the reset while it is asserted.

    Attributes:
        devsel: Clocks from the address phase to DEVSEL#: 0 fast, 1 medium, 2 slow, 3 subtractive decoding.
        initial_waits: Wait states of each first data phase.
        waits: Wait states of each later data phase.
        wide: Accept 64-bit transfers (ACK64#); True on a 64-bit bus.
        script: Answers to the next transactions, which are used up; without any, transactions complete.
        check: Parity of written data.
        address_errors: Number of address phases with wrong parity, each reported by SERR#.
        messages: Messages of special cycles.
        behind: Configuration spaces behind this target as a bridge, by bus and device, which type-1 cycles address.
        vector: Answer to an interrupt acknowledge cycle; None: not claimed.
    """

    def __init__(
        self,
        bus: PciBus,
        clock: Any,
        reset: Any,
        memory: Any,
        base: int = 0,
        *,
        size: int | None = None,
        io: bool = False,
        config: ConfigSpace | None = None,
        slot: int = 0,
        reset_active_level: bool = True,
    ) -> None:
        self.bus, self.config = bus, config
        self.memory: Memory = memory if isinstance(memory, Memory) else BufferMemory(memory)
        self.devsel = 1
        self.initial_waits: Iterator[int] = repeat(0)
        self.waits: Iterator[int] = repeat(0)
        self.wide = bus.width == 64
        self.script: deque[Answer] = deque()
        self.messages: list[int] = []
        self.behind: dict[tuple[int, int], ConfigSpace] = {}
        self.vector: int | None = None
        self.address_errors = 0
        self._base, self._slot, self._commands = base, slot, IO if io else MEMORY
        self._size = self._window(size)
        self._pins = bus.pins()
        self.check = ParityCheck(self._pins)
        self._address: tuple[int, int] | None = None
        self._message, self._dual = False, False
        bus.hooks.append(self._watch)
        bus.resets.append(self._restart)
        bus.start(clock, reset, reset_active_level)
        cocotb.start_soon(self._run())

    def _window(self, size: int | None) -> int:
        if size is not None:
            return size
        if self.config is not None and self.config.window:
            return self.config.window
        if isinstance(self.memory, BufferMemory):
            return len(self.memory)
        raise PciError("PCI target", "the size of its window is unknown", "pass `size` with a memory that is no buffer")

    def _watch(self, sample: BusSample) -> None:
        """Check the parity of address and write data, and receive special cycles."""
        enabled = self.config.command if self.config is not None else COMMAND_PARITY | COMMAND_SERR
        self.check.response = bool(enabled & COMMAND_PARITY)
        if self.check.step(sample):
            self._report(STATUS_PARITY)
        self._pins.release("serr_n")
        if self._address is not None:
            low, high = self._address
            if sample.par != low or (high >= 0 and sample.par64 != high):
                self.address_errors += 1
                self._report(STATUS_PARITY)
                if enabled & COMMAND_PARITY and enabled & COMMAND_SERR:
                    self._report(STATUS_SYSTEM_ERROR)
                    self._pins.activate("serr")
        self._address = None
        second, self._dual = self._dual, sample.first and sample.cbe & 0xF == Command.DUAL_ADDRESS_CYCLE
        if sample.first or second:
            high = parity(sample.ad >> 32, sample.cbe >> 4) if sample.req64 else -1
            self._address = parity(sample.ad, sample.cbe), high
            self._message = sample.cbe & 0xF == Command.SPECIAL_CYCLE
        elif self._message and sample.irdy:
            self.messages.append(sample.ad & 0xFFFF_FFFF)
            self._message = False

    def _report(self, status: int) -> None:
        if self.config is not None:
            self.config.report(status)

    async def _run(self) -> None:
        while True:
            with suppress(ResetActive):
                sample = await self.bus.edge()
                if sample.first:
                    await self._serve(sample)

    def _restart(self) -> None:
        self.check.clear()
        self._address, self._message, self._dual = None, False, False

    async def _serve(self, sample: BusSample) -> None:
        """Respond to the transaction of an address phase, if it is for this target."""
        address, command, wide = sample.ad & 0xFFFF_FFFF, sample.cbe & 0xF, self._wide(sample)
        if command == Command.DUAL_ADDRESS_CYCLE:
            sample = await self.bus.edge()
            address, command = address | (sample.ad & 0xFFFF_FFFF) << 32, sample.cbe & 0xF
        access = self._decode(address, command, wide)
        if access is None:
            return
        answer = self.script.popleft() if self.script else Answer()
        if answer.end is Termination.MASTER_ABORT:
            return
        if answer.end is Termination.TARGET_ABORT:
            self._report(STATUS_TARGET_ABORT)
        for _ in range(self.devsel):
            await self.bus.edge()
        waits = chain([next(self.initial_waits)], self.waits)
        wide = wide and command in MEMORY
        response = Response(self.bus, self._pins, self.check, access, answer, bool(command & 1), wide, waits)
        await response.run(turnaround=self.devsel == 0)

    def _wide(self, sample: BusSample) -> bool:
        return self.wide and sample.req64

    def _decode(self, address: int, command: int, wide: bool) -> Access | None:
        """Return what a transaction accesses, or None if it is not for this target."""
        if command in CONFIGURATION:
            if address & 3 == TYPE_1:
                return self._registers(self.behind.get((address >> 16 & 0xFF, address >> 11 & 0x1F)), address & 0xFC)
            selected = address >> 16 + self._slot & 1 and not address & 3
            return self._registers(self.config, address & 0xFC) if selected else None
        if command == Command.INTERRUPT_ACKNOWLEDGE:
            vector = self.vector
            return None if vector is None else Access(0, 4, lambda offset, size: vector, lambda *written: None)
        base = self.config.base if self.config is not None and self.config.window else self._base
        if command not in self._commands or base is None or not base <= address < base + self._size:
            return None
        offset = address - base & -(8 if wide else 4)
        end = offset + 4 if command in IO or address & 3 else self._size
        return Access(offset, end, self._read, partial(write_lanes, self.memory))

    def _registers(self, config: ConfigSpace | None, register: int) -> Access | None:
        if config is None:
            return None
        return Access(
            register,
            register + 4,
            lambda offset, size: config.dword(offset),
            lambda offset, value, enables, size: config.write(offset, value, enables),
        )

    def _read(self, offset: int, size: int) -> int:
        return int.from_bytes(self.memory.read(offset, size), "little")
