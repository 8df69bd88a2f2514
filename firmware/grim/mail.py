"""Mail over GRIM: each mail is an active message with its bytes in host memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firmware.grim.formats import reference
from firmware.grim.host.library import Grim
from firmware.mail import Mail

HANDLER = "mail"


@dataclass(frozen=True)
class Place:
    """Range of bytes in host memory."""

    address: int
    size: int


class GrimMail(Mail):
    """Mail of one host, sent from a host buffer and received as reassembled active messages."""

    most = 1 << 16

    def __init__(self, grim: Grim) -> None:
        super().__init__(grim.host)
        self._grim, self._handler = grim, 0
        self._buffer = grim.host.allocate(self.most)

    async def start(self) -> None:
        """Enable GRIM and resolve the number of the mail handler, which node 0 assigns for all hosts."""
        grim, others = self._grim, len(self._grim.nodes.names) - 1
        grim.register_handler(self._arrived, HANDLER)
        await grim.load()
        await grim.grim_enable()
        await grim.sync_handlers()
        if not grim.get_my_vnn():
            await grim.wait_for(lambda: grim.nodes_served >= others)
        self._handler = await grim.resolve_handler(HANDLER)

    async def _send(self, node: int, data: bytes) -> None:
        self._buffer.view[: len(data)] = data
        payload = Place(self._buffer.address, len(data))
        await self._grim.send(self._grim.get_dest_id(node), self._handler, payload=payload)

    async def until(self, condition: Callable[[], bool]) -> None:
        await self._grim.wait_for(condition)

    def _arrived(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._came.append((reference(source).vnn, bytes(payload)))


open_mail = GrimMail
