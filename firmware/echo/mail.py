"""Mail interface over `echo`: a host empties its inbox while it waits for its slot."""

from __future__ import annotations

from collections.abc import Callable

from firmware.echo.host import Echo
from firmware.echo.nic import layout as at
from firmware.mail import Mail


class EchoMail(Mail):
    """Mail over echo: messages of up to 64 bytes."""

    most = at.PAYLOAD

    def __init__(self, echo: Echo) -> None:
        super().__init__(echo.host)
        self._echo = echo

    async def start(self) -> None:
        await self._echo.start()

    async def _send(self, node: int, data: bytes) -> None:
        await self._echo.send(node, data)

    async def post(self, node: int, data: bytes) -> None:
        """Send a message; while the slot is full, receive messages so that other hosts can send."""
        self.check(data)
        host = self.host
        while await host.pio_read(host.nic_base + at.STATE):
            await host.spend("look_flag")
            if host.load_words(self._echo.inbox + at.PACKET, 1) != (0,):
                self._came.append(await self._echo.receive())
        await self._echo.send(node, data)

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._came.append(await self._echo.receive())


open_mail = EchoMail
