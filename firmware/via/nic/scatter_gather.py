"""The pages of a user's data segments, translated one by one as they are needed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from firmware.via.nic.ni import Ni
from firmware.via.nic.translation import Translator


class Span(NamedTuple):
    """A data segment, or what is left of it."""

    va: int
    handle: int
    size: int


class SegmentPages:
    """The pages of data segments that were checked when the descriptor was read."""

    whole = True

    def __init__(
        self, ni: Ni, translator: Translator, parts: list[Span], tag: int, side: Hashable, short: bool = False
    ) -> None:
        """`side`: whose segments they are, as `Translator.find` knows them; `short`: they are all in one page."""
        self._short = short
        self._ni, self._translator, self._tag, self._side = ni, translator, tag, side
        self._all = parts[::-1]
        self._parts = [*self._all]
        self._last = Span(0, 0, 0)

    def more(self) -> bool:
        """Whether anything is left."""
        return bool(self._parts)

    async def take(self) -> tuple[int, int] | None:
        """The next page. Raises Refused."""
        va, handle, size = self._parts.pop()
        if not self._short:
            await self._ni.nic.work_on("user_page")
        address, part = await self._translator.piece(self._side, va, handle, size, self._tag)
        self._last = Span(va, handle, part)
        if part < size:
            self._parts.append(Span(va + part, handle, size - part))
        return address, part

    def untake(self, left: int) -> bool:
        """The end of the last piece is a segment again."""
        va, handle, size = self._last
        self._parts.append(Span(va + size - left, handle, left))
        return True

    def again(self) -> None:
        """All of them once more."""
        self._parts = [*self._all]

    async def skip(self) -> None:
        """Forget the rest."""
        self._parts.clear()
