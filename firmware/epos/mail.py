"""Mail over EPOS: each mail is one message."""

from __future__ import annotations

from collections.abc import Callable

from firmware.epos.host import Epos
from firmware.mail import Mail


class EposMail(Mail):
    """Mail of one host, sent from pinned memory and copied from staging slots at the receiver."""

    def __init__(self, epos: Epos) -> None:
        super().__init__(epos.host)
        self._epos = epos
        self.most = epos.options.slot_bytes
        if "rendezvous" in epos.protocols:  # mail posts no buffers
            self.most = min(self.most, epos.options.rendezvous_from - 1)
        self.reads_card = epos.options.rx_fifo == "nic"

    async def start(self) -> None:
        await self._epos.start()

    async def _send(self, node: int, data: bytes) -> None:
        await self._epos.send(node, data)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            message = await self._epos.receive()
            self._came.append((message.source, message.data))

    async def settle(self) -> None:
        await self._epos.left()


open_mail = EposMail
