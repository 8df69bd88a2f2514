"""Delivery of a packet's payload to host memory."""

from __future__ import annotations

from firmware.via.formats import Status
from firmware.via.nic.descriptors import Refused
from firmware.via.nic.incoming import Scatter
from firmware.via.nic.ni import Ni


class Delivery:
    """Delivery of the payload of the packet at the head of the port to the pages of a descriptor."""

    def __init__(self, ni: Ni) -> None:
        self._nic, self._port = ni.nic, ni.port

    async def deliver(self, to: Scatter) -> Status | None:
        """Deliver the whole payload to the pages of a descriptor. Return the error, or None."""
        size = self._port.head().size
        while size:
            try:
                if not to.left and not await to.next_page():
                    return Status.LENGTH_ERROR
            except Refused as refused:  # the memory was deregistered during the message
                return refused.status
            if not to.short:
                await self._nic.work_on("receive_piece")
            part = min(size, to.left)
            await self._port.deliver(to.address, part)
            to.advance(part)
            size -= part
        return None
