"""Queue of an FPGA card's results, which the card fills itself."""

from __future__ import annotations

from firmware.grim.nic.channels import Channel
from firmware.grim.nic.layout import Layout
from firmware.verbs import Nic


class CardQueue(Channel):
    """Append queue whose messages get their numbers for the trace from the NIC, since the card notes none."""

    def __init__(self, nic: Nic, layout: Layout, index: int, channels: int) -> None:
        super().__init__(nic, layout, index, channels)
        self._results = 0

    def _fill(self, slot: int, offset: int, size: int, stream: int, sequence: int) -> None:
        """Initialise a free slot for the message at a queue offset, and note its number at either word of its route."""
        number, at = self._nic.card_result(self._results), self.base + offset
        self._results += 1
        for address in (at, at + 4):
            self._nic.put_message(address, number)
        super()._fill(slot, offset, size, stream, sequence)
