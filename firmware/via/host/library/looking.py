"""Spinning on the statuses of descriptors, as the library does."""

from __future__ import annotations

from collections.abc import Sequence

from pymodels.host import Moves, Process


async def spin_on(process: Process, watches: Sequence[tuple[int, int]], moves: Moves | None = None) -> None:
    """Spin until one of these words changes, each (virtual address, value it has now), or `moves` another task."""
    await process.poll(watches, "look_done", moves)
