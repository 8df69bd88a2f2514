"""Stores of words from the host into the NIC's memory."""

from __future__ import annotations

import struct

from firmware.verbs import Host


async def store_words(host: Host, offset: int, *words: int) -> None:
    """Store big-endian words at an SRAM address by PIO, in order."""
    await host.pio_write(host.nic_base + offset, struct.pack(f">{len(words)}I", *words))
