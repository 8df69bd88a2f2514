"""Windows of a host's FPGA card: parts of its banks that the card's driver opens for remote memory (ours).

The driver writes a window into a table in NI memory, which the NI consults for every remote memory message to the card.
A closed window is confirmed by the NI behind all DMA that uses it, like freed memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware.common.host.words import store_words
from firmware.grim.host.arguments import whole
from firmware.grim.host.calls import Calls
from firmware.grim.host.driver import Driver
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.cards import CARD, IO
from firmware.grim.nic.layout import Layout
from firmware.grim.nic.remote_memory.entries import WINDOWS, Window
from firmware.verbs import Host
from pymodels.card.registers import BANK_BYTES, BANKS, RESULT_BANK, RESULT_BYTES
from pymodels.iocard.registers import REGISTERS as IO_REGISTERS


class CardWindows:
    """Open windows of one card."""

    def __init__(self, host: Host, layout: Layout, calls: Calls, driver: Driver, base: int = CARD) -> None:
        self._host, self._layout, self._calls, self._driver = host, layout, calls, driver
        self._base = base
        self.driver = driver
        """Driver of the NI."""
        self._open: list[tuple[int, int]] = [(0, 0)] * WINDOWS
        """Offset and bytes of each window, by entry; 0 bytes if it is closed."""

    async def open(self, offset: int, size: int) -> int:
        """Open a window and return its PCI address.

        Args:
            offset: Byte offset in the card's banks, a multiple of 4.
            size: Bytes.

        Raises:
            GrimError: The range is outside of the banks, overlaps another window or memory of the card's shell, or
                `WINDOWS` windows are open.
        """
        self._calls.ready()
        offset, size = whole("offset", offset), whole("number of bytes", size)
        if offset % 4 or not 0 <= offset < BANKS * BANK_BYTES:
            cause = f"{offset:#x} is not a multiple of 4 in the card's {BANKS * BANK_BYTES:#x} bytes"
            raise GrimError("offset", cause, "give a multiple of 4 within the banks")
        if not 0 < size <= BANKS * BANK_BYTES - offset:
            cause = f"{size} from offset {offset:#x}"
            raise GrimError("number of bytes", cause, f"give 1 to {BANKS * BANK_BYTES - offset}")
        for what, begin, bytes_ in self._taken():
            if offset < begin + bytes_ and begin < offset + size:
                cause = f"{size} bytes at {offset:#x} overlap {what}, {begin:#x} .. {begin + bytes_:#x}"
                raise GrimError("offset", cause, "give a range outside of it")
        if (0, 0) not in self._open:
            raise GrimError("offset", f"{WINDOWS} windows are open", "close one of them first")
        entry = self._open.index((0, 0))
        self._open[entry] = offset, size
        await self._host.spend("write_window")
        await store_words(self._host, self._at(entry), offset)
        await store_words(self._host, self._at(entry) + Window.SIZE, size)  # written last: makes the entry valid
        return self._base + offset

    async def forget(self) -> None:
        """Close all windows of a card that has lost the contents of its memory."""
        for entry, (_, size) in enumerate(self._open):
            if size:
                await self._host.spend("write_window")
                await store_words(self._host, self._at(entry) + Window.SIZE, 0)
        self._open = [(0, 0)] * WINDOWS

    async def close(self, offset: int) -> None:
        """Close the window that begins at an offset, and return when no transfer accesses it.

        Raises GrimError if no open window begins there.
        """
        self._calls.ready()
        found = [entry for entry, (begin, size) in enumerate(self._open) if size and begin == whole("offset", offset)]
        if not found:
            begins = ", ".join(f"{begin:#x}" for begin, size in self._open if size) or "none"
            raise GrimError("offset", f"no open window begins at {offset:#x}", f"open windows begin at: {begins}")
        await self._host.spend("write_window")
        await store_words(self._host, self._at(found[0]) + Window.SIZE, 0)
        await store_words(self._host, self._at(found[0]), 0)
        await self._driver.confirm()
        self._open[found[0]] = 0, 0

    def _at(self, entry: int) -> int:
        return self._layout.windows + Window.BYTES * entry

    def _taken(self) -> Iterator[tuple[str, int, int]]:
        """Yield name, offset and bytes of each range that no new window may overlap."""
        io = IO_REGISTERS if self._base == IO else 0
        for bank in range(2):
            yield f"the incoming queue of bank {bank}", bank * BANK_BYTES, self._layout.card_queue_bytes + io
        yield "the results of circuits", RESULT_BANK * BANK_BYTES, RESULT_BYTES
        for begin, size in self._open:
            if size:
                yield "an open window", begin, size
