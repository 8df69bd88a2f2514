"""Format of a route in an SRAM table."""

from __future__ import annotations

ROUTE_BYTES = 8


def route_row(route: bytes, word_bytes: int) -> tuple[int, int, int, int]:
    """Return the SRAM row of a route: two words with its right-aligned bytes, then SMP and SA of the send engine.

    SMP is the offset of the first whole SRAM word of the packet, SA the number of bytes to skip in that word.
    """
    skip = ROUTE_BYTES - len(route)
    return *divmod(int.from_bytes(route, "big"), 1 << 32), skip - skip % word_bytes, skip % word_bytes
