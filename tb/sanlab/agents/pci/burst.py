"""Transaction of a PCI master, clock by clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import repeat

from pymodels.pci.pci import Command, Termination
from pymodels.pci.rules import DEVSEL_LIMIT

from .bus import PciBus
from .operation import DWORD_COMMANDS, Operation
from .pins import BusSample, Pins

FOUR_GIB = 1 << 32
"""First address that needs two address phases."""


class MasterSettings:
    """Settings of a master, which apply from its next transaction.

    Attributes:
        wide: Request 64-bit transfers (REQ64#); True on a 64-bit bus.
        latency_timer: Clocks after which a burst ends if GNT# is deasserted; None for no limit.
        max_burst: Maximum bytes of a transaction, a multiple of 8; None for no limit.
        fast_back_to_back: Start a transaction without an idle clock after a write of this master.
        irdy_waits: Clocks before IRDY# in each data phase; the specification allows 7.
        retry_limit: Number of Retry terminations after which a transfer fails.
        line_bytes: Reads above 8 bytes use Memory Read Line up to this size, longer ones Memory Read Multiple.
    """

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self.latency_timer: int | None = None
        self.max_burst: int | None = None
        self.fast_back_to_back = False
        self.irdy_waits: Iterator[int] = repeat(0)
        self.retry_limit = 1000
        self.line_bytes = 32


class Burst:
    """Transaction from its address phase to its last data phase.

    Args:
        bus: Bus.
        pins: Pins of the master.
        settings: Settings of the master.
        operation: Transfer that the transaction continues.
        granted: Predicate of a sample: the master has GNT#.
        moved: Function called with each sample that ends a data phase with data, and True for 64 bits.
        on_stop: Function called at the clock edge at which the target stops the transaction.
        bad_address: Drive wrong parity in the address phase.
        bad_phases: Data phases with wrong parity.
    """

    def __init__(
        self,
        bus: PciBus,
        pins: Pins,
        settings: MasterSettings,
        operation: Operation,
        granted: Callable[[BusSample], bool],
        moved: Callable[[BusSample, bool], None],
        on_stop: Callable[[], None],
        bad_address: bool = False,
        bad_phases: Collection[int] = (),
    ) -> None:
        self._bus, self._pins, self._settings, self._operation = bus, pins, settings, operation
        self._granted, self._moved, self._on_stop = granted, moved, on_stop
        self._bad_address, self._bad_phases = bad_address, bad_phases
        self._wide = operation.wide and bus.width == 64
        self._size = 8 if self._wide else 4
        self._first = operation.start & -self._size
        self._limit = self._last_address()
        self._dual = self._first >= FOUR_GIB
        self._clock = 1  # from the last address phase
        self._phase = 0
        self._irdy = False
        self._last = False
        self._claimed = False
        self._waits = next(settings.irdy_waits)
        self.stopped = 0
        """Clock of the bus at which the target asserted STOP#."""

    async def run(self) -> Termination:
        """Perform the transaction, which begins at once; the bus is granted and idle."""
        pins = self._pins
        if self._dual:
            self._first_of_two()
            await self._bus.edge()
        self._address_phase()
        await self._bus.edge()
        pins.flip_parity = False
        if not self._operation.writes:
            pins.release("ad")
        while True:
            self._drive()
            sample = await self._bus.edge()
            self._clock += 1
            if sample.devsel and not self._claimed:
                self._claim(sample)
            if self._irdy and not self._claimed and self._clock >= DEVSEL_LIMIT:
                return await self._end(Termination.MASTER_ABORT)
            if not (self._irdy and (sample.trdy or sample.stop)):
                continue
            if sample.trdy:
                self._take(sample)
            if sample.stop:
                self.stopped = self._bus.clocks
                self._on_stop()
                return await self._end(self._stop(sample))
            if self._last:
                return await self._end(Termination.COMPLETION)
            self._phase += 1
            self._irdy, self._waits = False, next(self._settings.irdy_waits)

    def _last_address(self) -> int:
        """Return the address at which the transaction ends at the latest."""
        end, most = self._operation.end, self._settings.max_burst
        if self._first < FOUR_GIB:
            end = min(end, FOUR_GIB)
        if self._operation.command in DWORD_COMMANDS:
            return min(end, self._first + 4)
        return end if most is None else min(end, (self._first // most + 1) * most)

    def _first_of_two(self) -> None:
        """Drive the lower half of a 64-bit address; a 64-bit master also shows the upper half and the command."""
        operation, pins = self._operation, self._pins
        address = operation.on_bus(self._size)
        pins.data(address if self._wide else address % FOUR_GIB, self._wide)
        high = operation.command << 4 if self._wide else 0
        pins.command(high | Command.DUAL_ADDRESS_CYCLE, self._wide)
        self._begin()

    def _address_phase(self) -> None:
        operation, pins = self._operation, self._pins
        address, high = operation.on_bus(self._size), 0xF0
        if self._dual:
            address, high = (address >> 32) * (FOUR_GIB + 1), operation.command << 4
        pins.data(address if self._wide else address % FOUR_GIB, self._wide)
        pins.command(high | operation.command if self._wide else operation.command, self._wide)
        self._begin()

    def _begin(self) -> None:
        pins = self._pins
        pins.flip_parity = self._bad_address
        pins.activate("frame", *(["req64"] if self._wide else []))
        pins.finish("irdy")

    def _drive(self) -> None:
        """Drive the wires of the present data phase for the next clock edge."""
        pins = self._pins
        base = self._first + self._size * self._phase
        value, enables = self._operation.lanes(base, self._size)
        pins.command(enables, self._size == 8)
        if self._operation.writes:
            pins.data(value, self._size == 8)
            pins.flip_parity = self._phase in self._bad_phases
        if self._irdy:
            return
        if self._waits:
            self._waits -= 1
            pins.deactivate("irdy")
            return
        self._irdy = True
        pins.activate("irdy")
        self._last = base + self._size >= self._limit or self._expired() or self._bus.sample.stop
        if self._last:
            pins.finish("frame", "req64")

    def _expired(self) -> bool:
        """Return True if the latency timer ends the burst with the present data phase."""
        timer = self._settings.latency_timer
        return timer is not None and self._clock + self._dual >= timer and not self._granted(self._bus.sample)

    def _claim(self, sample: BusSample) -> None:
        self._claimed = True
        if self._wide and not sample.ack64:
            self._size, self._operation.wide = 4, False

    def _take(self, sample: BusSample) -> None:
        base = self._first + self._size * self._phase
        self._operation.take(base, self._size, sample.ad)
        self._moved(sample, self._size == 8)

    def _stop(self, sample: BusSample) -> Termination:
        if not sample.devsel:
            return Termination.TARGET_ABORT
        return Termination.DISCONNECT if self._phase or sample.trdy else Termination.RETRY

    async def _end(self, end: Termination) -> Termination:
        """Release the bus: first FRAME#, a clock later IRDY#, unless FRAME# is deasserted already."""
        pins = self._pins
        if not self._last:
            pins.finish("frame", "req64")
            await self._bus.edge()
        pins.finish("irdy")
        pins.flip_parity = False
        pins.release("ad", "cbe")
        return end
