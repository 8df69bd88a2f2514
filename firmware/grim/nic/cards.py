"""Card as an endpoint of its node: its logical channel, and its two incoming rings on the PCI bus.

The card owns one channel of its NI: the last one, unless the configuration connects another (`channel_map`). It appends
to that channel's queue itself, and messages for it arrive on that channel. They go by peer-to-peer DMA into bank 0 and
bank 1 in turn, so that the NI fills one while the FPGA empties the other. The back pointer of a ring is a register of
the card. The card writes its read positions into NI memory. An I/O card has its rings behind its registers. The
NI posts both back pointers to the inbound port of its message unit, as message frame addresses.
"""

from __future__ import annotations

from firmware.grim.channel_map import NO_CARD, card_kind, channel_map
from firmware.grim.formats import HEADER_BYTES, MAX_PAYLOAD
from firmware.grim.nic.layout import Layout, fits, following
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.card.registers import BANK_BYTES, REGISTERS, CardReg
from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.config.model import CARDS, FPGA_CARD, IO_CARD
from pymodels.iocard.registers import REGISTERS as IO_REGISTERS
from pymodels.iocard.registers import IoReg

CARD = SLOT + CARDS.index(FPGA_CARD) * SLOT_BYTES
IO = SLOT + CARDS.index(IO_CARD) * SLOT_BYTES
IO_RING_BYTES = 0x40000
"""Largest ring of an I/O card: its inbound post queue has room for all messages of both rings."""

QUIET = {CARD: CARD + REGISTERS + CardReg.IMAGE, IO: IO + IoReg.OUTBOUND_STATUS}
"""Register of each kind of card that is read to see if the card answers; a read has no side effect."""
MISSES = 16
"""Number of rejected messages in a row, for lack of room, after which the NI checks that the card answers (ours)."""
BACKS = (CardReg.BACK0, CardReg.BACK1)
"""Registers of an FPGA card: back pointers of its rings."""


def card_channel(options: Options, view: ClusterView) -> int:
    """Return the logical channel of the node's FPGA card, or NO_CARD.

    Raises OptionError if the options leave no channel or no room for the card.
    """
    channel, kind = channel_map(options, view, view.me).card, card_kind(view, view.me)
    if channel == NO_CARD:
        return NO_CARD
    if options.queue_style != "append":
        cause = f"an {kind} supports append queues only"
        raise OptionError(f"option queue_style={options.queue_style}", cause, "use append for hosts with a card")
    if options.sequencing != "any-to-any":
        cause = f"per-NI streams cannot distinguish an {kind} from a tree root"
        raise OptionError(f"option sequencing={options.sequencing}", cause, "use any-to-any for hosts with a card")
    least = 3 * (options.segment_bytes + HEADER_BYTES) + 8
    if options.card_queue_bytes < least:
        cause = f"{options.card_queue_bytes} bytes have no room for three segments of {options.segment_bytes}"
        raise OptionError("option card_queue_bytes", cause, f"give {least} or more")
    return channel


def ring_limit(layout: Layout, base: int = CARD) -> int:
    """Return the offset in a ring below which a message must begin, for the card at PCI address `base`."""
    size = min(layout.card_queue_bytes, IO_RING_BYTES) if base == IO else layout.card_queue_bytes
    return size - min(layout.host_slot, MAX_PAYLOAD + 40) & ~7


def card_base(view: ClusterView) -> int:
    """Return the PCI address of the node's endpoint card."""
    return IO if view.has(view.me, IO_CARD) else CARD


class CardRings:
    """Two incoming rings of an endpoint card, as the NI fills them."""

    def __init__(self, nic: Nic, layout: Layout, base: int = CARD) -> None:
        """Begin with empty rings.

        Args:
            nic: Verbs of the NIC.
            layout: Map of NI memory.
            base: PCI address of the card.
        """
        self._nic, self._layout = nic, layout
        self.register = QUIET[base]
        """PCI address of a register that is read to see if the card answers."""
        self.misses = 0
        """Number of times in a row that there was no room."""
        self._first = base + (IO_REGISTERS if base == IO else 0)
        registers = [base + IoReg.INBOUND_PORT] * 2 if base == IO else [base + REGISTERS + one for one in BACKS]
        self._pointers = tuple(registers)
        self._limit = ring_limit(layout, base)
        self._back = [0, 0]
        self._turn = 0

    def room(self, length: int) -> bool:
        """Return True if the next ring has room for `length` more bytes, by the read position that the card last
        published.
        """
        front = self._nic.load(self._layout.card_read + 4 * self._turn)
        fitting = fits(front, self._back[self._turn], length, self._limit)
        self.misses = 0 if fitting else self.misses + 1
        return fitting

    def restart(self) -> None:
        """Begin again with empty rings, like a card whose power has returned."""
        self._back, self._turn, self.misses = [0, 0], 0, 0
        self._nic.store_words(self._layout.card_read, (0, 0))

    def place(self, length: int, message: int = 0) -> tuple[int, int, int]:
        """Reserve room for a message with this number in the trace; return the PCI addresses of its data and of the
        back pointer, and the pointer's new value.
        """
        turn, back = self._turn, self._back[self._turn]
        self._back[turn] = after = following(back, length, self._limit)
        self._turn = 1 - turn
        self._nic.put_in_card(turn * BANK_BYTES + back, message)
        return self._first + turn * BANK_BYTES + back, self._pointers[turn], after
