"""The SP adapter on the RTL: registers by the numbers of `pymodels.nics.sp.registers`; STATUS can be watched."""

from __future__ import annotations

from tb.bind.lanai import RtlNic


class RtlSpNic(RtlNic):
    """One SP adapter. Its loads and stores are cached, what a path does uncached goes over the internal bus."""

    kind = "sp"


NIC = RtlSpNic
