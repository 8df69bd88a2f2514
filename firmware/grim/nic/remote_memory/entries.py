"""The translation cache as it stands in SRAM: the host writes its entries, the NI reads them (paper 000, 4.5.2)."""

from __future__ import annotations

from enum import IntEnum

from pymodels.codes import quick

PAGE = 4096
REGION = 1 << 22
"""A contiguous region of pinned memory (paper 000, 4.5.1)."""
GRANULE = 256
"""Pinned memory is given out in pieces of this size; a bit for each of a region tells whether it is (ours)."""
MAP_BYTES = REGION // GRANULE // 8


@quick
class Static(IntEnum):
    """An entry of the static region of the translation cache: a contiguous region, byte offsets [all: host]."""

    VA = 0
    SIZE = 4
    """Bytes; 0: no entry."""
    PA = 8
    BYTES = 16


@quick
class Runtime(IntEnum):
    """An entry of the run-time region: a block and its list of physical pieces, byte offsets [all: host's driver]."""

    VA = 0
    SIZE = 4
    """Bytes; 0: no entry."""
    COUNT = 8
    """Pieces."""
    ANSWER = 12
    """The request's number in the upper half, `Cause` of a refusal or 0 in the lower."""
    END = 16
    """Where the block ends: an entry may hold a part of it."""
    PIECES = 20
    """{physical address, bytes} each."""
