"""FPGA card as an endpoint of its node: its logical channel, and its two incoming rings on the PCI bus.

The card owns the last channel of its NI. It appends to that channel's queue itself, and messages for it arrive on that
channel. They go by peer-to-peer DMA into bank 0 and bank 1 in turn, so that the NI fills one while the FPGA empties the
other. The back pointer of a ring is a register of the card. The card writes its read positions into NI memory.
"""

from __future__ import annotations

from firmware.grim.formats import HEADER_BYTES, MAX_PAYLOAD
from firmware.grim.nic.layout import Layout, fits, following
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.card.registers import BANK_BYTES, REGISTERS, CardReg
from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.config.model import CARDS, FPGA_CARD

CARD = SLOT + CARDS.index(FPGA_CARD) * SLOT_BYTES
NO_CARD = -1


def card_channel(options: Options, view: ClusterView) -> int:
    """Return the logical channel of the node's FPGA card, or NO_CARD.

    Raises OptionError if the options leave no channel or no room for the card.
    """
    if not view.has(view.me, FPGA_CARD):
        return NO_CARD
    if options.channels < 2:
        what = f"option channels={options.channels}"
        raise OptionError(what, f"the FPGA card of {view.names[view.me]} needs a channel of its own", "give 2 or more")
    if options.queue_style != "append":
        cause = "an FPGA card supports append queues only"
        raise OptionError(f"option queue_style={options.queue_style}", cause, "use append for hosts with a card")
    if options.sequencing != "any-to-any":
        cause = "per-NI streams cannot distinguish an FPGA card from a tree root"
        raise OptionError(f"option sequencing={options.sequencing}", cause, "use any-to-any for hosts with a card")
    least = 3 * (options.segment_bytes + HEADER_BYTES) + 8
    if options.card_queue_bytes < least:
        cause = f"{options.card_queue_bytes} bytes have no room for three segments of {options.segment_bytes}"
        raise OptionError("option card_queue_bytes", cause, f"give {least} or more")
    return options.channels - 1


def ring_limit(layout: Layout) -> int:
    """Return the offset in a bank below which a message must begin."""
    return layout.card_queue_bytes - min(layout.host_slot, MAX_PAYLOAD + 40) & ~7


class CardRings:
    """Two incoming rings of an FPGA card, as the NI fills them."""

    def __init__(self, nic: Nic, layout: Layout) -> None:
        self._nic, self._layout = nic, layout
        self._limit = ring_limit(layout)
        self._back = [0, 0]
        self._turn = 0

    def room(self, length: int) -> bool:
        """Return True if the next ring has room for `length` more bytes, by the read position that the card last
        published.
        """
        front = self._nic.load(self._layout.card_read + 4 * self._turn)
        return fits(front, self._back[self._turn], length, self._limit)

    def place(self, length: int) -> tuple[int, int, int]:
        """Reserve room for a message; return the PCI addresses of its data and of the back pointer, and the pointer's
        new value.
        """
        turn, back = self._turn, self._back[self._turn]
        self._back[turn] = after = following(back, length, self._limit)
        self._turn = 1 - turn
        pointer = (CardReg.BACK0, CardReg.BACK1)[turn]
        return CARD + turn * BANK_BYTES + back, CARD + REGISTERS + pointer, after
