"""Does remote memory of a card work over the RTL: on both cards, at the edges of a window, and beside messages?

Strategy: host 0 writes known bytes into a window of each card, by offset and by PCI address, and reads them back.
Python must see the same bytes in the banks and no change around them. Accesses outside of the window must fail at the
caller. Then both hosts write and read windows of bank 3 while messages pass through circuits that use bank 3. So DMA
often finds a bank of the FPGA. All reads must return what was written, and all results must be
the models'.
"""

from __future__ import annotations

import random
from typing import Any

from pymodels.card.circuits import CIRCUITS
from pymodels.card.registers import BANK_BYTES, Forward
from pymodels.errors import SanlabError
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, SETTLE_PS, Pair

__all__ = ["CLUSTER", "run"]
OPTIONS = {
    "largest": Option(9001, "bytes of the largest transfer", 64, 1 << 20),
    "rounds": Option(6, "transfers of each host beside messages; 0: none", 0, 1000),
    **CARD_OPTIONS,
}
BEGIN, SIZE = 3 * BANK_BYTES + 0x100000, 0x40000
LOCK = BEGIN + SIZE - 4
EDGE = 64
SIZES = (1, 6, 64, 4096, 9001)


async def run(lab: Lab) -> None:
    """Run the scenario."""
    windows = _Windows(lab)
    await windows.enable()
    await windows.moves()
    await windows.fails()
    if lab.option("rounds"):
        await windows.beside_messages()


class _Windows:
    """Two hosts with a card each, whose windows are open."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._random = random.Random(lab.seed)
        self._results: list[tuple[int, bytes]] = []
        self._physical = 0

    async def enable(self) -> None:
        """Start both hosts, and open a window of each card."""
        pair = self._pair
        await pair.enable([{"result": self._on_result}, {}], ["histogram", "loopback"])
        for library in pair.libraries:
            self._physical = await library.card.open_window(BEGIN, SIZE)

    def _on_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: Any) -> None:
        self._results.append((a0, bytes(payload)))

    async def _wait(self, card: int, lock: int, value: int) -> None:
        """Wait until a word of a card's bank has a value."""
        bank = self._lab.running.banks[card]
        while int.from_bytes(bytes(bank[lock : lock + 4]), "big") != value:
            await self._lab.kernel.sleep(1_000_000, "a lock of the card")

    async def moves(self) -> None:
        """Write to each card in both ways, and read back."""
        pair, lab = self._pair, self._lab
        near, moved = pair.near, 0
        for card in (1, 0):
            bank = lab.running.banks[card]
            for number, size in enumerate(size for size in SIZES if size <= lab.option("largest")):
                data, at = self._random.randbytes(size), BEGIN + EDGE + 4 * number
                around = bytes(bank[at - EDGE : at]), bytes(bank[at + size : at + size + EDGE])
                source, back = await near.malloc_pinned(size), await near.malloc_pinned(size)
                done = await near.malloc_pinned(4)
                near.store_pinned(source, data)
                near.store_pinned(done, b"\x01" * 4)
                value = 0xC0FFEE00 + number
                if number % 2:
                    target = self._physical - BEGIN + at
                    await near.send_physical_memory(pair.cards[card], target, source, size, lock=LOCK, value=value)
                else:
                    await near.send_memory(pair.cards[card], at, source, size, lock=LOCK, value=value)
                await self._wait(card, LOCK, value)
                lab.check("written bytes", bytes(bank[at : at + size]) == data, f"{size} bytes are not in the bank")
                beside = bytes(bank[at - EDGE : at]), bytes(bank[at + size : at + size + EDGE])
                lab.check("bytes around a target", around == beside, f"{size} bytes have changed others")
                await near.fetch_memory(pair.cards[card], back, at, size, lock=done)
                await near.wait_for_lock(done, 0)
                lab.check("read bytes", near.load_pinned(back, size) == data, f"{size} bytes were read wrongly")
                moved += 2 * size
        lab.metric("bytes_moved", moved)

    async def fails(self) -> None:
        """Access what is outside of the window."""
        pair, lab = self._pair, self._lab
        near, card, told = pair.near, pair.cards[1], 0
        before = bytes(lab.running.banks[1])
        source = await near.malloc_pinned(8192)
        calls = {
            "is in no open window": near.send_memory(card, BEGIN - 4, source, 8),
            "exceeds its window": near.send_memory(card, BEGIN + SIZE - 4096, source, 4100),
            f"{self._physical - 64:#x} is in no open": near.send_physical_memory(card, self._physical - 64, source, 64),
            f"{LOCK + 4:#x} is in no open": near.fetch_memory(card, source, LOCK + 4, 4),
            "has no open window at the lock": near.send_memory(card, BEGIN, source, 8192, lock=BEGIN - 4, value=1),
        }
        for expected, call in calls.items():
            await call
            try:
                await near.wait_for(lambda: False)
            except SanlabError as error:
                lab.check("error text", expected in str(error), f"the error is {error}, expected {expected!r}")
                told += 1
        await pair.far.card.close_window(BEGIN)
        await near.send_memory(card, BEGIN, source, 64)
        try:
            await near.wait_for(lambda: False)
        except SanlabError:
            told += 1
        lab.check("banks", bytes(lab.running.banks[1]) == before, "a failed access has changed a bank")
        await pair.far.card.open_window(BEGIN, SIZE)
        lab.metric("errors", told)

    async def beside_messages(self) -> None:
        """Write and read bank 3 from both hosts while circuits use it."""
        pair, lab, rounds = self._pair, self._lab, self._lab.option("rounds")
        for card in pair.cards:
            await pair.near.forward(card, "histogram", Forward.NOWHERE)
            await pair.near.forward(card, "loopback", Forward.REPLY)
        await lab.kernel.sleep(SETTLE_PS, "the tables to be set")
        movers = [lab.spawn(self._mover(host, rounds), f"transfers of host {host}") for host in (0, 1)]
        model, sent = CIRCUITS["histogram"](), dict.fromkeys((0, 1), b"")
        numbers, result = pair.number, pair.number["result"]
        expected = []
        number = 0
        while number < 4 * rounds or not all(mover.finished.done for mover in movers):
            card = number % 2
            payload = self._random.randbytes(256)
            sent[card] += payload
            await pair.near.send(pair.cards[card], numbers["histogram"], 0, payload=payload)
            await pair.near.send(pair.cards[card], numbers["loopback"], number, 0, 0, result, payload)
            expected.append((number, payload))
            number += 1
            await pair.near.wait_for(lambda: len(self._results) >= len(expected) - 4)
        await lab.all(movers)
        await pair.near.wait_for(lambda: len(self._results) == len(expected))
        lab.check("results", sorted(self._results) == expected, "a loop-back returned other bytes")
        self._results.clear()
        for card in (0, 1):
            await pair.near.forward(pair.cards[card], "histogram", Forward.REPLY)
            await pair.near.send(pair.cards[card], numbers["histogram"], 1, 0, 0, result)
            await pair.near.wait_for(lambda: bool(self._results))
            model.run(0, sent[card])
            counts = self._results.pop()[1]
            lab.check("histogram", counts == model.run(1, b""), "writes to bank 3 have changed the circuit's counters")
            model.run(2, b"")
        lab.metric("messages_beside", 2 * number)

    async def _mover(self, host: int, rounds: int) -> None:
        """Write to the other host's card and read back, again and again."""
        pair, size = self._pair, min(self._lab.option("largest"), 4096)
        library, card, at = pair.libraries[host], pair.cards[1 - host], BEGIN + 0x4000
        source, back, done = [await library.malloc_pinned(size) for _ in range(3)]
        for _ in range(rounds):
            data = self._random.randbytes(size)
            library.store_pinned(source, data)
            library.store_pinned(done, b"\x01" * 4)
            await library.send_memory(card, at, source, size)
            await library.fetch_memory(card, back, at, size, lock=done)
            while library.load_pinned(done, 4) != bytes(4):
                await self._lab.kernel.sleep(1_000_000, "a read beside messages")
            self._lab.check("reads beside messages", library.load_pinned(back, size) == data, "other bytes were read")
