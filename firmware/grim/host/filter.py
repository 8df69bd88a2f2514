"""The filter of the circuit `fir16` on the host's CPU, for a host without a card."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.card.circuits import Fir16


class HostFilter:
    """16 taps over little-endian signed 16-bit samples, the line kept between messages as the circuit keeps it."""

    def __init__(self, host: Host, coefficients: bytes) -> None:
        """`coefficients`: 16 signed little-endian 16-bit numbers, Q15."""
        self._host = host
        self._filter = Fir16()
        self._filter.run(1, coefficients)

    async def run(self, payload: bytes) -> bytes:
        """The filtered samples, at the price of the compiled path of one sample each."""
        await self._host.spend("filter_sample", len(payload) // 2)
        return self._filter.run(0, payload)
