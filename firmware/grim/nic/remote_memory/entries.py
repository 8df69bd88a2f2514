"""Translation cache and card windows in SRAM: the host writes their entries, the NI reads them (paper 000, 4.5.2)."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick

PAGE = 4096
REGION = 1 << 22
"""Size of a contiguous region of pinned memory (paper 000, 4.5.1)."""
GRANULE = 256
"""Allocation unit of pinned memory; a bit map of a region has one bit for each unit (ours)."""
MAP_BYTES = REGION // GRANULE // 8
WINDOWS = 4
"""Number of windows of an FPGA card that can be open at a time (ours)."""


@quick
class Static(IntEnum):
    """Entry of the static region of the translation cache, for a contiguous region: byte offsets [all: host]."""

    VA = 0
    SIZE = 4
    """Bytes; 0 for an unused entry."""
    PA = 8
    BYTES = 16


@quick
class Runtime(IntEnum):
    """Entry of the run-time region: a block and the list of its physical pieces, byte offsets [all: host's driver]."""

    VA = 0
    SIZE = 4
    """Bytes; 0 for an unused entry."""
    COUNT = 8
    """Number of pieces."""
    ANSWER = 12
    """Number of the request in the upper half; `Cause` of an error, or 0, in the lower half."""
    END = 16
    """End address of the block, of which an entry may hold only a part."""
    PIECES = 20
    """Pieces: {physical address, bytes} each."""


@quick
class Window(IntEnum):
    """Entry of a window of the node's FPGA card for remote memory, byte offsets [all: the card's driver]."""

    BEGIN = 0
    """Byte offset in the card's banks."""
    SIZE = 4
    """Bytes; 0 for a closed window."""
    BYTES = 8
