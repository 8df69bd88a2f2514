"""Tables and segment of an endpoint, as its program sets and reads them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.am2.host.message import EndpointName, Token
from firmware.am2.host.segment import Segment
from firmware.am2.host.tables import Tables
from pymodels.host.process import Process

Handler = Callable[[Token], Coroutine[Any, Any, None]]


class EndpointTables:
    """Tables and segment of an endpoint."""

    def __init__(self, who: str, process: Process, returned: Handler) -> None:
        """Create empty tables; `returned` is handler 0, for returned messages."""
        self._tables: Tables[Handler] = Tables(who, returned)
        self._segment = Segment(who, process)

    def set_handler(self, index: int, handler: Handler) -> None:
        """Set the handler of an index; index 0 is for returned messages (AM_SetHandler). Raises Am2Error."""
        self._tables.set_handler(index, handler)

    def set_handler_any(self, handler: Handler) -> int:
        """Set a handler at the first free index, and return the index (AM_SetHandlerAny). Raises Am2Error."""
        return self._tables.set_handler_any(handler)

    def map(self, index: int, name: EndpointName, tag: int) -> None:
        """Set a translation: destination and tag of messages to `index` (AM_Map). Raises Am2Error."""
        self._tables.map(index, name, tag)

    def map_any(self, name: EndpointName, tag: int) -> int:
        """Set a translation at the first free index, and return the index (AM_MapAny). Raises Am2Error."""
        return self._tables.map_any(name, tag)

    def unmap(self, index: int) -> None:
        """Free a translation (AM_Unmap). Raises Am2Error."""
        self._tables.unmap(index)

    def translation(self, index: int) -> tuple[EndpointName, int]:
        """Return name and tag at an index (AM_GetTranslationName, AM_GetTranslationTag). Raises Am2Error."""
        return self._tables.translation(index)

    def in_use(self, index: int) -> bool:
        """Return True if an index has a translation (AM_GetTranslationInuse). Raises Am2Error."""
        return self._tables.in_use(index)

    @property
    def handlers(self) -> int:
        """Size of the handler table (AM_GetNumHandlers)."""
        return self._tables.most_handlers

    @property
    def translations(self) -> int:
        """Size of the translation table (AM_GetNumTranslations)."""
        return self._tables.most_translations

    def set_handlers(self, count: int) -> None:
        """Set the size of the handler table, 1 to 256, and drop entries beyond (AM_SetNumHandlers). Raises Am2Error."""
        self._tables.set_handlers(count)

    def set_translations(self, count: int) -> None:
        """Set the size of the translation table, 1 to 256, and drop entries beyond (AM_SetNumTranslations).

        Raises Am2Error.
        """
        self._tables.set_translations(count)

    def set_segment(self, va: int, size: int) -> None:
        """Set the memory for bulk data: address and size in bytes (AM_SetSeg). Raises Am2Error."""
        self._segment.set(va, size)

    @property
    def segment(self) -> tuple[int, int]:
        """Address and size in bytes of the segment (AM_GetSeg)."""
        return self._segment.va, self._segment.size
