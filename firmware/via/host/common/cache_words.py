"""Encoding of bytes as words of a queue cache."""

from __future__ import annotations

import struct


def words_of(data: bytes) -> tuple[int, ...]:
    """Return bytes as big-endian words, the last one padded with zeros."""
    return struct.unpack(f">{-(-len(data) // 4)}I", data + bytes(-len(data) % 4))
