"""The tables and the segment of an endpoint, as its program sets them and asks for them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.am2.host.message import EndpointName, Token
from firmware.am2.host.segment import Segment
from firmware.am2.host.tables import Tables
from pymodels.host.process import Process

Handler = Callable[[Token], Coroutine[Any, Any, None]]


class Described:
    """What a program describes of an endpoint."""

    def __init__(self, who: str, process: Process, returned: Handler) -> None:
        """`returned`: handler 0."""
        self._tables: Tables[Handler] = Tables(who, returned)
        self._segment = Segment(who, process)

    def set_handler(self, index: int, handler: Handler) -> None:
        """AM_SetHandler; 0: of returned messages. Raises Am2Error."""
        self._tables.set_handler(index, handler)

    def set_handler_any(self, handler: Handler) -> int:
        """AM_SetHandlerAny: at the first free index, which is the result. Raises Am2Error."""
        return self._tables.set_handler_any(handler)

    def map(self, index: int, name: EndpointName, tag: int) -> None:
        """AM_Map: messages to `index` go to an endpoint, with a tag. Raises Am2Error."""
        self._tables.map(index, name, tag)

    def map_any(self, name: EndpointName, tag: int) -> int:
        """AM_MapAny: at the first free index, which is the result. Raises Am2Error."""
        return self._tables.map_any(name, tag)

    def unmap(self, index: int) -> None:
        """AM_Unmap. Raises Am2Error."""
        self._tables.unmap(index)

    def translation(self, index: int) -> tuple[EndpointName, int]:
        """AM_GetTranslationName, AM_GetTranslationTag: name and tag at an index. Raises Am2Error."""
        return self._tables.translation(index)

    def in_use(self, index: int) -> bool:
        """AM_GetTranslationInuse: whether there is a translation at an index. Raises Am2Error."""
        return self._tables.in_use(index)

    @property
    def handlers(self) -> int:
        """AM_GetNumHandlers: indices of the table, from 0 on."""
        return self._tables.most_handlers

    @property
    def translations(self) -> int:
        """AM_GetNumTranslations: indices of the table, from 0 on."""
        return self._tables.most_translations

    def set_handlers(self, count: int) -> None:
        """AM_SetNumHandlers: 1 to 256; those beyond are gone. Raises Am2Error."""
        self._tables.set_handlers(count)

    def set_translations(self, count: int) -> None:
        """AM_SetNumTranslations: 1 to 256; those beyond are gone. Raises Am2Error."""
        self._tables.set_translations(count)

    def set_segment(self, va: int, size: int) -> None:
        """AM_SetSeg: memory of the process for bulk data, from now on. Raises Am2Error."""
        self._segment.set(va, size)

    @property
    def segment(self) -> tuple[int, int]:
        """AM_GetSeg: its address and bytes."""
        return self._segment.va, self._segment.size
