"""Reliability on the host: after each send it waits for the acknowledgement, and retransmits until it arrives."""

from __future__ import annotations

from typing import Any

from firmware.epos.host.outgoing import Sent
from firmware.epos.nic.protocols.reliability import WORDS


class Side:
    """Reliability of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._frames = 0
        """Number of frames of this host since the start."""
        self.resent = 0
        """Number of doorbells for retransmitted frames."""

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word: the number of the frame."""
        self._frames += 1
        return self._frames & 0xFFFFFFFF

    async def sent(self, nodes: tuple[int, ...], sent: Sent) -> None:
        """Wait for the acknowledgement of each node."""
        epos = self._epos
        limit = 1_000_000 * epos.options.timeout_us
        begun = epos.host.now
        for node in nodes:
            at = epos.host.nic_base + epos.place.peer_address("reliability", node, WORDS) + 4
            word, what = -1, f"an acknowledgement of node {node}"
            while word != self._frames & 0xFFFFFFFF:
                word = await epos.until(at, word, "epos_look_ack", what, f"NIC {node}", begun + limit)
                if word != self._frames & 0xFFFFFFFF and epos.host.now >= begun + limit:
                    await epos.host.spend("epos_again")
                    self.resent += 1
                    await epos.outgoing.ring(sent._replace(node=node))
                    begun = epos.host.now
