"""Mail interface over HPAM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from firmware.common.host.request_mail import RequestMail
from firmware.hpam.host import Hpam, Port
from firmware.hpam.host.message import MOST

PATIENT: Mapping[str, float | str] = MappingProxyType({"timeout_us": 1_000_000})


class HpamMail(RequestMail):
    """Mail over HPAM: each message is a request whose bytes are stored into the card's request buffer."""

    most = MOST
    reads_card = True

    def __init__(self, hpam: Hpam) -> None:
        super().__init__(hpam.host)
        self._hpam = hpam

    async def opened(self, handlers: Sequence[Any]) -> Port:
        await self._hpam.start()
        return await self._hpam.open(handlers)


open_mail = HpamMail
