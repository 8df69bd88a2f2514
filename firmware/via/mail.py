"""Mail over VIA: a reliable connection to each other host, receives posted ahead, one completion queue for all."""

from __future__ import annotations

from collections.abc import Callable

from firmware.mail import AHEAD, Mail
from firmware.via.host import Via


class ViaMail(Mail):
    """Mail without copies: the bytes are in registered memory on both sides."""

    most = 4096

    def __init__(self, via: Via) -> None:
        super().__init__(via.host)
        self._agent, self._mesh = via.kernel_agent, via.mesh()

    async def start(self) -> None:
        """Load the driver, open the NIC, post receives, and connect to all hosts."""
        await self._mesh.open()
        self.most = min(self.most, self._mesh.nic.options.transfer)
        await self._mesh.connect(self._agent.me, self._agent.nodes, AHEAD, self.most)

    async def _send(self, node: int, data: bytes) -> None:
        peer = self._mesh.peers[node]
        place = await peer.buffer()
        self._mesh.nic.process.store_bytes(place.va, data)
        await peer.send(place, len(data))

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            vi, _ = await self._mesh.queue.poll()
            peer = self._mesh.peer(vi)
            place, size = await peer.received()
            self._came.append((peer.node, self._mesh.nic.process.load_bytes(place.va, size)))
            await peer.post(place, self.most)

    async def settle(self) -> None:
        for peer in self._mesh.peers.values():
            await peer.settle()


open_mail = ViaMail
