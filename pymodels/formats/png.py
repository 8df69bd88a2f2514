"""Writer of PNG files: 8-bit RGB, one zlib stream, no filter (RFC 2083)."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGB, NO_FILTER = 2, b"\x00"


def png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of pixels with shape (height, width, 3), red first. Raises ValueError for another shape."""
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(f"shape {pixels.shape}, not (height, width, 3)")
    height, width, _ = pixels.shape
    rows = b"".join(NO_FILTER + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, RGB, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
