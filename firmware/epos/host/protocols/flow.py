"""Flow control on the host: a message needs a credit of its receiver, which stands for a staging slot there.

A receiver returns credits with the frames that it sends, or alone when half of its slots are unreported. With
reliability, credits can be lost, so a sender that waits for long requests them from the receiver's NIC. A frame with a
credit finds its slot free, so it never waits in the Receive Ring for a host.
"""

from __future__ import annotations

from typing import Any

from firmware.epos.nic.protocols.flow import NOTHING


class Side:
    """Flow control of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos, nodes = epos, epos.place.peers
        self._slots = epos.options.slots
        self._sent = [0] * nodes
        self._credit = [0] * nodes
        """Number of messages that each node is known to have copied out."""
        self._given = [0] * nodes
        """Number of each node's messages that it was notified of as copied out."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0
        """Time in ps to wait for a credit before requesting it; 0 if credits cannot be lost."""
        self.waited = 0
        """Number of messages that had to wait for a credit."""

    async def message(self, nodes: tuple[int, ...], size: int) -> None:
        """Wait for a credit of each node."""
        for node in nodes:
            if self._sent[node] - self._credit[node] >= self._slots:
                self.waited += 1
            while self._sent[node] - self._credit[node] >= self._slots:
                await self._look(node)
            self._sent[node] += 1

    async def _look(self, node: int) -> None:
        """Wait until the credit word of a node changes."""
        epos = self._epos
        at = epos.host.nic_base + epos.place.peer_address("flow", node, 1)
        before = self._credit[node] & 0xFFFF
        deadline = epos.host.now + self._patience if self._patience else 0
        what = f"a credit of node {node}"
        word = await epos.until(at, before, "epos_look_credit", what, f"host {node}", deadline)
        if word == before:
            await epos.host.spend("epos_probe")
            await epos.outgoing.ring_protocol("flow", node, 0, True)
        self._credit[node] += word - before & 0xFFFF

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word: the number of the node's messages copied out, as the NIC knows it."""
        if len(nodes) > 1:
            return NOTHING
        self._given[nodes[0]] = self._epos.incoming.reported[nodes[0]]
        return self._given[nodes[0]] & 0xFFFF

    async def copied(self, source: int, taken: int) -> None:
        """Return credits in a control frame if half of the slots are unreported."""
        if 2 * (taken - self._given[source]) >= self._slots:
            self._given[source] = taken
            await self._epos.host.spend("epos_give")
            await self._epos.outgoing.ring_protocol("flow", source, taken & 0xFFFF)
