"""Words that the host driver writes for echo's C firmware before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firmware.common.nic import route_row
from firmware.echo.nic import layout as at
from firmware.view import ClusterView


def words(view: ClusterView, word_bytes: int) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield SRAM addresses and their words: an empty slot, no inbox, and the routes.

    Args:
        view: the cluster as seen by this host.
        word_bytes: width of the SRAM in bytes.
    """
    for address in (at.INBOX, at.CONSUMED, at.STATE):
        yield address, (0,)
    for vnn, route in view.routes.items():
        yield at.ROUTES + 16 * vnn, route_row(route, word_bytes)
