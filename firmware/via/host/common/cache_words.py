"""Bytes as the words of a queue cache."""

from __future__ import annotations

import struct


def words_of(data: bytes) -> tuple[int, ...]:
    """Bytes as words, the last one filled with zeros."""
    return struct.unpack(f">{-(-len(data) // 4)}I", data + bytes(-len(data) % 4))
