"""What the host's driver tells echo's firmware in C before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firmware.common.nic import route_row
from firmware.echo.nic import layout as at
from firmware.view import ClusterView


def words(view: ClusterView, word_bytes: int) -> Iterator[tuple[int, Sequence[int]]]:
    """SRAM addresses and words: the slot is empty, there is no inbox yet, and the routes. `word_bytes`: of the SRAM."""
    for address in (at.INBOX, at.CONSUMED, at.STATE):
        yield address, (0,)
    for vnn, route in view.routes.items():
        yield at.ROUTES + 16 * vnn, route_row(route, word_bytes)
