"""Monitors of what the transactions of a PCI bus mean: transfers of the NIC's host DMA, and stores to its doorbells."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pymodels.pci.pci import Command, Termination, Transaction
from tb.monitors.monitor import Monitor
from tb.monitors.pci import PciBusMonitor

T = TypeVar("T")
BRIDGE, NIC = 0, 1
"""Agents of a host's bus: the host bridge, and the card in slot 0."""
MEMORY = {
    Command.MEMORY_READ,
    Command.MEMORY_READ_LINE,
    Command.MEMORY_READ_MULTIPLE,
    Command.MEMORY_WRITE,
    Command.MEMORY_WRITE_AND_INVALIDATE,
}
"""Commands that access memory."""


@dataclass(frozen=True)
class Doorbell:
    """Store of the host to the doorbell region of its NIC. Comparisons ignore the clocks of the bus."""

    offset: int
    """Byte offset in the region."""
    data: bytes
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass
class HostDma:
    """Transfer of a NIC's host DMA: successive transactions that continue each other. Comparisons ignore the
    clocks of the bus.
    """

    to_host: bool
    """True if the NIC writes host memory."""
    address: int
    """Address of the first byte in host memory."""
    data: bytes
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)
    transactions: int = 0
    """Number of transactions, with those without data."""
    retries: int = 0
    """Number of transactions that ended with Retry."""


class _Derived(Monitor[T]):
    """Monitor whose transactions follow from those of a bus."""

    def __init__(self, name: str, bus: PciBusMonitor) -> None:
        super().__init__(name, bus.period)
        self._bus = bus
        bus.listen(self._take)

    def update(self) -> None:
        """Decode the bus up to now."""
        self._bus.update()

    def be_live(self) -> None:
        """Decode each transaction of the bus when it ends, from now on."""
        self._bus.be_live()

    @abstractmethod
    def _take(self, transaction: Transaction) -> None:
        """Take a transaction of the bus."""

    def _times(self, start: int, end: int) -> dict[str, Any]:
        return {"start_ps": start * self.period, "end_ps": end * self.period}


class DoorbellMonitor(_Derived[Doorbell]):
    """Monitor of the stores to a NIC's doorbells; `region` holds their bus addresses."""

    def __init__(self, name: str, bus: PciBusMonitor, region: range) -> None:
        super().__init__(name, bus)
        self._region = region

    def row(self, transaction: Doorbell) -> dict[str, Any]:
        """Return the cells of a store."""
        one = transaction
        cells = {"command": "doorbell", "address": one.offset, "bytes": len(one.data), "data": one.data}
        return {**self._times(one.start, one.end), **cells}

    def _take(self, transaction: Transaction) -> None:
        if transaction.master != BRIDGE or not transaction.command.writes or transaction.address not in self._region:
            return
        if moved := transaction.bytes_moved():
            data, offset = bytes(value for _, value in moved), moved[0][0] - self._region.start
            self._finished(Doorbell(offset, data, transaction.start, transaction.last))


class HostDmaMonitor(_Derived[HostDma]):
    """Monitor of the transfers of a NIC's host DMA.

    A transaction continues the transfer before it if it begins at the next byte, and if the one before was cut: by
    Retry or Disconnect, by the latency timer, or at the longest burst. A transfer therefore ends for the monitor when
    the next one begins, or with the run.

    Args:
        name: Name of the monitor.
        bus: Monitor of the bus.
        timer: Latency timer of the NIC in clocks; 0: none.
        burst: Bytes of the longest transaction; 0: unlimited.
    """

    def __init__(self, name: str, bus: PciBusMonitor, timer: int, burst: int) -> None:
        super().__init__(name, bus)
        self._timer, self._burst = timer, burst
        self._open: HostDma | None = None
        self._cut = False  # the last transaction has been cut

    def finish(self, time: int, complete: bool) -> None:
        """Decode everything up to the end of the run, which ends the last transfer."""
        super().finish(time, complete)
        self._close()

    def row(self, transaction: HostDma) -> dict[str, Any]:
        """Return the cells of a transfer."""
        one = transaction
        return {
            **self._times(one.start, one.end),
            "command": "to host" if one.to_host else "from host",
            "address": one.address,
            "bytes": len(one.data),
            "data": one.data,
            "transactions": one.transactions,
            "retries": one.retries,
        }

    def _take(self, transaction: Transaction) -> None:
        if transaction.master != NIC or transaction.command not in MEMORY:
            return
        moved = transaction.bytes_moved()
        at = moved[0][0] if moved else transaction.address
        one = self._open
        if one is None or not self._cut or not self._continues(one, transaction.command.writes, at, bool(moved)):
            self._close()
            one = self._open = HostDma(transaction.command.writes, at, b"", transaction.start)
        if not one.data:
            one.address = at
        one.data += bytes(value for _, value in moved)
        one.end = transaction.last
        one.transactions += 1
        one.retries += transaction.end is Termination.RETRY
        cut = transaction.end in (Termination.RETRY, Termination.DISCONNECT)
        cut |= bool(self._timer) and transaction.clocks > self._timer
        self._cut = cut or (bool(self._burst) and len(moved) > self._burst - 8)

    @staticmethod
    def _continues(one: HostDma, writes: bool, at: int, moved: bool) -> bool:
        """Return True if a transaction continues a transfer. Without data, the lowest bits of `at` are unknown."""
        after = one.address + len(one.data)
        exact = moved and bool(one.data)
        return writes == one.to_host and (at == after if exact else at >> 3 == after >> 3)

    def _close(self) -> None:
        if (one := self._open) is not None:
            self._open = None
            self._finished(one)
