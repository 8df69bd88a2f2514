"""Flow control on the host: a message needs a credit of its receiver, which is a staging slot there.

Beside reliability, credits can be lost: a sender that waits for long asks the receiver's NIC for them. A receiver gives
credits back with the frames that it sends, or alone when half of its slots have not been reported. A
frame with a credit finds its slot free, so it never waits in the Receive Ring for a host.
"""

from __future__ import annotations

from typing import Any

from firmware.epos.nic.protocols.flow import NOTHING


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos, nodes = epos, epos.place.peers
        self._slots = epos.options.slots
        self._sent = [0] * nodes
        self._credit = [0] * nodes
        """Of each node: messages that it is known to have copied out."""
        self._given = [0] * nodes
        """Of each node: messages of it that it was told to be copied out."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0
        """Where credits can be lost: so long it waits for one until it asks, ps."""
        self.waited = 0
        """Messages that had to wait for a credit."""

    async def message(self, nodes: tuple[int, ...], size: int) -> None:
        """Wait for a credit of each."""
        for node in nodes:
            if self._sent[node] - self._credit[node] >= self._slots:
                self.waited += 1
            while self._sent[node] - self._credit[node] >= self._slots:
                await self._look(node)
            self._sent[node] += 1

    async def _look(self, node: int) -> None:
        """Until the word of a node's credits has changed."""
        epos = self._epos
        at = epos.host.nic_base + epos.place.of("flow", node, 1)
        before = self._credit[node] & 0xFFFF
        deadline = epos.host.now + self._patience if self._patience else 0
        what = f"a credit of node {node}"
        word = await epos.until(at, before, "epos_look_credit", what, f"host {node}", deadline)
        if word == before:
            await epos.host.spend("epos_probe")
            await epos.outgoing.tell("flow", node, 0, True)
        self._credit[node] += word - before & 0xFFFF

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header: what was copied out of the node's messages, as far as the NIC knows it."""
        if len(nodes) > 1:
            return NOTHING
        self._given[nodes[0]] = self._epos.incoming.told[nodes[0]]
        return self._given[nodes[0]] & 0xFFFF

    async def copied(self, source: int, taken: int) -> None:
        """Half of the slots have not been reported: a credit goes alone."""
        if 2 * (taken - self._given[source]) >= self._slots:
            self._given[source] = taken
            await self._epos.host.spend("epos_give")
            await self._epos.outgoing.tell("flow", source, taken & 0xFFFF)
