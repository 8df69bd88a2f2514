"""A route as firmware keeps it in a table in SRAM."""

from __future__ import annotations

ROUTE_BYTES = 8


def route_row(route: bytes, word_bytes: int) -> tuple[int, int, int, int]:
    """Two words with the route, right-aligned before the header, and where the packet begins there: at which word of
    the SRAM, and at which of its bytes (SMP and SA of the send engine).
    """
    skip = ROUTE_BYTES - len(route)
    return *divmod(int.from_bytes(route, "big"), 1 << 32), skip - skip % word_bytes, skip % word_bytes
