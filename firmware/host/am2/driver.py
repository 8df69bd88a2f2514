"""The kernel's part of AM-II: it gives endpoints to processes, maps their frames and staging blocks, tells the NIC."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from firmware.host.am2.errors import Am2Error
from firmware.host.card import load_chain, release
from firmware.host.lock import Lock
from firmware.host.words import store_words
from firmware.layers import ClusterView
from firmware.nic.am2.layout import BLOCKS, FRAME, FRAME_PAGES, NOT_YET, Place, Word, row
from firmware.nic.am2.options import Options
from firmware.nic.am2.words import NEVER, tag_words
from firmware.nic.hardware import chain_heads
from firmware.verbs import Buffer, Host
from pymodels.host.pages import PAGE
from pymodels.host.process import Process

CLEARED = 32
"""Bytes of memory that a turn of the path that clears it does."""


@dataclass
class Granted:
    """An endpoint as its process has it."""

    number: int
    process: Process
    frame: int
    """Virtual address of its frame."""
    staging: int
    """Virtual address of its staging blocks."""
    memory: int
    """Their physical address."""
    tag: int = NEVER


class Driver:
    """Of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.names = host, view.me, view.names
        self.options = Options.of(view.options)
        self._place = Place(self.options.frames, self.options.channels, len(view.names), self.options.medium)
        self._granted: dict[int, Granted] = {}
        self._staging: dict[int, Buffer] = {}
        """By endpoint: pinned memory, kept for the next one that has the number."""
        self._commands = Lock(host, "the NIC to have read a row")
        self.sends = count(1)
        """Messages of this host, for the trace."""

    async def start(self) -> None:
        """Load the driver: once a host, before anything else."""
        await release(self.host)
        for chain, block in chain_heads(self._place.port, len(self.names)).items():
            await load_chain(self.host, chain, block)
        await store_words(self.host, Word.READY, 1)

    async def allocate(self, process: Process, weight: int) -> Granted:
        """A system call: an endpoint for a process, its frame empty, its tag NEVER. Raises Am2Error."""
        if type(weight) is not int or not 1 <= weight <= 0xFFFF:
            raise Am2Error("an endpoint", f"weight {weight!r}", "give 1 to 65535")
        number = next((one for one in range(self.options.frames) if one not in self._granted), None)
        if number is None:
            cause = f"{self.options.frames} endpoints of {self.host.who} fill the NIC's memory"
            raise Am2Error("an endpoint", cause, "free one, or take more with am2.frames")
        at = self._place.frames[number]
        if number not in self._staging:
            self._staging[number] = self.host.allocate(BLOCKS * self.options.medium)
        memory = self._staging[number].address
        granted = Granted(number, process, process.map_nic(at // PAGE, FRAME_PAGES), 0, memory)
        granted.staging = process.map_memory(memory, -(-BLOCKS * self.options.medium // PAGE))
        self._granted[number] = granted
        await process.syscall()
        await self.host.spend("am2_grant")
        await self.host.pio_write(self.host.nic_base + at, bytes(FRAME), combine=True)
        await self._tell(number, at, granted.tag, memory, weight)
        return granted

    async def free(self, granted: Granted) -> None:
        """A system call: the endpoint is there no more. What it has in flight is lost to it. Returns when the NIC uses
        neither its frame nor its memory, and the next process finds nothing there.
        """
        granted.process.unmap(granted.frame, FRAME_PAGES)
        granted.process.unmap_memory(granted.staging, -(-BLOCKS * self.options.medium // PAGE))
        await granted.process.syscall()
        await self._tell(granted.number, 0, NEVER, 0, 0)
        staging = self._staging[granted.number].view
        await self.host.spend("am2_clear", len(staging) // CLEARED)
        staging[:] = bytes(len(staging))
        del self._granted[granted.number]

    async def set_tag(self, granted: Granted, tag: int, weight: int) -> None:
        """A system call: the endpoint takes messages with another tag from now on."""
        granted.tag = tag
        await granted.process.syscall()
        await self._tell(granted.number, self._place.frames[granted.number], tag, granted.memory, weight)

    async def _tell(self, number: int, frame: int, tag: int, memory: int, weight: int) -> None:
        """Write a row, and return when the NIC has done what it says."""
        async with self._commands:
            answer = NOT_YET
            while answer == NOT_YET:
                await self.host.spend("am2_row_written")
                await store_words(self.host, row(number), frame, *tag_words(tag), memory, weight)
                await store_words(self.host, Word.COMMAND, 1 + number)
                answer = await self.host.poll_card(self.host.nic_base + Word.COMMAND, 1 + number, "am2_look_read")
