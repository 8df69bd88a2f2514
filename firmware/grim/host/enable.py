"""`grim_enable`: its nine phases, and what this node's NIC and queues need in them (paper 003, C.2)."""

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
"""Bytes that one turn of the clearing loop stores."""


class Phase(IntEnum):
    """The phases in their order."""

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
    """Clear the words that host and NI share before a program starts on a card that was in reset: nothing of the
    earlier run may remain. The count of the program's starts is kept.
    """
    runtime = [layout.runtime + layout.runtime_bytes * n + Runtime.SIZE for n in range(layout.runtime_count)]
    areas = [(0, Word.BEGINNINGS), (layout.counters, layout.routes), (layout.static, layout.maps)]
    for begin, end in [*areas, *((at, at + 4) for at in runtime)]:
        for line in range(begin, end, LINE):
            await host.spend("clear_line")
            await store_words(host, line, *[0] * (min(end - line, LINE) // 4))


class Peripheral(Protocol):
    """A local device, as `grim_enable` treats it."""

    async def initialise(self) -> None:
        """Phase 4: load it, bring it up."""

    async def activate(self) -> None:
        """Phase 9: the node is fully initialised, operation begins."""


class Ni:
    """The network interface as a device."""

    def __init__(self, host: Host, view: ClusterView, layout: Layout) -> None:
        self._host, self._view, self._layout = host, view, layout
        self._loaded = False

    async def load(self) -> None:
        """Load the program of a NIC that executes one, once."""
        if not self._loaded:
            self._loaded = True
            await boot(self._host, self._view)

    async def initialise(self) -> None:
        """The card out of reset, the DMA chains' lists loaded."""
        host, layout = self._host, self._layout
        await self.load()
        await host.spend("enable_card")
        await card.release(host, layout.doorbell_code)
        await card.load_doorbells(host, layout.doorbells)
        await card.load_chain(host, L2E_CHAIN, layout.blocks)
        await card.load_chain(host, E2L_CHAIN, layout.fetches)

    async def activate(self) -> None:
        """The NI learns that its host is there."""
        await self._host.spend("enable_start")
        await store_words(self._host, Word.ACTIVE, STARTED)


def allocate_queues(host: Host, layout: Layout, channels: int) -> list[Buffer]:
    """Phase 5: pinned, contiguous queues for incoming messages, one an endpoint. MemoryError when the host has no
    room.
    """
    return [host.allocate(HostQueue.RING + layout.host_limit + layout.host_slot) for _ in range(channels)]


async def link_queues(host: Host, layout: Layout, buffers: list[Buffer]) -> None:
    """Phase 6: queue pointers into the NI's channel registers."""
    for channel, buffer in enumerate(buffers):
        await host.spend("enable_channel")
        await store_words(host, layout.register(channel, Register.FRONT), 0, 0, 0, buffer.address)


async def synchronise(host: Host, status: int) -> None:
    """Phase 8: the firmware synchronises with all others; wait until it says that it has."""
    await host.spend("enable_start")
    await store_words(host, Word.START, STARTED)
    while host.load_words(status, 1)[0] != State.RUNNING:
        await host.poll([(status, host.load_words(status, 1)[0])], "poll_spin")
