"""Tables of an endpoint (handlers and translations by index), and checks of their entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from firmware.am2.host.errors import Am2Error
from firmware.am2.host.message import EndpointName
from firmware.am2.nic.layout import ENDPOINTS
from firmware.am2.nic.words import SHORT_WORDS, Code

Handler = TypeVar("Handler", bound=Callable[..., object])
HANDLERS = TRANSLATIONS = 256
"""Size of each table: the minimum of AM 2.0."""
NODES = 256
"""Number of nodes that a name can refer to, existing or not."""
WORD, TAGS = 1 << 32, 1 << 64


def check_tag(who: str, tag: object) -> int:
    """Return a valid tag. Raises Am2Error."""
    if type(tag) is not int or not 0 <= tag < TAGS:
        raise Am2Error(who, f"tag {tag!r}", "give an integer from 0 to 2**64 - 1", Code.BAD_TAG)
    return tag


def check_words(what: str, words: Sequence[int]) -> None:
    """Raise Am2Error for invalid arguments of a message."""
    if len(words) > SHORT_WORDS:
        raise Am2Error(what, f"{len(words)} arguments", f"give {SHORT_WORDS} at most")
    if not all(type(one) is int and 0 <= one < WORD for one in words):
        raise Am2Error(what, f"arguments {tuple(words)!r}", "give integers from 0 to 2**32 - 1")


class Tables(Generic[Handler]):
    """Tables of one endpoint."""

    def __init__(self, who: str, returned: Handler) -> None:
        """Create empty tables; `returned` is handler 0, for returned messages."""
        self._who = who
        self.handlers: dict[int, Handler] = {0: returned}
        self._translations: dict[int, tuple[EndpointName, int]] = {}
        self.most_handlers, self.most_translations = HANDLERS, TRANSLATIONS
        """Sizes of the tables."""

    def set_handlers(self, count: int) -> None:
        """Set the size of the handler table. Raises Am2Error."""
        self.most_handlers = self._count(count, HANDLERS, "handlers", Code.BAD_HANDLER)
        self.handlers = {index: handler for index, handler in self.handlers.items() if index < count}

    def set_translations(self, count: int) -> None:
        """Set the size of the translation table. Raises Am2Error."""
        self.most_translations = self._count(count, TRANSLATIONS, "translations", Code.BAD_ENTRY)
        self._translations = {index: one for index, one in self._translations.items() if index < count}

    def _count(self, count: object, most: int, what: str, code: Code) -> int:
        if type(count) is not int or not 1 <= count <= most:
            raise Am2Error(self._who, f"{count!r} {what}", f"give 1 to {most}", code)
        return count

    def set_handler(self, index: int, handler: Handler) -> None:
        """Set the handler of an index. Raises Am2Error."""
        if type(index) is not int or not 0 <= index < self.most_handlers:
            raise Am2Error(self._who, f"handler {index!r}", f"give 0 to {self.most_handlers - 1}", Code.BAD_HANDLER)
        if not callable(handler):
            raise Am2Error(self._who, f"handler {index} is {handler!r}", "give a function", Code.BAD_HANDLER)
        self.handlers[index] = handler

    def set_handler_any(self, handler: Handler) -> int:
        """Set a handler at the first free index from 1 on, and return the index. Raises Am2Error."""
        index = next((one for one in range(1, self.most_handlers) if one not in self.handlers), None)
        if index is None:
            raise Am2Error(self._who, "no free handler index", "replace a handler by set_handler", Code.BAD_HANDLER)
        self.set_handler(index, handler)
        return index

    def map(self, index: int, name: EndpointName, tag: int) -> None:
        """Set the translation of an index. Raises Am2Error."""
        self._check_index(index)
        node, endpoint = name
        if not 0 <= node < NODES or not 0 <= endpoint < 2 * ENDPOINTS - 1:
            raise Am2Error(self._who, f"translation to {name!r}", "give the name of an endpoint", Code.BAD_ENDPOINT)
        self._translations[index] = EndpointName(node, endpoint), check_tag(self._who, tag)

    def map_any(self, name: EndpointName, tag: int) -> int:
        """Set a translation at the first free index, and return the index. Raises Am2Error."""
        index = next((one for one in range(self.most_translations) if one not in self._translations), None)
        if index is None:
            raise Am2Error(self._who, "no free translation", "unmap a translation first", Code.BAD_ENTRY)
        self.map(index, name, tag)
        return index

    def unmap(self, index: int) -> None:
        """Free a translation. Raises Am2Error."""
        self.translation(index)
        del self._translations[index]

    def translation(self, index: int) -> tuple[EndpointName, int]:
        """Return name and tag at an index. Raises Am2Error."""
        self._check_index(index)
        if index not in self._translations:
            raise Am2Error(self._who, f"translation {index} is free", "map it first", Code.BAD_ENTRY)
        return self._translations[index]

    def in_use(self, index: int) -> bool:
        """Return True if an index has a translation. Raises Am2Error."""
        self._check_index(index)
        return index in self._translations

    def _check_index(self, index: object) -> None:
        if type(index) is not int or not 0 <= index < self.most_translations:
            remedy = f"give 0 to {self.most_translations - 1}"
            raise Am2Error(self._who, f"translation {index!r}", remedy, Code.BAD_ENTRY)
