"""MTU adaptation on the host: frames are cut shorter from now on.

The receivers' NICs must know how frames are cut, so all that were cut the old way have left before they are told, and
the next message waits until all have answered. Rings are laid out for the MTU of the repository: it never grows.
"""

from __future__ import annotations

from typing import Any

from firmware.epos.host.errors import EposError
from firmware.epos.nic.protocols.mtu import WORDS


class Side:
    """Of one host."""

    def __init__(self, epos: Any) -> None:
        self._epos = epos
        self._known: dict[int, int] = {}
        """Of each node that was told: what it has answered."""
        self._patience = 1_000_000 * epos.options.timeout_us if "reliability" in epos.options.composition else 0

    async def lower(self, mtu: int) -> None:
        """Tell all. Raises EposError."""
        epos = self._epos
        now, least = epos.outgoing.mtu, epos.options.least_mtu
        if type(mtu) is not int or mtu & mtu - 1 or not least <= mtu <= now:
            cause = f"it is {now}, and only becomes less: to epos.least_mtu, {least}, at most"
            raise EposError(f"{epos.host.who}: an MTU of {mtu!r}", cause, f"a power of two from {least} to {now}")
        await epos.outgoing.left()
        for node in epos.partners:
            await self._tell(node, mtu.bit_length() - 1)
        epos.outgoing.mtu = mtu

    async def _tell(self, node: int, shift: int) -> None:
        """Until a NIC has answered."""
        epos, what = self._epos, f"node {node} to know the MTU"
        at = epos.host.nic_base + epos.place.of("mtu", node, WORDS) + 4
        word = self._known.get(node, 0)
        while word != shift:
            await epos.host.spend("epos_ring_mtu")
            await epos.outgoing.tell("mtu", node, shift)
            deadline = epos.host.now + self._patience if self._patience else 0
            word = await epos.until(at, word, "epos_look_mtu", what, f"NIC {node}", deadline)
        self._known[node] = word
