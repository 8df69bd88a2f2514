"""Windows of the node's FPGA card: the parts of its banks that remote memory messages may access (ours).

The card's driver writes the windows into SRAM. A message to the card names byte offsets in its 8 MB; a physical write
names PCI addresses. A range outside of all windows fails at its sender, and nothing of it is accessed.
"""

from __future__ import annotations

from firmware.grim.formats import Cause
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.remote_memory.entries import WINDOWS, Window
from firmware.grim.nic.remote_memory.translation import Pieces


class Windows:
    """Lookups in the windows of one NI's card."""

    def __init__(self, ni: Ni) -> None:
        self._nic, self._windows, self._base = ni.nic, ni.layout.windows, ni.card_base

    async def look_up(self, offset: int, size: int, whole: int) -> Pieces | Cause:
        """Translate a range of the card's banks.

        Args:
            offset: Byte offset in the card's banks.
            size: Bytes to translate.
            whole: Bytes from `offset` on that must be in one window.

        Returns:
            The physical piece, or a Cause if the range is not in one open window.
        """
        for entry in range(WINDOWS):
            begin, bytes_ = self._nic.load_words(self._windows + Window.BYTES * entry, 2)
            if 0 <= offset - begin < bytes_:
                await self._nic.work("translate_window", entry + 1)
                return [(self._base + offset, size)] if offset + whole <= begin + bytes_ else Cause.BEYOND
        await self._nic.work("translate_window", WINDOWS)
        return Cause.NOT_REGISTERED
