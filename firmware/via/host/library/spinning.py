"""Spinning on the statuses of descriptors."""

from __future__ import annotations

from collections.abc import Sequence

from pymodels.host import Moves, Process


async def spin_on(process: Process, watches: Sequence[tuple[int, int]], moves: Moves | None = None) -> None:
    """Spin until one of the words changes from its present value, or another task moves them (`moves`)."""
    await process.poll(watches, "look_done", moves)
