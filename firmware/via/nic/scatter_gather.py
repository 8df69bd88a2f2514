"""Pages of a user's data segments, translated one by one when they are needed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from firmware.via.nic.ni import Ni
from firmware.via.nic.translation import Translator


class Span(NamedTuple):
    """Data segment, or the rest of one."""

    va: int
    handle: int
    size: int


class SegmentPages:
    """Pages of data segments that were checked when the descriptor was read."""

    whole = True

    def __init__(
        self, ni: Ni, translator: Translator, parts: list[Span], tag: int, side: Hashable, short: bool = False
    ) -> None:
        """Create the list.

        Args:
            ni: State of the NIC.
            translator: Translator of addresses.
            parts: Data segments.
            tag: Protection tag.
            side: User of the translations, see `Translator`.
            short: True if all segments are in one page.
        """
        self._short = short
        self._ni, self._translator, self._tag, self._side = ni, translator, tag, side
        self._all = parts[::-1]
        self._parts = [*self._all]
        self._last = Span(0, 0, 0)

    def more(self) -> bool:
        """Return True if bytes are left."""
        return bool(self._parts)

    async def take(self) -> tuple[int, int] | None:
        """Return physical address and size of the next page. Raises Refused."""
        va, handle, size = self._parts.pop()
        if not self._short:
            await self._ni.nic.work_on("user_page")
        address, part = await self._translator.piece(self._side, va, handle, size, self._tag)
        self._last = Span(va, handle, part)
        if part < size:
            self._parts.append(Span(va + part, handle, size - part))
        return address, part

    def untake(self, left: int) -> bool:
        """Put the last `left` bytes of the last page back, and return True."""
        va, handle, size = self._last
        self._parts.append(Span(va + size - left, handle, left))
        return True

    def again(self) -> None:
        """Restart at the first segment."""
        self._parts = [*self._all]

    async def skip(self) -> None:
        """Discard the rest."""
        self._parts.clear()
