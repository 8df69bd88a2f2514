"""Code image of a parallel program: its handlers have the same addresses in every process (paper 002).

A message names its handler by an address, which means the same function everywhere because all processes run one image.
Here an image is a table of addresses. A receiver looks the address up in the table of its own process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar
from zlib import crc32

from pymodels.errors import SanlabError

Handler = TypeVar("Handler", bound=Callable[..., object])
BASE, STEP = 0x0040_0000, 0x40
"""Address of the first handler, and distance of handlers in bytes (not from the paper)."""


class ImageError(SanlabError):
    """Function that is not in the image, or address without a handler."""


class CodeImage(Generic[Handler]):
    """Handlers by address, in the order given."""

    def __init__(self, handlers: Iterable[Handler]) -> None:
        self._at = {BASE + STEP * number: handler for number, handler in enumerate(handlers)}
        self._address = {handler: address for address, handler in self._at.items()}
        if len(self._address) != len(self._at):
            raise ImageError("code image", "a handler is given twice", "give each handler once")

    def address(self, handler: Handler) -> int:
        """Return the address of a handler. Raises ImageError."""
        try:
            return self._address[handler]
        except (KeyError, TypeError):
            named = getattr(handler, "__qualname__", repr(handler))
            raise ImageError(f"handler {named}", "not in the code image", f"one of {self._names()}") from None

    def handler(self, address: int) -> Handler:
        """Return the handler at an address. Raises ImageError."""
        try:
            return self._at[address]
        except KeyError:
            raise ImageError(
                f"address {address:#x}", "no handler has this address", f"one of {self._names()}"
            ) from None

    @property
    def checksum(self) -> int:
        """32-bit checksum over names and addresses of all handlers, to compare images."""
        return crc32(self._names().encode())

    def _names(self) -> str:
        return ", ".join(f"{handler.__qualname__} at {at:#x}" for at, handler in self._at.items()) or "none"
