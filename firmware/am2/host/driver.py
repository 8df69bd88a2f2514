"""AM-II's driver: allocation of endpoints to processes, their mappings, and commands to the NIC."""

from __future__ import annotations

from firmware.am2.host.errors import Am2Error
from firmware.am2.host.granted import Granted
from firmware.am2.host.message import EndpointName
from firmware.am2.host.notices import Notices
from firmware.am2.host.pager import Pager
from firmware.am2.nic.layout import (
    ABSENT,
    BLOCKS,
    ENDPOINTS,
    FRAME,
    FRAME_PAGES,
    MOVING,
    NOT_YET,
    Notice,
    Place,
    Word,
    row,
)
from firmware.am2.nic.words import Code, tag_words
from firmware.am2.options import Options
from firmware.common.host.card import load_chain, release
from firmware.common.host.lock import Lock
from firmware.common.host.words import store_words
from firmware.common.nic import chain_heads
from firmware.verbs import Buffer, Host, Signal
from firmware.view import ClusterView
from pymodels.host.faulting import Fault
from pymodels.host.pages import PAGE
from pymodels.host.process import Process

CLEARED = 32
"""Bytes that one turn of the clearing path clears."""


class Driver:
    """AM-II's driver of one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.names = host, view.me, view.names
        self.options = Options.from_values(view.options)
        self._place = Place(self.options.frames, self.options.channels, len(view.names), self.options.medium)
        self._granted: dict[int, Granted] = {}
        self._memory: dict[int, tuple[Buffer, Buffer]] = {}
        """Pinned staging blocks and frame of each endpoint number, kept for later endpoints."""
        self._commands = Lock(host, "the NIC to have read a row")
        self.pager = Pager(host, self.options, self._place, view.me, self._write_row)
        self._events: dict[int, Signal] = {}
        self._notices = Notices(host, self._noticed)

    async def start(self) -> None:
        """Load the driver. Call this once on each host, before anything else."""
        await release(self.host)
        for chain, block in chain_heads(self._place.port, len(self.names)).items():
            await load_chain(self.host, chain, block)
        await store_words(self.host, Word.READY, 1)

    async def allocate(self, process: Process, weight: int) -> Granted:
        """Allocate an endpoint with an empty frame and tag NEVER to a process, by a system call. Raises Am2Error."""
        if type(weight) is not int or not 1 <= weight <= 0xFFFF:
            raise Am2Error("an endpoint", f"weight {weight!r}", "give 1 to 65535")
        number = next((one for one in range(ENDPOINTS) if one not in self._granted), None)
        if number is None:
            raise Am2Error(
                "an endpoint", f"all {ENDPOINTS} endpoints of {self.host.who} are in use", "free an endpoint first"
            )
        if number not in self._memory:
            sizes = BLOCKS * self.options.medium, FRAME
            self._memory[number] = self.host.allocate(sizes[0]), self.host.allocate(sizes[1])
        staging, image = self._memory[number]
        frame = process.map_nic(0, FRAME_PAGES)
        copy = process.map_memory(image.address, FRAME_PAGES)
        blocks = process.map_memory(staging.address, self._pages)
        granted = self._granted[number] = Granted(number, process, weight, frame, copy, image, blocks, staging.address)

        async def bring(_: Fault) -> None:
            await self.pager.bring(granted)

        process.page_by(frame, FRAME, bring)
        at = self.pager.settle(granted)
        await process.syscall()
        await self.host.spend("am2_grant")
        if at != ABSENT:
            await self.host.pio_write(self.host.nic_base + at, bytes(FRAME), combine=True)
        await self._write_row(granted, at)
        return granted

    @property
    def _pages(self) -> int:
        """Number of pages of an endpoint's staging blocks."""
        return -(-BLOCKS * self.options.medium // PAGE)

    async def free(self, granted: Granted) -> None:
        """Free an endpoint by a system call; its messages in flight are abandoned.

        Returns when the NIC no longer uses its frame and memory, and both are cleared for the next owner.
        """
        await granted.process.syscall()
        async with self.pager.lock:
            granted.unmap(self._pages)
            while await self._write_row(granted, 0) == NOT_YET:
                pass
            self.pager.clear(granted)
        for memory in self._memory[granted.number]:
            await self.host.spend("am2_clear", memory.size // CLEARED)
            memory.view[:] = bytes(memory.size)
        del self._granted[granted.number]

    async def set_tag(self, granted: Granted, tag: int) -> None:
        """Set the tag of an endpoint, by a system call."""
        granted.tag = tag
        await granted.process.syscall()
        async with self.pager.lock:
            await self._write_row(granted, self.pager.where(granted))

    def event(self, process: Process) -> Signal:
        """Return the event that wakes a process: a message for one of its armed endpoints."""
        if process.number not in self._events:
            self._events[process.number] = self.host.event(f"a message for {process.who}")
        return self._events[process.number]

    async def arm(self, granted: Granted) -> None:
        """Request an interrupt for the next message of an endpoint. Returns when the NIC has the request."""
        granted.asleep = True
        async with self.pager.lock:
            await self._write_row(granted, self.pager.where(granted))

    async def lookup(self, process: Process, host: str, endpoint: int) -> EndpointName:
        """Return the name of an endpoint from the name server, whose table is the host map. Raises Am2Error."""
        await process.syscall()
        await self.host.spend("am2_lookup")
        if host not in self.names:
            remedy = f"give one of {', '.join(self.names)}"
            raise Am2Error("the name server", f"unknown host {host!r}", remedy, Code.BAD_ENDPOINT)
        if type(endpoint) is not int or not 0 <= endpoint < ENDPOINTS:
            cause, remedy = f"endpoint {endpoint!r}", f"give 0 to {ENDPOINTS - 1}"
            raise Am2Error("the name server", cause, remedy, Code.BAD_ENDPOINT)
        return EndpointName(self.names.index(host), endpoint)

    async def _noticed(self, notice: Notice, number: int) -> None:
        """Handle a notice of the NIC about an endpoint."""
        granted = self._granted.get(number)
        if granted is None:
            return
        if notice is Notice.WANTED:
            self.host.spawn(self.pager.bring(granted), f"AM-II's pager, for endpoint {number}")
        else:
            granted.asleep = False
            self.event(granted.process).set()

    async def _write_row(self, granted: Granted, frame: int) -> int:
        """Write the row of an endpoint, and return the NIC's reply when it has carried it out or cannot yet."""
        host = self.host
        async with self._commands:
            await host.spend("am2_row_written")
            words = frame, *tag_words(granted.tag), granted.memory, granted.weight, granted.image.address
            await store_words(host, row(granted.number), *words, int(granted.asleep))
            asked = 1 + granted.number
            await store_words(host, Word.COMMAND, asked)
            answer = await host.poll_card(host.nic_base + Word.COMMAND, asked, "am2_look_read")
            if answer == MOVING:
                answer = await host.poll_card(host.nic_base + Word.COMMAND, MOVING, "am2_look_read")
            return answer
