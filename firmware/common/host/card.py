"""Driver functions for the card of any NIC: reset, and set-up of features that only some cards have."""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.registers import Control, Isr, Pci, Reg, Size

RUN = 1 << Control.LANAI_RESET_OFF | 1 << Control.EBUS_RESET_OFF
"""Control word that releases processor and DMA engine from reset."""


HOLD = 1 << Control.LANAI_RESET_ON | 1 << Control.EBUS_RESET_ON
"""Control word that puts processor and DMA engine into reset."""


async def hold(host: Host) -> None:
    """Put the card into reset: its program stops at once, and packets to it are lost."""
    await _write(host, host.card.control, HOLD)


async def release(host: Host, doorbell_code: int = 0) -> None:
    """Release the card from reset. `doorbell_code` is the size of the doorbell FIFOs, on cards that have them."""
    size = doorbell_code << Control.FIFO_SIZE if host.card.has_chains else 0
    await _write(host, host.card.control, RUN | size)


async def load_chain(host: Host, chain: int, block: int) -> None:
    """Load the first block of a host DMA chain. Without effect on a card without chains."""
    if host.card.has_chains:
        await _write(host, host.card.sram + Pci.POINTERS + 4 * chain, block)


async def load_doorbells(host: Host, base: int) -> None:
    """Load the base of the first doorbell FIFO. Without effect on a card without doorbells."""
    if host.card.has_chains:
        await _write(host, host.card.sram + Pci.POINTERS + 4 * Size.CHAINS, base)


async def acknowledge(host: Host) -> None:
    """Acknowledge the NIC's interrupt."""
    await _write(host, host.card.register(Reg.ISR), host.card.signal(1 << Isr.HOST_SIG))


async def _write(host: Host, address: int, word: int) -> None:
    await host.pio_write(address, word.to_bytes(4, "big"))
