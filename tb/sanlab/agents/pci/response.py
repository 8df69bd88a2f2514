"""Response of a PCI target to one transaction, clock by clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pymodels.pci.pci import Termination

from .bus import PciBus
from .parity import ParityCheck
from .pins import BusSample, Pins


@dataclass
class Access:
    """Registers or memory that a transaction accesses.

    Args:
        offset: Offset of the first data phase.
        end: Offset at which the target disconnects.
        read: Function of offset and bytes that returns a value.
        write: Function of offset, value, active-high byte enables and bytes.
    """

    offset: int
    end: int
    read: Callable[[int, int], int]
    write: Callable[[int, int, int, int], None]


@dataclass(frozen=True)
class Answer:
    """Response of a target to one transaction that it decodes.

    Args:
        end: How the target ends the transaction; MASTER_ABORT: it does not claim it.
        phases: Data phases with data before a disconnect or target abort.
        with_data: Disconnect in a data phase that moves data, which follows the `phases`.
        bad_parity: Read data phases with wrong parity, counted from 0.
    """

    end: Termination = Termination.COMPLETION
    phases: int = 0
    with_data: bool = False
    bad_parity: frozenset[int] = field(default_factory=frozenset)


class Response:
    """Data phases of one transaction, from DEVSEL# on.

    Args:
        bus: Bus.
        pins: Pins of the target.
        check: Parity check of written data.
        access: Registers or memory.
        answer: How to end the transaction.
        writes: True if the master writes.
        wide: True for a 64-bit transfer.
        waits: Wait states of each data phase.
    """

    def __init__(
        self,
        bus: PciBus,
        pins: Pins,
        check: ParityCheck,
        access: Access,
        answer: Answer,
        writes: bool,
        wide: bool,
        waits: Iterator[int],
    ) -> None:
        self._bus, self._pins, self._check, self._access, self._answer = bus, pins, check, access, answer
        self._writes, self._size, self._waits = writes, 8 if wide else 4, waits
        self._phase = 0

    async def run(self, turnaround: bool) -> None:
        """Respond from the next clock edge on.

        Args:
            turnaround: True if the master may still drive AD at the next clock edge: a read with fast decoding.
        """
        pins = self._pins
        pins.activate("devsel", *(["ack64"] if self._size == 8 else []))
        pins.deactivate("trdy", "stop")
        if turnaround and not self._writes:
            await self._bus.edge()
        while True:
            ended = self._phase == self._answer.phases
            if ended and self._answer.end in {Termination.RETRY, Termination.TARGET_ABORT}:
                return await self._stop(moved=False, abort=self._answer.end is Termination.TARGET_ABORT)
            if ended and self._answer.end is Termination.DISCONNECT and not self._answer.with_data:
                return await self._stop(moved=False)
            sample, stop = await self._data_phase(ended)
            if stop:
                return await self._finish_stop(sample)
            if not sample.frame:
                return self._release()
            self._phase += 1

    async def _data_phase(self, ended: bool) -> tuple[BusSample, bool]:
        """Move data in one data phase; return the sample of its end, and True if STOP# is asserted."""
        pins = self._pins
        offset = self._access.offset + self._size * self._phase
        for _ in range(next(self._waits)):
            pins.deactivate("trdy")
            await self._bus.edge()
        if not self._writes:
            pins.data(self._access.read(offset, self._size), self._size == 8)
            pins.flip_parity = self._phase in self._answer.bad_parity
        scripted = ended and self._answer.end is Termination.DISCONNECT
        stop = scripted or offset + self._size >= self._access.end
        pins.activate("trdy", *(["stop"] if stop else []))
        sample = await self._until_irdy()
        if self._writes:
            self._access.write(offset, sample.ad & (1 << 8 * self._size) - 1, self._enables(sample), self._size)
            self._check.expect(sample, self._size == 8)
        return sample, stop

    def _enables(self, sample: BusSample) -> int:
        return ~sample.cbe & (1 << self._size) - 1

    async def _until_irdy(self) -> BusSample:
        while True:
            sample = await self._bus.edge()
            if sample.irdy:
                return sample

    async def _stop(self, moved: bool, abort: bool = False) -> None:
        """Assert STOP# without TRDY#; a target abort also deasserts DEVSEL#, after at least one clock of it."""
        pins = self._pins
        pins.deactivate("trdy")
        if not self._writes and self._phase == 0 and not moved:
            pins.data(0, self._size == 8)
        if abort:
            await self._bus.edge()
            pins.deactivate("devsel", "ack64")
        pins.activate("stop")
        await self._finish_stop(await self._until_irdy())

    async def _finish_stop(self, sample: BusSample) -> None:
        """Keep STOP# until the master has deasserted FRAME#."""
        self._pins.deactivate("trdy")
        while sample.frame:
            sample = await self._bus.edge()
        self._release()

    def _release(self) -> None:
        self._pins.finish("trdy", "stop", "devsel", "ack64")
        self._pins.release("ad")
        self._pins.flip_parity = False
