"""The library: transfers by each method, the benchmark, and the choice (paper 003, Table C.10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from firmware.common.host.lock import Lock
from firmware.tpil.host.config import DEFAULT, Config, CutOffs, Method, cut_offs
from firmware.tpil.host.driver import MOST
from firmware.verbs import Host
from pymodels.errors import SanlabError

LINE = 32
"""Bytes of a cache line, and of one turn of a copying loop."""
CHUNK = 8 * LINE
"""Bytes that the CPU loads before the bus is given them: the stores drain while it loads the next."""
PAGE = 4096
COPY_PATHS = {Method.WORDS: "copy_words", Method.MMX: "copy_mmx", Method.SSE: "copy_sse"}
SIZES = tuple(size for power in range(2, 17) for size in (1 << power, 3 << power - 1 if power > 2 else 0) if size)
"""Sizes of the benchmark: powers of two and half-way between them."""


class TpilError(SanlabError):
    """A call that cannot be done."""


class Ioctl(Protocol):
    """What a driver offers: DMA by the card."""

    async def fetch(self, source: int, target: int, size: int) -> None:
        """`size` bytes from a physical address to an offset of the card's memory; returns when they are there."""


class Tpil:
    """One device. `Tpil(...)` is `tpil_create`."""

    def __init__(self, host: Host, window: int, size: int, ioctl: Ioctl | None = None, *, sse: bool = True) -> None:
        """`window`: PCI address of the card's memory, `size` its bytes; without `ioctl` there is no DMA, without `sse`
        no stores of 16 bytes.
        """
        self._host, self._window, self._size, self._ioctl = host, window, size, ioctl
        self._bounce = host.allocate(MOST + 8)
        self._bounce_turn = Lock(host, "the bounce buffer")
        self._stores = tuple(method for method in COPY_PATHS if sse or method != Method.SSE)
        self.config = DEFAULT

    async def h2c(self, target: int, source: int, size: int) -> Method:
        """`tpil_h2c`: move `size` bytes of host memory at `source` to offset `target` of the card; the method taken.

        Programmed I/O is posted when this returns, DMA is done. Raises TpilError.
        """
        await self._host.spend("h2c")
        method = self.config.choose(source, target, size)
        await self.move(method, target, source, size)
        return method

    def configure(self, config: Config) -> None:
        """`tpil_configure`: the cut-offs of a benchmark, or own ones. Raises TpilError for a method that it lacks."""
        for aligned, cuts in ((True, config.aligned), (False, config.askew)):
            for _, method in cuts:
                self._check_method("configuration", method, aligned)
        self.config = config

    async def benchmark(self, sizes: Sequence[int] = SIZES) -> Config:
        """`tpil_benchmark`: measure every method at some sizes, aligned and askew; the card's memory is overwritten."""
        source = self._host.allocate(max(sizes) + 8).address
        return Config(*[await self._envelope(source + skew, skew == 0, sizes) for skew in (0, 4)])

    async def _envelope(self, source: int, aligned: bool, sizes: Sequence[int]) -> CutOffs:
        times = {}
        for method in self.methods(aligned):
            times[method] = [await self.time(method, 0, source, size) for size in sizes]
        return cut_offs(sizes, times)

    def methods(self, aligned: bool) -> tuple[Method, ...]:
        """The methods that there are for transfers of a kind."""
        if self._ioctl is None:
            return self._stores
        return (*self._stores, Method.BOUNCE, *[Method.DIRECT] * aligned)

    def _check_method(self, what: str, method: Method, aligned: bool) -> None:
        """Refuse a method that there is not for transfers of a kind. Raises TpilError."""
        if method in self.methods(aligned):
            return
        if method == Method.SSE:
            raise TpilError(what, "sse, and the device has no such stores", "create it with sse=True, or use mmx")
        if self._ioctl is None:
            raise TpilError(what, f"{method.value}, and the device has no driver", "create it with an ioctl")
        raise TpilError(what, "direct DMA where source and target stand askew", "use bounce there")

    async def time(self, method: Method, target: int, source: int, size: int) -> int:
        """Picoseconds from the call until the bytes are in the card: a read behind them says so."""
        begin = self._host.now
        await self.move(method, target, source, size)
        await self._host.pio_read(self._window + target + size - 4)
        return self._host.now - begin

    async def move(self, method: Method, target: int, source: int, size: int) -> None:
        """A transfer by one method. Raises TpilError for one outside the card, parts of words, or a method that there
        is not.
        """
        if target % 4 or source % 4 or size % 4 or size <= 0:
            raise TpilError("transfer", f"{size} bytes from {source:#x} to {target:#x}", "give multiples of 4")
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
        host, combine = self._host, method != Method.WORDS
        for at in range(0, size, CHUNK):
            part = min(CHUNK, size - at)
            await host.spend(COPY_PATHS[method], -(-part // LINE))
            await host.pio_copy(self._window + target + at, source + at, part, combine)

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
        """Pages stand anywhere in a real memory, so each is a transfer of its own."""
        host, at = self._host, 0
        await host.spend("lock_page", (source + size - 1) // PAGE - source // PAGE + 1)
        while at < size:
            part = min(size - at, PAGE - (source + at) % PAGE)
            await ioctl.fetch(source + at, target + at, part)
            at += part
        await host.spend("unlock_page", (source + size - 1) // PAGE - source // PAGE + 1)
