"""Mail interface over AM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware.am.host import Am, Port
from firmware.am.nic.layout import MOST
from firmware.common.host.request_mail import RequestMail


class AmMail(RequestMail):
    """Mail over AM: each message is a request whose bytes are copied into the send buffer."""

    most = MOST

    def __init__(self, am: Am) -> None:
        super().__init__(am.host)
        self._am = am

    async def opened(self, handlers: Sequence[Any]) -> Port:
        await self._am.start()
        return self._am.open(handlers)


open_mail = AmMail
