"""Reliability on the host: right after Send it waits for the acknowledgement, and sends again until it is there."""

from __future__ import annotations

from typing import Any

from firmware.epos.host.outgoing import Sent
from firmware.epos.nic.protocols.reliability import WORDS


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._frames = 0
        """Frames of this host, counted from the start."""
        self.resent = 0
        """Doorbells of frames that were not acknowledged in time."""

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header."""
        self._frames += 1
        return self._frames & 0xFFFFFFFF

    async def sent(self, nodes: tuple[int, ...], sent: Sent) -> None:
        """Wait for the acknowledgement of each node."""
        epos = self._epos
        limit = 1_000_000 * epos.options.timeout_us
        begun = epos.host.now
        for node in nodes:
            at = epos.host.nic_base + epos.place.of("reliability", node, WORDS) + 4
            word, what = -1, f"an acknowledgement of node {node}"
            while word != self._frames & 0xFFFFFFFF:
                word = await epos.until(at, word, "epos_look_ack", what, f"NIC {node}", begun + limit)
                if word != self._frames & 0xFFFFFFFF and epos.host.now >= begun + limit:
                    await epos.host.spend("epos_again")
                    self.resent += 1
                    await epos.outgoing.ring(sent._replace(node=node))
                    begun = epos.host.now
