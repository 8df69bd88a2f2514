"""Where the regions of a NIC's card stand on the host's bus (fact sheet 3.7)."""

from __future__ import annotations

from dataclasses import dataclass

SLOT, SLOT_BYTES = 0xE0000000, 0x01000000
"""Physical address of the first slot's region, and from one slot to the next."""


def slot(address: int) -> int:
    """The slot to whose region a bus address belongs; beyond the slots' numbers where it is no card's."""
    return (address - SLOT) // SLOT_BYTES


@dataclass(frozen=True)
class CardMap:
    """Physical addresses of a card's regions, and what driver and layers ask of the card. A kind of NIC whose card is
    other than this has a subclass.
    """

    sram: int
    control: int
    """The control register."""
    registers: int
    has_doorbells: bool = False
    """Stores into a region of the card become entries of a FIFO."""
    has_chains: bool = False
    """The card has DMA chains, whose first blocks the host loads, and doorbells whose FIFO it places."""
    moves_bytes: bool = True
    """The card's host DMA moves any number of bytes from and to any place; otherwise whole words."""
    most_payload: int = 0
    """Bytes of payload that a packet takes at most; 0: any number."""

    def offset(self, address: int, sram_bytes: int) -> int:
        """The offset at which the machine's model of the card has a bus address; -1 if nothing is there.
        `sram_bytes`: size of its memory.
        """
        return address - SLOT if SLOT <= address < SLOT + SLOT_BYTES else -1

    def register(self, register: int) -> int:
        """Physical address of a special register, named as firmware names it."""
        return self.registers + register

    def signal(self, value: int) -> int:
        """A word of ISR bits, named as firmware names them, as this card has it."""
        return value
