"""Objects and error texts that are common to the tables of GRIM's misuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAR = 1 << 24
"""The other node."""
PINNED = "; give an address that malloc_pinned returned"
WHOLE = " is not an integer; give an integer"
MULTIPLE = "; give a multiple of 4 within 32 bits"
LOCK = "; give an aligned address and a value of 32 bits"
RESOLVE = "; use a number returned by resolve_handler"
HOSTS = "; hosts have VNN 0..1 and device 0"
CHANNELS = "; option channels gives 0..0"
BYTES = " is not contiguous bytes (memoryview: a bytes-like object is required, not '{}'); give bytes or a buffer"


@dataclass(frozen=True)
class World:
    """Valid arguments for calls of which one argument is wrong."""

    handler: int
    tree: int
    block: int
    """Block of 8 bytes."""
    freed: int
    """Address of a freed block."""


@dataclass(frozen=True)
class Region:
    """Payload in host memory."""

    address: Any
    size: int


def nothing(*arguments: Any) -> None:
    """Handle a message by doing nothing."""


Row = tuple[str, str, Callable[[Any, World], Any], str]
"""Name of the call, the mistake, the call, and its error, in which {block}, {odd}, {inside}, {freed} are addresses."""
