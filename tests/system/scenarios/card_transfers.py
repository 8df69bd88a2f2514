"""Do circuits issue remote writes and reads: from card to card, to and from a host, and are failures reported?

Strategy: a message to the loopback of card 0 becomes a remote write of its payload. The target is a window of card 1, a
host's memory, or card 0's own window. A message whose payload names source, target and bytes becomes a remote read from
there into a window of card 0. All bytes are compared in the banks and in host memory. From a card's
result to the lock, no record of a host CPU may occur, and no byte of host memory may change. Transfers
outside of a window must be reported to the host of the card that issued them, and the card must continue.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

from firmware.grim.nic.layout import Counter
from pymodels.card.registers import BANK_BYTES, Forward
from pymodels.errors import SanlabError
from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, SETTLE_PS, Pair, first_after, host_events
from tb.studies.kit.records import times

__all__ = ["CLUSTER", "run"]
OPTIONS = {"largest": Option(4096, "bytes of the largest transfer", 4, 4096), **CARD_OPTIONS}
BEGIN, SIZE = 3 * BANK_BYTES + 0x100000, 0x10000
LOCK, DATA, FETCHED = BEGIN, BEGIN + 64, BEGIN + 0x8000
SIZES = (4, 61, 4096)
LOOK_PS = 200_000
"""Interval at which a word in memory is compared, ps; no host is involved."""


async def run(lab: Lab) -> None:
    """Run the scenario."""
    transfers = _Transfers(lab)
    await transfers.enable()
    await transfers.between_cards()
    await transfers.with_hosts()
    await transfers.failures()


class _Transfers:
    """Two hosts, two cards with open windows, and the transfers that card 0 issues."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._random = random.Random(lab.seed)
        self._number = 0

    async def enable(self) -> None:
        """Start both hosts, and open a window of each card."""
        await self._pair.enable([{}, {}], ["loopback"])
        for library in self._pair.libraries:
            await library.card.open_window(BEGIN, SIZE)

    async def between_cards(self) -> None:
        """Write from card 0 to card 1, and read back; count what the hosts do."""
        lab, pair = self._lab, self._pair
        spans, changed, counts = [], 0, await self._counts()
        for size in (size for size in SIZES if size <= lab.option("largest")):
            data = self._random.randbytes(size)
            await self._direct(Forward.WRITE, pair.cards[1])
            memory, begun = self._memory(), lab.kernel.now
            await self._write(DATA, data, LOCK)
            await self._until(lambda: self._word(1, LOCK) == self._number, "the lock of card 1")
            spans.append((begun, lab.kernel.now - 1))
            changed += memory != self._memory()
            lab.check("written by a card", self._bank(1, DATA, size) == data, f"{size} bytes are not in card 1")
            await self._direct(Forward.FETCH, pair.cards[1])
            self._fill(0, LOCK, b"\x01" * 4)
            memory, begun = self._memory(), lab.kernel.now
            await self._read(DATA, size)
            await self._until(lambda: self._word(0, LOCK) == 0, "the lock of card 0")
            spans.append((begun, lab.kernel.now - 1))
            changed += memory != self._memory()
            lab.check("read by a card", self._bank(0, FETCHED, size) == data, f"{size} bytes are not in card 0")
        written, read = await self._counts()
        trace = lab.trace()
        gives = times(trace, 0, Part.FPGA, TraceEvent.CARD_GIVE)
        lab.metric("host_cpu_events", sum(host_events(trace, first_after(gives, one), end) for one, end in spans))
        lab.metric("host_cpu_events_before", sum(host_events(trace, one, first_after(gives, one)) for one, _ in spans))
        lab.metric("host_memory_changed", changed)
        lab.metric("messages_written", written - counts[0])
        lab.metric("messages_read", read - counts[1])

    async def with_hosts(self) -> None:
        """Write to memory of both hosts, read it, and do the same in card 0's own window."""
        lab, pair = self._lab, self._pair
        size = lab.option("largest")
        for node, library in enumerate(pair.libraries):
            block, lock = await library.malloc_pinned(size), await library.malloc_pinned(4)
            data = self._random.randbytes(size)
            await self._direct(Forward.WRITE, pair.host(node))
            await self._write(block, data, lock)
            await library.wait_for_lock(lock, self._number)
            lab.check("written to a host", library.load_pinned(block, size) == data, f"host {node} has other bytes")
            self._fill(0, LOCK, b"\x01" * 4)
            await self._direct(Forward.FETCH, pair.host(node))
            await self._read(block, size)
            await self._until(lambda: self._word(0, LOCK) == 0, "the lock of card 0")
            lab.check(
                "read from a host", self._bank(0, FETCHED, size) == data, f"other bytes than those of host {node}"
            )
        data = self._random.randbytes(size)
        await self._direct(Forward.WRITE, pair.cards[0])
        await self._write(DATA, data, LOCK)
        await self._until(lambda: self._word(0, LOCK) == self._number, "the lock of the own card")
        lab.check("written to the own card", self._bank(0, DATA, size) == data, "card 0 has other bytes")

    async def failures(self) -> None:
        """Issue transfers that must fail, and one that must not."""
        lab, pair = self._lab, self._pair
        before, told = [bytes(bank) for bank in (lab.running.banks[0][BEGIN:], lab.running.banks[1][BEGIN:])], 0
        await self._direct(Forward.WRITE, pair.cards[1])
        await self._write(BEGIN + SIZE - 4, bytes(8), 0)
        told += await self._reported(f"{BEGIN + SIZE - 4:#x} exceeds its window on the card of VNN 1")
        await self._direct(Forward.FETCH, pair.cards[1])
        await self._read(BEGIN - 64, 64)
        told += await self._reported(f"{BEGIN - 64:#x} is in no open window of the card of VNN 1")
        await self._read(DATA, 64, BEGIN + SIZE)
        told += await self._reported("target or lock was freed before the data")
        await self._read(DATA, 0x10000)
        told += await self._reported("rejected a message permanently (cause 3)")
        after = [bytes(bank) for bank in (lab.running.banks[0][BEGIN:], lab.running.banks[1][BEGIN:])]
        lab.check("banks", before == after, "a failed transfer has changed a bank")
        await self._direct(Forward.WRITE, pair.cards[1])
        await self._write(DATA, b"next", LOCK)
        await self._until(lambda: self._word(1, LOCK) == self._number, "the lock of card 1")
        lab.metric("reported", told)

    # ---- transfers

    async def _write(self, target: int, data: bytes, lock: int) -> None:
        """Send a message to card 0 that its circuit turns into a remote write."""
        pair = self._pair
        self._number += 1
        await pair.near.send(pair.cards[0], pair.number["loopback"], 0, target, lock, self._number, data)

    async def _read(self, source: int, size: int, target: int = FETCHED) -> None:
        """Send a message to card 0 that its circuit turns into a remote read."""
        words = struct.pack("<4I", source, target, size, LOCK)
        await self._pair.near.send(self._pair.cards[0], self._pair.number["loopback"], payload=words)

    async def _direct(self, mode: Forward, where: int) -> None:
        await self._pair.near.forward(self._pair.cards[0], "loopback", mode, where)
        await self._lab.kernel.sleep(SETTLE_PS, "the table to be set")

    async def _reported(self, expected: str) -> int:
        """Return 1 if an error with this text arrives at host 0."""
        try:
            await self._pair.near.wait_for(lambda: False)
        except SanlabError as error:
            self._lab.check("error text", expected in str(error), f"the error is {error}, expected {expected!r}")
        return 1

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        while not condition():
            await self._lab.kernel.sleep(LOOK_PS, what)

    # ---- memory

    def _bank(self, card: int, at: int, size: int) -> bytes:
        return bytes(self._lab.running.banks[card][at : at + size])

    def _word(self, card: int, at: int) -> int:
        return int.from_bytes(self._bank(card, at, 4), "big")

    def _memory(self) -> list[int]:
        """Return a CRC of the memory of each host."""
        size = self._lab.plan.profile.integer("memory.bytes")
        return [zlib.crc32(host.window(0, size)) for host in self._lab.running.hosts]

    def _fill(self, card: int, at: int, data: bytes) -> None:
        self._lab.running.banks[card][at : at + len(data)] = memoryview(data)

    async def _counts(self) -> tuple[int, int]:
        """Return the numbers of remote writes and reads that the NI of host 1 has executed."""
        far: Any = self._pair.far
        written, read = Counter.REMOTE_WRITES, Counter.REMOTE_READS
        return int(await far.ni_counter(written)), int(await far.ni_counter(read))
