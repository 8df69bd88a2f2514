"""Address map of a NIC's card on the host's PCI bus (fact sheet 3.7)."""

from __future__ import annotations

from dataclasses import dataclass

SLOT, SLOT_BYTES = 0xE0000000, 0x01000000
"""Physical address of the first slot's region, and the distance between the regions of two slots in bytes."""
DOORBELLS = range(SLOT + 0x808000, SLOT + SLOT_BYTES)
"""Bus addresses of the doorbell region of cards that have doorbells (fact sheet 3.7)."""


def slot(address: int) -> int:
    """Return the number of the slot whose region contains a bus address; not a valid slot number outside of all
    regions.
    """
    return (address - SLOT) // SLOT_BYTES


@dataclass(frozen=True)
class CardMap:
    """Physical addresses of a card's regions, and the properties that drivers and layers depend on. Each kind of NIC
    with another card has a subclass.
    """

    sram: int
    control: int
    """Address of the control register."""
    registers: int
    has_doorbells: bool = False
    """True if stores into a region of the card become entries of a FIFO."""
    has_chains: bool = False
    """True if the card has DMA chains started by the host, and doorbells whose FIFO address the host sets."""
    moves_bytes: bool = True
    """True if the host DMA engine moves any number of bytes between any addresses; False if it moves whole words only.
    """
    most_payload: int = 0
    """Maximum payload of a packet in bytes; 0 = unlimited."""

    def offset(self, address: int, sram_bytes: int) -> int:
        """Return the offset of a bus address in the machine's model of the card; -1 if the card does not decode it.

        Args:
            address: Physical address on the bus.
            sram_bytes: Size of the card's memory.
        """
        return address - SLOT if SLOT <= address < SLOT + SLOT_BYTES else -1

    def register(self, register: int) -> int:
        """Return the physical address of a special register, given the offset that firmware uses."""
        return self.registers + register

    def signal(self, value: int) -> int:
        """Return a word of ISR bits in the card's bit order, given the bit order that firmware uses."""
        return value
