"""Active frames on the NIC: the header says which protocols act on a frame; one that asks for others is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Word

if TYPE_CHECKING:
    from firmware.epos.nic.pointcuts import Hook
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(60, "a frame says which protocols act on it at its receiver", header=1)
SWITCHED = ("reliability",)
"""Of these a frame says whether they act. Counts that others keep would not agree with those of the other side."""


class Side:
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["active"]

    async def rx(self, frame: In) -> bool:
        """Before all others: its word of the header."""
        nic = self._program.nic
        frame.active = nic.load(frame.at + self._at)
        if not frame.active & ~self._program.place.identity:
            return True
        await nic.work("epos_refuse")
        nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return False

    def switched(self, name: str, call: Hook) -> Hook:
        """A protocol's call at a point-cut, made only for frames that say so."""
        if name not in SWITCHED:
            return call
        bit = self._program.place.bit(name)

        async def guarded(frame: In) -> Any:
            return await call(frame) if frame.active & bit else True

        return guarded
