"""`grim_enable`: bring up this node's NIC and queues, in the order of the paper's nine phases (paper 003, C.2)."""

from __future__ import annotations

import struct

from firmware.nic.grim.layout import E2L_CHAIN, L2E_CHAIN, STARTED, HostQueue, Layout, Register, State, Word
from firmware.verbs import Buffer, Host
from pymodels.registers import Control, Pci, Size


async def initialise_nic(host: Host, layout: Layout) -> None:
    """Phase 4, local devices: the card out of reset, the DMA chain's list loaded."""
    await host.spend("enable_card")
    size = layout.doorbell_code << Control.FIFO_SIZE
    await _write(host, Pci.CONTROL, 1 << Control.LANAI_RESET_OFF | 1 << Control.EBUS_RESET_OFF | size)
    await _write(host, Pci.POINTERS + 4 * Size.CHAINS, layout.doorbells)
    await _write(host, Pci.POINTERS + 4 * L2E_CHAIN, layout.blocks)
    await _write(host, Pci.POINTERS + 4 * E2L_CHAIN, layout.fetches)


def allocate_queues(host: Host, layout: Layout, channels: int) -> list[Buffer]:
    """Phase 5: pinned, contiguous queues for incoming messages, one an endpoint. MemoryError when the host has no
    room.
    """
    return [host.allocate(HostQueue.RING + layout.host_limit + layout.host_slot) for _ in range(channels)]


async def link_queues(host: Host, layout: Layout, buffers: list[Buffer]) -> None:
    """Phase 6: queue pointers into the NI's channel registers."""
    for channel, buffer in enumerate(buffers):
        await host.spend("enable_channel")
        await _write(host, layout.register(channel, Register.FRONT), 0, 0, 0, buffer.address)


async def start_nic(host: Host, status: int) -> None:
    """Phases 8 and 9: the firmware synchronises with all others; wait until it says that it has."""
    await host.spend("enable_start")
    await _write(host, Word.START, STARTED)
    while host.load_words(status, 1)[0] != State.RUNNING:
        await host.poll([(status, host.load_words(status, 1)[0])], "poll_spin")


async def _write(host: Host, offset: int, *words: int) -> None:
    await host.pio_write(host.nic_base + offset, struct.pack(f">{len(words)}I", *words))
