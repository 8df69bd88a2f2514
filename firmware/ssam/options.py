"""Options of SSAM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """The options with their defaults."""

    requests: int = option(
        4, "Requests to a node that are not answered (ours: as many as HPAM's request buffers, paper 002)", 1, 16
    )

    def messages(self, nodes: int) -> int:
        """So many messages to a process can be under way at most; one more stands while its handler runs."""
        return 2 * self.requests * (nodes - 1) + 1
