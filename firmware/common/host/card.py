"""What a driver does with the card of any NIC: release it from reset, and set up what only some cards have."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.registers import Control, Isr, Pci, Reg, Size

RUN = 1 << Control.LANAI_RESET_OFF | 1 << Control.EBUS_RESET_OFF
"""Control register: processor and DMA engine out of reset."""


HOLD = 1 << Control.LANAI_RESET_ON | 1 << Control.EBUS_RESET_ON
"""The same: into reset."""


async def hold(host: Host) -> None:
    """Put the card into reset: its program stops at once, packets to it are lost."""
    await _write(host, host.card.control, HOLD)


async def release(host: Host, doorbell_code: int = 0) -> None:
    """Take the card out of reset. `doorbell_code`: size of the doorbell FIFOs, where the card has them."""
    size = doorbell_code << Control.FIFO_SIZE if host.card.has_chains else 0
    await _write(host, host.card.control, RUN | size)


async def load_chain(host: Host, chain: int, block: int) -> None:
    """Load the first block of a host DMA chain; a card without chains has nothing to load."""
    if host.card.has_chains:
        await _write(host, host.card.sram + Pci.POINTERS + 4 * chain, block)


async def load_doorbells(host: Host, base: int) -> None:
    """Load the base of the first doorbell FIFO, where the card has them."""
    if host.card.has_chains:
        await _write(host, host.card.sram + Pci.POINTERS + 4 * Size.CHAINS, base)


async def acknowledge(host: Host) -> None:
    """Acknowledge the NIC's interrupt."""
    await _write(host, host.card.register(Reg.ISR), host.card.signal(1 << Isr.HOST_SIG))


async def _write(host: Host, address: int, word: int) -> None:
    await host.pio_write(address, word.to_bytes(4, "big"))
