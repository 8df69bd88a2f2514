"""Reference model of the SP switch, written from paper 001, 3.1.1, and the packet format."""

from __future__ import annotations

from pymodels.formats.sp import ROUTE_BYTES, after_switch
from pymodels.switch.crossbar import Crossbar, Fate, Passage


class SpSwitch(Crossbar):
    """Functional model with the routing of the crossbar; the header keeps its size."""

    def passage(self, source: int, wire: bytes) -> Passage:
        """Return the outcome of a packet `wire` (first route byte to CRC-8) at input port `source`.

        Raises ValueError if a forwarded packet ends within its route, for which the output is undefined.
        """
        routed = super().passage(source, wire)
        if routed.fate is not Fate.FORWARDED:
            return routed
        if len(wire) <= ROUTE_BYTES:
            raise ValueError(f"a packet of {len(wire)} bytes ends within its {ROUTE_BYTES} route bytes")
        return Passage(Fate.FORWARDED, routed.output, after_switch(wire))
