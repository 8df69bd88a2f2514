"""Myrinet driver: service of the NI's translation misses (paper 000, 4.5.2; readings B8).

The NI writes its request to a fixed place in kernel memory and interrupts. The interrupt routine looks the address up,
writes the answer into the entry of the NI's cache that the request names, and signals the NI. The size is written last,
so that a half-written entry is never valid. The store that signals also clears the interrupt. Until it arrives, the
interrupt may be raised once more for the same request. The handler then ignores it, because a second store would clear
the interrupt of the next request.

When a block is freed, its entries are removed first. Then the NI is notified, and confirms when it no longer uses any
translation of the block. Only then may the memory be allocated again.
"""

from __future__ import annotations

from firmware.common.host.words import store_words
from firmware.grim.formats import Cause
from firmware.grim.host.memory import Block, Pieces, PinnedMemory
from firmware.grim.nic.layout import DriverWord, Layout, Word
from firmware.grim.nic.remote_memory.entries import PAGE, Runtime
from firmware.verbs import Host
from pymodels.registers import Isr, Reg

SIGNAL = 1 << Isr.LANAI_SIG
"""ISR bit of the NI that signals an answer or a freed block."""
ANSWER = SIGNAL | 1 << Isr.HOST_SIG
"""ISR bits of the NI that signal an answer and clear the interrupt of its request."""
WORDS = 1 << 32


class Driver:
    """Kernel driver of one NI."""

    def __init__(self, host: Host, layout: Layout, memory: PinnedMemory) -> None:
        self._host, self._layout, self._memory = host, layout, memory
        self._kernel = 0
        self._freed = 0
        self._number = 0
        """Number of the last request served. The NI counts its requests from 1."""
        self._serving = False
        self._served = host.event("the service of a translation miss")
        self._cached: dict[int, Block] = {}
        """Block in each run-time entry of the NI's translation cache."""
        self.interrupts = 0
        """Number of misses served."""

    async def install(self) -> None:
        """Install the interrupt routine, and give the NI the address for its requests."""
        self._kernel = self._host.allocate(PAGE).address
        self._host.on_interrupt(self._serve)
        await store_words(self._host, Word.KERNEL, self._kernel)

    async def _serve(self) -> None:
        """Handle a miss interrupt. The handler is not preempted by `forget`."""
        va, size, entry, number = self._host.load_words(self._kernel + DriverWord.REQUEST, 4)
        if number == self._number:  # the answer has not reached the NI yet
            return
        self._serving, self._number = True, number
        self.interrupts += 1
        await self._host.spend("serve_miss")
        block, at = self._memory.block(va), self._layout.runtime + self._layout.runtime_bytes * entry
        self._cached.pop(entry, None)
        await store_words(self._host, at + Runtime.SIZE, 0)
        if block is None or va + size > block.va + block.size:
            cause = Cause.NOT_REGISTERED if block is None else Cause.BEYOND
            await store_words(self._host, at + Runtime.ANSWER, number << 16 | cause)
        else:
            begin, length, pieces = self._window(block, va)
            await self._host.spend("serve_piece", len(pieces))
            await store_words(self._host, at + Runtime.VA, begin)
            words = [word for piece in pieces for word in piece]
            await store_words(self._host, at + Runtime.COUNT, len(pieces), number << 16, block.va + block.size, *words)
            await store_words(self._host, at + Runtime.SIZE, length)
            self._cached[entry] = block
        await self._signal(ANSWER)
        self._serving = False
        self._served.set()

    async def _signal(self, bits: int) -> None:
        card = self._host.card
        await self._host.pio_write(card.register(Reg.ISR), card.signal(bits).to_bytes(4, "big"))

    def _window(self, block: Block, va: int) -> tuple[int, int, Pieces]:
        """Return start, bytes and pieces of the part of a block that fits into an entry.

        The part begins at the start of the block or, if the block is too long, at the page of the address.
        """
        most = self._layout.translation_pieces
        if len(block.pieces) <= most:
            return block.va, block.size, block.pieces
        first = min((va - block.va) // PAGE, len(block.pieces) - most)
        pieces = block.pieces[first : first + most]
        return block.va + PAGE * first, sum(length for _, length in pieces), pieces

    async def forget(self, block: Block) -> None:
        """Invalidate the translations of a freed block, and return when no transfer uses them."""
        while self._serving:
            await self._served.wait()
        entries = [entry for entry, cached in self._cached.items() if cached is block]
        for entry in entries:
            del self._cached[entry]
        for entry in entries:
            await store_words(self._host, self._layout.runtime + self._layout.runtime_bytes * entry + Runtime.SIZE, 0)
        await self.confirm()

    async def confirm(self) -> None:
        """Return when no transfer of the NI uses a translation or window that was removed before the call."""
        self._freed = number = (self._freed + 1) % WORDS
        await self._host.spend("free_told")
        await store_words(self._host, Word.FREED, number)
        await self._signal(SIGNAL)
        at = self._kernel + DriverWord.FREED
        while 0 < (number - (told := self._host.load_words(at, 1)[0])) % WORDS < WORDS // 2:
            await self._host.poll([(at, told)], "poll_spin")
