"""The kernel's side of one NIC: descriptors written into queue caches; refills; what the NIC tells
by its interrupt; who sleeps (paper 001, 3.2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from firmware.host.card import acknowledge, load_chain, load_doorbells, release
from firmware.host.via.common.attributes import MemoryAttributes
from firmware.host.via.common.errors import Result, VipError
from firmware.host.via.common.waiting import Turn
from firmware.host.via.kernel_agent.memory.registry import Region, Registry
from firmware.host.via.kernel_agent.memory.tables import Tables
from firmware.host.via.kernel_agent.remote_writes import Writes
from firmware.host.via.kernel_agent.rings.cache import Cache, Entry
from firmware.host.via.kernel_agent.sleepers import Sleepers
from firmware.host.via.kernel_agent.vis.context import KernelVi
from firmware.host.via.kernel_agent.vis.doorbell_pages import Pairs
from firmware.host.via.library.waits import full
from firmware.host.words import store_words
from firmware.layers import ClusterView
from firmware.nic.hardware import chain_heads
from firmware.nic.via.layout import COMMAND_WORDS, EVENTS, Command, Event, Layout, Vi, Word
from firmware.nic.via.options import Options
from firmware.verbs import Host
from pymodels.errors import SanlabError
from pymodels.formats.via import VIS
from pymodels.host.process import Process
from pymodels.profiles import profiles_with_doorbells
from pymodels.trace import TraceEvent


class Kernel:
    """The driver."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me = host, view.me
        self.nodes = len(view.names)
        self.options = Options.of(view.options)
        self.layout = layout = Layout(self.options, view.sram_bytes)
        self.registry = Registry(self.options.regions)
        self.turn, self._commanding = Turn(host), Turn(host)
        counters = (int(Word.SEND_TAIL), int(Word.SEND_HEAD))
        news = self._tell_news if self.options.polled else None
        self.sends = Cache(host, layout.send, self.options.send_words, counters, Word.SEND_QUEUED, news)
        counters = (int(Word.COMMAND_TAIL), int(Word.COMMAND_HEAD))
        self._commands = Cache(host, Word.COMMANDS, COMMAND_WORDS, counters, 0, news)
        self.vis = [KernelVi(self, number) for number in range(self.options.vis)]
        self.sleepers = Sleepers(self)
        self.on_break: Callable[[KernelVi], None]
        """Called when a connection has broken at this end."""
        self.on_interrupt: list[Callable[[], object]] = []
        """What else looks for news after an interrupt."""
        self.writes, self.tables, self.pairs = Writes(self), Tables(self), Pairs(layout)
        self._events = 0
        self._event = 0
        self._refills = self._told = 0
        self.interrupts = 0
        self._sends = 0
        self._tags = 0
        self._queues = [False] * self.options.queues
        host.waits.ask(partial(full, self))

    def new_vi(self, process: Process) -> tuple[KernelVi, int]:
        """A VI that is a process's from now on, and where its doorbells are. Raises VipError."""
        vi = next((vi for vi in self.vis[1:] if vi.process is None), None)
        if vi is None:
            there = len(self.vis) - 1
            what = f"creating a VI: the {there} that processes can have (VI 0 is the kernel agents') are there"
            more = "" if there + 1 == VIS else f", or raise via.vis, at most {VIS}"
            raise VipError(Result.ERROR_RESOURCE, what, f"destroy one{more}")
        pair = self.pairs.take(process, vi.number)
        vi.process = process
        return vi, pair

    def new_tag(self) -> int:
        """A protection tag that nobody has."""
        self._tags += 1
        return self._tags

    def posted(self, descriptor: int, size: int) -> int:
        """A send is posted, its descriptor at a physical address: its number on this host, for the trace."""
        self._sends += 1
        self.host.trace(TraceEvent.SEND_CALL, 0, size, self._sends)
        self.host.trace(TraceEvent.POSTED, 0, descriptor, self._sends)
        return self._sends

    async def start(self) -> None:
        """Bring the NIC up: it begins when it knows where its events go."""
        self._events = self.host.allocate(4 * EVENTS + 4).address
        self.host.on_interrupt(self._serve)
        await release(self.host)
        for chain, block in chain_heads(self.layout.port, self.nodes).items():
            await load_chain(self.host, chain, block)
        if self.options.doorbell == "hw":
            if not self.host.card.has_doorbells:
                what = f"doorbells of host {self.host.name}'s card"
                raise SanlabError(what, "it has none", f"use {profiles_with_doorbells()}, or another via.doorbell")
            await load_doorbells(self.host, self.layout.bells)
        await self.writes.start(self._events + 4 * EVENTS)
        await store_words(self.host, Word.KERNEL, self._events)

    async def _tell_news(self) -> None:
        """Where the NIC polls the words of processes, one word tells of all that the kernel writes."""
        self._told = self._told + 1 & 0xFFFFFFFF
        await store_words(self.host, Word.NEWS, self._told)

    async def take_queue(self, physical: int, entries: int) -> int | None:
        """A completion queue of the NIC's, with its ring at a physical address; None when none is left."""
        if False not in self._queues:
            return None
        number = self._queues.index(False)
        self._queues[number] = True
        await self.set_queue(number, physical, entries)
        return number

    async def set_queue(self, number: int, physical: int, entries: int) -> None:
        """The NIC writes a queue's entries into this ring; what it wrote before is in host memory."""
        await store_words(self.host, self.layout.queue(number), physical, entries)
        await self._commands.passed(await self._give(Command.QUEUE << 28 | number))
        await self.command(Command.FENCE, 0)

    async def free_queue(self, number: int) -> None:
        """It is no longer used."""
        await self.set_queue(number, 0, 0)
        self._queues[number] = False

    async def command(self, command: Command, vi: int) -> None:
        """Have the NIC do something with a VI; returns when it has."""
        await self._commands.passed(await self.give_command(command, vi))

    async def give_command(self, command: Command, vi: int) -> int:
        """The same without waiting: the NIC may wait for us. Up to where its queue is when it has."""
        return await self._give(command << 28 | (self.vis[vi].generation & 0xFFF) << 16 | vi)

    async def _give(self, word: int) -> int:
        async with self._commanding:
            await self.host.spend("give_command")
            return await self._commands.append(word)

    async def deregister(self, region: Region) -> None:
        """Take a region back, and let its pages go. Raises VipError when a VI's posted descriptor uses it."""
        await self._leave(region)
        self.registry.remove(region)

    async def change(self, region: Region, attributes: MemoryAttributes) -> None:
        """Give a region other attributes. Raises VipError when a VI's posted descriptor uses it."""
        await self._leave(region)
        await self.tables.register(self.registry.replace(region, attributes))

    async def _leave(self, region: Region) -> None:
        """Let nobody find a region, and return when nobody uses it. Raises VipError when a posted descriptor does."""
        self.registry.hold_back(region)
        async with self.turn:  # whoever has found it before has posted now
            busy = [vi.number for vi in self.vis if vi.process is region.process and await vi.uses(region)]
        if busy:
            self.registry.give_again(region)
            what = f"taking memory back that VI {busy[0]} uses"
            raise VipError(Result.ERROR_RESOURCE, what, "wait until its descriptors are done")
        await self.writes.left(region)
        await self.tables.deregister(region)

    async def _serve(self) -> None:
        """The interrupt service routine."""
        self.interrupts += 1
        await self.host.spend("serve_interrupt")
        await acknowledge(self.host)
        await self.host.pio_read(self.host.nic_base + Word.KERNEL)  # what comes from here on interrupts again
        await self._read_events()
        await self.refill()
        for look in self.on_interrupt:
            look()
        self.sleepers.wake()

    async def _read_events(self) -> None:
        """What the NIC has written into the event ring."""
        while word := self.host.load_words(self._events + 4 * self._event, 1)[0]:
            self.host.store_words(self._events + 4 * self._event, (0,))
            self._event = (self._event + 1) % EVENTS
            event, number = word >> 24 & 0x7F, word >> 16 & 0xFF
            await self.host.spend("read_event")
            if event == Event.BROKEN:
                await self.vis[number].told_broken(word & 0xFFFF)

    async def refill(self) -> None:
        """Queue caches of which the NIC believes that descriptors wait here get what they have room for."""
        low = [cache for cache in (self.sends, *(vi.receives for vi in self.vis)) if cache.flagged]
        if not low:
            return
        async with self.turn:
            for cache in low:
                await self.host.spend("refill_cache")
                await cache.fill()
                await cache.flag()
            self._refills += 1
            await store_words(self.host, Word.REFILLS, self._refills & 0xFFFFFFFF)

    async def write_vi(self, number: int, word: Vi, *values: int) -> None:
        """Words of a VI in the NIC's memory."""
        await store_words(self.host, self.layout.vi(number, word), *values)

    async def post_send(self, entry: Entry) -> None:
        """A descriptor into the central send queue."""
        await self.sends.post(entry)
