"""Filter of the circuit `fir16` on the host's CPU, for a host without a card."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.card.circuits import Fir16


class HostFilter:
    """FIR filter of 16 taps over little-endian signed 16-bit samples, with its delay line kept between messages."""

    def __init__(self, host: Host, coefficients: bytes) -> None:
        """Create the filter; `coefficients` are 16 signed little-endian 16-bit numbers, Q15."""
        self._host = host
        self._filter = Fir16()
        self._filter.run(1, coefficients)

    async def run(self, payload: bytes) -> bytes:
        """Filter the samples of a payload, at the cost of one compiled path for each sample."""
        await self._host.spend("filter_sample", len(payload) // 2)
        return self._filter.run(0, payload)
