"""PCI master: reads and writes of any length, configuration, I/O and special cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any

import cocotb
from cocotb.queue import Queue

from pymodels.pci.pci import Command, Termination, idsel_address, type_1_address
from pymodels.pci.rules import LONG

from .burst import Burst, MasterSettings
from .bus import PciBus, ResetActive
from .errors import BusResetError, MasterAbortError, ParityError, PciError, RetryLimitError, TargetAbortError
from .operation import Operation
from .parity import ParityCheck
from .pins import BusSample

PERR_CLOCKS = 2
"""Clocks from a data phase to the PERR# that reports it."""
REST_CLOCKS = 2
"""Clocks without REQ# after the target has stopped a transaction."""


def _config_address(device: int, register: int, bus: int | None) -> int:
    """Return the address of a configuration cycle of type 0 or, for a bus behind a bridge, of type 1."""
    if bus is None:
        return idsel_address(device, register & 0xFC)
    if not (0 <= bus < 256 and 0 <= device < 32):
        raise PciError("configuration cycle", f"bus {bus}, device {device}", "give bus 0 to 255, device 0 to 31")
    return type_1_address(bus, device, register)


class PciMaster(MasterSettings):
    """Master on a PCI bus with the settings of `MasterSettings`. It performs transfers in the order of the calls.

    Args:
        bus: Bus with wires that agents can drive.
        clock: PCI clock.
        reset: Reset, or None.
        reset_active_level: Level of the reset while it is asserted.
        port: Bit of this master in `req_n` and `gnt_n` of a design with an arbiter. None: a `PciArbiter` grants; a
            single master needs none.

    Attributes:
        check: Parity of read data; PERR# is asserted if `check.response`.
    """

    def __init__(
        self, bus: PciBus, clock: Any, reset: Any = None, *, reset_active_level: bool = True, port: int | None = None
    ) -> None:
        super().__init__(wide=bus.width == 64)
        self.bus = bus
        self._pins = bus.pins()
        self.check = ParityCheck(self._pins)
        self._bit = bus.requests.add(port)
        self._queue: Queue[Operation] = Queue()
        self._finished: deque[tuple[int, Operation]] = deque()
        self._written: deque[tuple[int, Operation]] = deque()
        self._read: Operation | None = None
        self._rest = 0
        self._follows = False
        self._bad_address, self._bad_phases = False, frozenset[int]()
        self._current: Operation | None = None
        bus.hooks.append(self._watch)
        bus.start(clock, reset, reset_active_level)
        cocotb.start_soon(self._run())

    async def read(self, address: int, length: int, *, command: Command | None = None) -> bytes:
        """Read memory. Addresses from 4 GiB on use dual address cycles.

        Args:
            address: Byte address of up to 64 bits.
            length: Number of bytes, at least 1.
            command: Bus command; None chooses a memory read by length.

        Raises:
            TransferError: Master Abort, Target Abort, too many Retries, wrong parity or a reset.
            PciError: Invalid address or length.
        """
        lines = Command.MEMORY_READ_LINE if length <= self.line_bytes else Command.MEMORY_READ_MULTIPLE
        chosen = Command.MEMORY_READ if length <= 8 else lines
        return await self._perform(chosen if command is None else command, address, bytes(max(length, 0)))

    async def write(self, address: int, data: bytes, *, command: Command = Command.MEMORY_WRITE) -> None:
        """Write memory and return when the last data phase and its PERR# clock are over.

        Args:
            address: Byte address of up to 64 bits; from 4 GiB on with dual address cycles.
            data: At least one byte.
            command: Bus command.

        Raises:
            TransferError: As `read`.
            PciError: Invalid address or length.
        """
        await self._perform(command, address, data)

    async def io_read(self, address: int, length: int) -> bytes:
        """Read I/O space, one transaction for each dword. Raises as `read`."""
        return await self._perform(Command.IO_READ, address, bytes(length))

    async def io_write(self, address: int, data: bytes) -> None:
        """Write I/O space, one transaction for each dword. Raises as `read`."""
        await self._perform(Command.IO_WRITE, address, data)

    async def config_read(self, slot: int, register: int, length: int = 4, *, bus: int | None = None) -> bytes:
        """Read configuration registers, one cycle for each dword.

        Args:
            slot: Slot of the target, 0 to 15; IDSEL is AD[16 + slot]. With `bus`: number of the device, 0 to 31.
            register: Byte offset in the configuration space.
            length: Number of bytes.
            bus: Number of a bus behind a bridge, which type-1 cycles address; None for type-0 cycles.

        Raises:
            TransferError: As `read`.
        """
        data = b""
        while len(data) < length:
            at = register + len(data)
            part = bytes(min(4 - at % 4, length - len(data)))
            data += await self._perform(Command.CONFIGURATION_READ, at, part, _config_address(slot, at, bus))
        return data

    async def config_write(self, slot: int, register: int, data: bytes, *, bus: int | None = None) -> None:
        """Write configuration registers, one cycle for each dword; arguments as `config_read`."""
        at, end = register, register + len(data)
        while at < end:
            count = min(4 - at % 4, end - at)
            part = data[at - register :][:count]
            await self._perform(Command.CONFIGURATION_WRITE, at, part, _config_address(slot, at, bus))
            at += count

    async def special_cycle(self, message: int) -> None:
        """Broadcast a 32-bit message; a special cycle ends with a master abort."""
        try:
            await self._perform(Command.SPECIAL_CYCLE, 0, message.to_bytes(4, "little"))
        except MasterAbortError:
            return

    async def interrupt_acknowledge(self) -> bytes:
        """Return the 4 bytes of the interrupt vector. Raises as `read`."""
        return await self._perform(Command.INTERRUPT_ACKNOWLEDGE, 0, bytes(4))

    def corrupt(self, *, address: bool = False, phases: Collection[int] = ()) -> None:
        """Drive wrong parity in the next transaction.

        Args:
            address: True for the address phase.
            phases: Numbers of write data phases, from 0.
        """
        self._bad_address, self._bad_phases = address, frozenset(phases)

    async def _perform(self, command: Command, address: int, data: bytes, bus_address: int | None = None) -> bytes:
        if not data:
            raise PciError(f"{command.name} {address:#010x}", "0 bytes", "transfer at least one byte")
        bits = 64 if command in LONG else 32
        if not 0 <= address <= address + len(data) <= 1 << bits:
            cause = f"{len(data)} bytes do not fit into {bits} address bits"
            raise PciError(f"{command.name} {address:#010x}", cause, f"use an address below 2**{bits}")
        self.bus.requests.check()
        operation = Operation(command, address, data, self.wide, bus_address)
        self._queue.put_nowait(operation)
        await operation.done.wait()
        operation.raise_error()
        return bytes(operation.data)

    def _watch(self, sample: BusSample) -> None:
        """Check parity at a clock edge, and report transfers whose PERR# clock is over."""
        clock = self.bus.clocks
        if self.check.step(sample) and self._read is not None:
            self._read.parity_error = True
        while self._written and self._written[0][0] <= clock:
            due, operation = self._written.popleft()
            operation.parity_error |= sample.perr and due == clock
        while self._finished and self._finished[0][0] <= clock:
            self._report(self._finished.popleft()[1])

    def _report(self, operation: Operation) -> None:
        if operation.error is None and operation.parity_error:
            operation.error = ParityError
        operation.done.set()

    async def _run(self) -> None:
        while True:
            self._current = await self._queue.get()
            await self.bus.out_of_reset()
            try:
                await self._serve(self._current)
            except ResetActive:
                self._reset(self._current)

    def _reset(self, operation: Operation) -> None:
        self._finished.append((0, operation))
        for _, interrupted in self._finished:
            interrupted.error = interrupted.error or BusResetError
            self._report(interrupted)
        self._finished.clear()
        self._written.clear()
        self._rest, self._follows = 0, False

    async def _serve(self, operation: Operation) -> None:
        """Perform transactions until the transfer is complete or has failed."""
        while not operation.complete and operation.error is None:
            end = await self._transaction(operation)
            if end is Termination.MASTER_ABORT:
                operation.error = MasterAbortError
            elif end is Termination.TARGET_ABORT:
                operation.error = TargetAbortError
            elif end is Termination.RETRY:
                operation.retries += 1
                if operation.retries > self.retry_limit:
                    operation.error = RetryLimitError
        self._finished.append((self.bus.clocks + PERR_CLOCKS, operation))

    async def _transaction(self, operation: Operation) -> Termination:
        await self._arbitrate()
        burst = Burst(
            self.bus,
            self._pins,
            self,
            operation,
            self.granted,
            lambda sample, wide: self._moved(operation, sample, wide),
            self._stopped,
            self._bad_address,
            self._bad_phases,
        )
        self._bad_address, self._bad_phases = False, frozenset()
        self.bus.requests.ask(self._bit, not self._queue.empty())
        end = await burst.run()
        self._follows = operation.writes and end is Termination.COMPLETION
        return end

    def _stopped(self) -> None:
        """Deassert REQ# for two clocks after the target has stopped a transaction."""
        self.bus.requests.ask(self._bit, False)
        self._rest = self.bus.clocks + REST_CLOCKS

    def granted(self, sample: BusSample) -> bool:
        """Return True if this master has GNT#."""
        return bool(sample.gnt >> self._bit & 1)

    async def _arbitrate(self) -> None:
        """Request the bus and wait for GNT# on an idle bus."""
        while self.bus.clocks < self._rest:
            await self.bus.edge()
        self.bus.requests.ask(self._bit, True)
        if self.fast_back_to_back and self._follows and self.granted(self.bus.sample) and not self.bus.sample.frame:
            return
        while True:
            sample = await self.bus.edge()
            if self.granted(sample) and self.bus.idle:
                return

    def _moved(self, operation: Operation, sample: BusSample, wide: bool) -> None:
        """Prepare the parity check of a data phase that moved data at this clock edge."""
        if operation.writes:
            self._written.append((self.bus.clocks + PERR_CLOCKS, operation))
        else:
            self._read = operation
            self.check.expect(sample, wide)
