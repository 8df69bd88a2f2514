"""MTU adaptation on the host: further frames are cut shorter.

The receivers' NICs must know how frames are cut. So all frames of the old size leave before they are notified, and the
next message waits until all have answered. The rings are laid out for the configured MTU, which therefore never grows.
"""

from __future__ import annotations

from typing import Any

from firmware.epos.host.errors import EposError
from firmware.epos.nic.protocols.mtu import WORDS


class Side:
    """MTU adaptation of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._known: dict[int, int] = {}
        """Answer of each node that was notified."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0

    async def lower(self, mtu: int) -> None:
        """Notify all nodes of a lower MTU. Raises EposError for an invalid MTU."""
        epos = self._epos
        now, least = epos.outgoing.mtu, epos.options.least_mtu
        if type(mtu) is not int or mtu & mtu - 1 or not least <= mtu <= now:
            cause = f"the MTU is {now}, and can only be reduced, at most to epos.least_mtu, {least}"
            raise EposError(f"{epos.host.who}: an MTU of {mtu!r}", cause, f"give a power of two from {least} to {now}")
        await epos.outgoing.left()
        for node in epos.partners:
            await self._tell(node, mtu.bit_length() - 1)
        epos.outgoing.mtu = mtu

    async def _tell(self, node: int, shift: int) -> None:
        """Notify a node, and wait until its NIC has answered."""
        epos, what = self._epos, f"node {node} to know the MTU"
        at = epos.host.nic_base + epos.place.peer_address("mtu", node, WORDS) + 4
        word = self._known.get(node, 0)
        while word != shift:
            await epos.host.spend("epos_ring_mtu")
            await epos.outgoing.ring_protocol("mtu", node, shift)
            deadline = epos.host.now + self._patience if self._patience else 0
            word = await epos.until(at, word, "epos_look_mtu", what, f"NIC {node}", deadline)
        self._known[node] = word
