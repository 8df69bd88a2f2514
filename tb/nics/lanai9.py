"""The LANai 9 on the RTL."""

from __future__ import annotations

from tb.bind.lanai import RtlNic


class RtlNic9(RtlNic):
    """One LANai 9: what firmware names stands where it has it."""

    kind = "lanai9"


NIC = RtlNic9
