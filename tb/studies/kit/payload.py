"""Bytes of messages, so that a changed, lost or doubled message is recognised by its content."""

from __future__ import annotations


def pattern(size: int) -> bytes:
    """Return `size` bytes that depend on the size, the same for all messages of that size."""
    return bytes((7 * at + size) & 0xFF for at in range(size))


def numbered(size: int, number: int) -> bytes:
    """Return `size` bytes that differ between messages whose numbers differ, modulo 256."""
    return bytes((number + at) & 0xFF for at in range(size))
