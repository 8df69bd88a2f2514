"""TPIL library: transfers by each method, the benchmark, and the choice of the method (paper 003, Table C.10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from firmware.common.host.lock import Lock
from firmware.tpil.host.config import DEFAULT, Config, CutOffs, Method, cut_offs
from firmware.tpil.host.driver import MOST
from firmware.tpil.host.errors import TpilError
from firmware.verbs import Host

WORD = 4
"""Bytes of the host's smallest access of the bus."""
LINE = 32
"""Bytes of a cache line, and of one turn of a copy loop."""
CHUNK = 8 * LINE
"""Bytes that the CPU loads before it stores them to the bus; the stores drain while it loads the next chunk."""
PAGE = 4096
COPY_PATHS = {Method.WORDS: "copy_words", Method.MMX: "copy_mmx", Method.SSE: "copy_sse"}
SIZES = tuple(size for power in range(2, 17) for size in (1 << power, 3 << power - 1 if power > 2 else 0) if size)
"""Benchmark sizes: powers of two and the values half-way between them."""


class Ioctl(Protocol):
    """Interface of a DMA driver."""

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Copy `size` bytes from a physical address to an offset of the card's memory, and wait for the end."""


class Tpil:
    """TPIL device: a card's memory as the target of transfers."""

    def __init__(self, host: Host, window: int, size: int, ioctl: Ioctl | None = None, *, sse: bool = True) -> None:
        """Create a device (`tpil_create`).

        Args:
            host: the host.
            window: PCI address of the card's memory.
            size: bytes of the card's memory.
            ioctl: DMA driver; without it, only the CPU moves data.
            sse: True if the CPU has stores of 16 bytes.
        """
        self._host, self.window, self._size, self._ioctl = host, window, size, ioctl
        self._bounce = host.allocate(MOST + 8)
        self._bounce_turn = Lock(host, "the bounce buffer")
        self._edge_turn = Lock(host, "a word that another transfer shares")
        self._stores = tuple(method for method in COPY_PATHS if sse or method != Method.SSE)
        self.config = DEFAULT

    async def h2c(self, target: int, source: int, size: int) -> Method:
        """Move bytes of host memory into the card by the method that the cut-offs select (`tpil_h2c`).

        Programmed I/O is posted when this returns; DMA is complete.

        Args:
            target: offset in the card's memory in bytes.
            source: address in host memory.
            size: number of bytes.

        Returns:
            The method used.

        Raises:
            TpilError: a transfer outside the card.
            CardGoneError: the card's DMA does not answer or does not finish.
        """
        await self._host.spend("h2c")
        method = self.config.choose(source, target, size)
        await self.move(method, target, source, size)
        return method

    def configure(self, config: Config) -> None:
        """Use the cut-offs of a benchmark or the caller's own (`tpil_configure`). Raises TpilError for an unavailable
        method.
        """
        for aligned, cuts in ((True, config.aligned), (False, config.askew)):
            for _, method in cuts:
                self._check_method("configuration", method, aligned)
        self.config = config

    async def benchmark(self, sizes: Sequence[int] = SIZES) -> Config:
        """Measure every method, aligned and misaligned, and return the cut-offs (`tpil_benchmark`). Overwrites the
        card's memory.
        """
        source = self._host.allocate(max(sizes) + 8).address
        return Config(*[await self._envelope(source + skew, skew == 0, sizes) for skew in (0, 4)])

    async def _envelope(self, source: int, aligned: bool, sizes: Sequence[int]) -> CutOffs:
        times = {}
        for method in self.methods(aligned):
            times[method] = [await self.time(method, 0, source, size) for size in sizes]
        return cut_offs(sizes, times)

    def methods(self, aligned: bool) -> tuple[Method, ...]:
        """Return the available methods for aligned or misaligned transfers."""
        if self._ioctl is None:
            return self._stores
        return (*self._stores, Method.BOUNCE, *[Method.DIRECT] * aligned)

    def _check_method(self, what: str, method: Method, aligned: bool) -> None:
        """Check that a method is available. Raises TpilError."""
        if method in self.methods(aligned):
            return
        if method == Method.SSE:
            raise TpilError(what, "sse, but the device has no SSE stores", "create it with sse=True, or use mmx")
        if self._ioctl is None:
            raise TpilError(what, f"{method.value}, but the device has no driver", "create it with an ioctl")
        raise TpilError(what, "direct DMA with source and target not equal modulo 8", "use bounce")

    async def time(self, method: Method, target: int, source: int, size: int) -> int:
        """Return the time in ps from the call until a read behind the bytes returns."""
        begin = self._host.now
        await self.move(method, target, source, size)
        await self._host.pio_read(self.window + (target + size - 1 & ~3))
        return self._host.now - begin

    async def move(self, method: Method, target: int, source: int, size: int) -> None:
        """Move bytes of host memory into the card by a given method.

        Args:
            method: the method.
            target: offset in the card's memory in bytes.
            source: address in host memory.
            size: number of bytes.

        Raises:
            TpilError: a transfer of no bytes, one outside the card, or an unavailable method.
            CardGoneError: the card's DMA does not answer or does not finish.
        """
        if size <= 0:
            raise TpilError("transfer", f"{size} bytes from {source:#x} to {target:#x}", "give 1 or more")
        if target < 0 or target + size > self._size:
            cause = f"{target:#x} to {target + size:#x} of a card of {self._size:#x} bytes"
            raise TpilError("target", cause, "stay inside the card")
        self._check_method("method", method, not (source ^ target) & 7)
        if self._ioctl is None or method in COPY_PATHS:
            await self._store(method, target, source, size)
        else:
            await self._host.syscall()
            step = self._from_bounce if method == Method.BOUNCE else self._from_pages
            await step(self._ioctl, target, source, size)

    async def _store(self, method: Method, target: int, source: int, size: int) -> None:
        """Store whole words by the CPU, and merge the bytes before and behind them into the card's words."""
        host, combine = self._host, method != Method.WORDS
        head = min(-target % WORD, size)
        tail = (target + size) % WORD if size > head else 0
        if head:
            await self._merge(target, source, head)
        for at in range(head, size - tail, CHUNK):
            part = min(CHUNK, size - tail - at)
            await host.spend(COPY_PATHS[method], -(-part // LINE))
            await host.pio_copy(self.window + target + at, source + at, part, combine)

        if tail:
            await self._merge(target + size - tail, source + size - tail, tail)

    async def _merge(self, target: int, source: int, size: int) -> None:
        """Write one to three bytes of a word: the host's bus port stores words, so that the word is read first."""
        first, address = target % WORD, self.window + target - target % WORD
        async with self._edge_turn:
            await self._host.spend("edge_word")
            word = bytearray((await self._host.pio_read(address)).to_bytes(WORD, "big"))
            word[first : first + size] = self._host.load_bytes(source, size)
            await self._host.pio_write(address, bytes(word))

    async def _from_bounce(self, ioctl: Ioctl, target: int, source: int, size: int) -> None:
        host = self._host
        for at in range(0, size, MOST):
            part = min(MOST, size - at)
            copy = self._bounce.address + (target + at & 7)
            async with self._bounce_turn:
                await host.spend("take_card")
                await host.copy_memory("bounce_line", copy, source + at, part)
                await ioctl.fetch(copy, target + at, part)
                await host.spend("give_card")

    async def _from_pages(self, ioctl: Ioctl, target: int, source: int, size: int) -> None:
        """Fetch page by page, since the pages of a real memory are not contiguous."""
        host, at = self._host, 0
        await host.spend("lock_page", (source + size - 1) // PAGE - source // PAGE + 1)
        try:
            while at < size:
                part = min(size - at, PAGE - (source + at) % PAGE)
                await ioctl.fetch(source + at, target + at, part)
                at += part
        finally:
            await host.spend("unlock_page", (source + size - 1) // PAGE - source // PAGE + 1)
