"""Nine phases of `grim_enable`, and the steps for this node's NIC and queues (paper 003, C.2)."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from firmware.common.host import card
from firmware.common.host.loader import boot
from firmware.common.host.words import store_words
from firmware.grim.nic.layout import E2L_CHAIN, L2E_CHAIN, STARTED, HostQueue, Layout, Register, State, Word
from firmware.grim.nic.remote_memory.entries import Runtime
from firmware.verbs import Buffer, Host
from firmware.view import ClusterView

LINE = 32
"""Bytes cleared in one iteration of the clearing loop."""


class Phase(IntEnum):
    """Phases of `grim_enable`, in order."""

    NONE = 0
    RESET = 1
    """Reset variables."""
    CONFIGURATION = 2
    """Parse configuration files (`configuration.py`)."""
    RESOURCES = 3
    """Construct the local database of resources."""
    DEVICES = 4
    """Initialize local devices."""
    QUEUES = 5
    """Allocate host incoming message queues."""
    LINKS = 6
    """Initialize and link message queues."""
    HANDLERS = 7
    """Handler library initialization."""
    SYNCHRONISATION = 8
    """NI synchronization."""
    ACTIVATION = 9
    """Peripheral device activation."""
    ENABLED = 10


async def clear(host: Host, layout: Layout) -> None:
    """Clear the shared SRAM words of a card in reset, before its program starts, except for the epoch
    (`Word.BEGINNINGS`).
    """
    runtime = [layout.runtime + layout.runtime_bytes * n + Runtime.SIZE for n in range(layout.runtime_count)]
    areas = [(0, Word.BEGINNINGS), (layout.counters, layout.routes), (layout.static, layout.maps)]
    for begin, end in [*areas, *((at, at + 4) for at in runtime)]:
        for line in range(begin, end, LINE):
            await host.spend("clear_line")
            await store_words(host, line, *[0] * (min(end - line, LINE) // 4))


class Peripheral(Protocol):
    """Local device that `grim_enable` initialises and activates."""

    async def initialise(self) -> None:
        """Load and start the device (phase 4)."""

    async def activate(self) -> None:
        """Begin operation: the node is initialised (phase 9)."""


class Ni:
    """Network interface as a peripheral device."""

    def __init__(self, host: Host, view: ClusterView, layout: Layout) -> None:
        self._host, self._view, self._layout = host, view, layout
        self._loaded = False

    async def load(self) -> None:
        """Load the firmware of a NIC that executes one; later calls do nothing."""
        if not self._loaded:
            self._loaded = True
            await boot(self._host, self._view)

    async def initialise(self) -> None:
        """Load the firmware, release the card from reset, and load the lists of the DMA chains."""
        host, layout = self._host, self._layout
        await self.load()
        await host.spend("enable_card")
        await card.release(host, layout.doorbell_code)
        await card.load_doorbells(host, layout.doorbells)
        await card.load_chain(host, L2E_CHAIN, layout.blocks)
        await card.load_chain(host, E2L_CHAIN, layout.fetches)

    async def activate(self) -> None:
        """Notify the NI that its host operates."""
        await self._host.spend("enable_start")
        await store_words(self._host, Word.ACTIVE, STARTED)


def allocate_queues(host: Host, layout: Layout, channels: int) -> list[Buffer]:
    """Allocate a pinned, contiguous incoming queue for each endpoint (phase 5). Raises MemoryError if the host has no
    room.
    """
    return [host.allocate(HostQueue.RING + layout.host_limit + layout.host_slot) for _ in range(channels)]


async def link_queues(host: Host, layout: Layout, buffers: list[Buffer]) -> None:
    """Write the queue addresses to the NI's channel registers (phase 6)."""
    for channel, buffer in enumerate(buffers):
        await host.spend("enable_channel")
        await store_words(host, layout.register(channel, Register.FRONT), 0, 0, 0, buffer.address)


async def synchronise(host: Host, status: int) -> None:
    """Start the firmware, and wait until it has synchronised with all other NIs (phase 8)."""
    await host.spend("enable_start")
    await store_words(host, Word.START, STARTED)
    while (state := host.load_words(status, 1)[0]) != State.RUNNING:  # one load: the NIC may write between two
        await host.poll([(status, state)], "poll_spin")
