"""Mail interface over SSAM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.common.host.request_mail import RequestMail
from firmware.ssam.host import Port, Ssam
from firmware.ssam.host.message import MOST


class SsamMail(RequestMail):
    """Mail over SSAM: each message is a request whose bytes are stored into the next send slot."""

    most = MOST

    def __init__(self, ssam: Ssam) -> None:
        super().__init__(ssam.host)
        self._ssam = ssam

    async def opened(self, handlers: Sequence[Any]) -> Port:
        await self._ssam.start()
        return await self._ssam.open(handlers)


open_mail = SsamMail
