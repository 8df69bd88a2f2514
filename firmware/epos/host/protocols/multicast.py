"""Multicast on the host: the header of a frame names the further nodes, as bits."""

from __future__ import annotations

from typing import Any


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header."""
        return sum(1 << node for node in nodes[1:])
