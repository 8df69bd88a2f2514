"""Options of SSAM."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.options import LayerOptions, option


@dataclass(frozen=True)
class Options(LayerOptions):
    """Options with their defaults."""

    requests: int = option(
        4, "outstanding requests to a node (ours: as many as HPAM's request buffers, paper 002)", 1, 16
    )

    def messages(self, nodes: int) -> int:
        """Return the receive slots of a process: messages outstanding to it, and the message being handled."""
        return 2 * self.requests * (nodes - 1) + 1
