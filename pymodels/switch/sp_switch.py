"""Reference model of the SP switch: what it does to a packet. Written from paper 001, 3.1.1, and its format."""

from __future__ import annotations

from pymodels.formats.sp import ROUTE_BYTES, after_switch
from pymodels.switch.crossbar import Crossbar, Fate, Passage


class SpSwitch(Crossbar):
    """Functional model: routes as the crossbar does, but the header keeps its size."""

    def passage(self, source: int, wire: bytes) -> Passage:
        """What happens to `wire` (first route byte to CRC-8) arriving at port `source`.

        ValueError when a packet that is forwarded ends within its route: what leaves is then not defined.
        """
        routed = super().passage(source, wire)
        if routed.fate is not Fate.FORWARDED:
            return routed
        if len(wire) <= ROUTE_BYTES:
            raise ValueError(f"a packet of {len(wire)} bytes ends within its {ROUTE_BYTES} route bytes")
        return Passage(Fate.FORWARDED, routed.output, after_switch(wire))
