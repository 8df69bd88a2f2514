"""Multicast on the NIC: a frame whose header names further nodes stays in the Send Ring and is sent to each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol

if TYPE_CHECKING:
    from firmware.epos.nic.sending import Out

PROTOCOL = Protocol(10, "one send reaches several nodes; the NIC repeats the frame from the Send Ring", header=1)


class Side:
    """Multicast of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["multicast"]

    async def tx_done(self, out: Out) -> bool:
        """Send the frame to the next node and clear its bit in the header. Return False when no node is left."""
        nic = self._program.nic
        left = nic.load(out.at + self._at) if out.counted else 0
        if not left:
            return False
        node = (left & -left).bit_length() - 1
        if node not in self._program.sender.known:  # forged by the process after the header was checked
            return False
        await nic.work("epos_next_node", node + 1)
        await nic.work("epos_repeat")
        nic.store(out.at + self._at, left & left - 1)
        await self._program.sender.launch(replace(out, node=node))
        return True
