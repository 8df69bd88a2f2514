"""Mail interface over HAL: a message is a packet, which may be lost or reordered."""

from __future__ import annotations

from collections.abc import Callable

from firmware.hal.host.interface import MOST, PROTOCOLS, Packet
from firmware.hal.host.library import HostHal
from firmware.mail import Mail

PROTOCOL = PROTOCOLS - 1


class HalMail(Mail):
    """Mail over HAL: the bytes are copied into a send buffer."""

    most, least = MOST, 1

    def __init__(self, hal: HostHal) -> None:
        super().__init__(hal.host)
        self._hal = hal

    async def start(self) -> None:
        self._hal.on_packet(PROTOCOL, self._arrived)
        await self._hal.start()

    async def _send(self, node: int, data: bytes) -> None:
        await self._hal.send(node, PROTOCOL, b"", data)

    async def until(self, condition: Callable[[], bool]) -> None:
        await self._hal.wait(condition)

    async def _arrived(self, packet: Packet) -> None:
        self._came.append((packet.source, bytes(packet.view)))


open_mail = HalMail
