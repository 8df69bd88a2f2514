"""Payloads of messages that reveal changed, lost or duplicated messages."""

from __future__ import annotations


def pattern(size: int) -> bytes:
    """Return `size` bytes that are the same for all messages of that size and differ between sizes."""
    return bytes((7 * at + size) & 0xFF for at in range(size))


def numbered(size: int, number: int) -> bytes:
    """Return `size` bytes that differ between messages whose numbers differ, modulo 256."""
    return bytes((number + at) & 0xFF for at in range(size))
