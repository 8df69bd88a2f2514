"""Active frames on the NIC: the header names the protocols that act on a frame. Frames for other protocols are
rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Word

if TYPE_CHECKING:
    from firmware.epos.nic.pointcuts import Hook
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(60, "a frame names the protocols that act on it at its receiver", header=1)
SWITCHED = ("reliability",)
"""Protocols that frames can switch. Protocols with counters cannot, because the counters of both sides would diverge.
"""


class Side:
    """Active frames of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["active"]

    async def rx(self, frame: In) -> bool:
        """Read the header word before all other protocols. Return False to reject the frame."""
        nic = self._program.nic
        frame.active = nic.load(frame.at + self._at)
        if not frame.active & ~self._program.place.identity:
            return True
        await nic.work("epos_refuse")
        nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return False

    def switched(self, name: str, call: Hook) -> Hook:
        """Return a protocol's hook, called only for frames that select the protocol."""
        if name not in SWITCHED:
            return call
        bit = self._program.place.bit(name)

        async def guarded(frame: In) -> Any:
            return await call(frame) if frame.active & bit else True

        return guarded
