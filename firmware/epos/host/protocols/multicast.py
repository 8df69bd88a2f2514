"""Multicast on the host: the header of a frame names the further nodes in a bit mask."""

from __future__ import annotations

from typing import Any


class Side:
    """Multicast of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word: the bit mask of further nodes."""
        return sum(1 << node for node in nodes[1:])
