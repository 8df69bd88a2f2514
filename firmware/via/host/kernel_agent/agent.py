"""Kernel agent of a host: the driver of one NIC, composed of its parts (paper 001, 3.2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from firmware.common.host.card import load_chain, load_doorbells, release
from firmware.common.host.words import store_words
from firmware.common.nic import chain_heads
from firmware.verbs import Host
from firmware.via.host.kernel_agent.completion_queues import CompletionQueues
from firmware.via.host.kernel_agent.connections.local_ends import LocalEnds
from firmware.via.host.kernel_agent.connections.manager import ConnectionManager
from firmware.via.host.kernel_agent.connections.receiver import MessageReceiver
from firmware.via.host.kernel_agent.interrupts import InterruptHandler
from firmware.via.host.kernel_agent.memory.host_translation import Translator
from firmware.via.host.kernel_agent.memory.registry import Registry
from firmware.via.host.kernel_agent.memory.tables import Tables
from firmware.via.host.kernel_agent.messages.buffers import MessageBuffers
from firmware.via.host.kernel_agent.messages.notices import DisconnectNotices
from firmware.via.host.kernel_agent.messages.sender import MessageSender
from firmware.via.host.kernel_agent.registration import Registration
from firmware.via.host.kernel_agent.remote_writes import RemoteWrites
from firmware.via.host.kernel_agent.rings.cache import Cache
from firmware.via.host.kernel_agent.rings.command_ring import CommandRing
from firmware.via.host.kernel_agent.rings.events import EventRing
from firmware.via.host.kernel_agent.rings.lock import KernelLock
from firmware.via.host.kernel_agent.rings.news import NewsWord
from firmware.via.host.kernel_agent.rings.send_numbers import SendNumbers
from firmware.via.host.kernel_agent.sleepers import Sleepers
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.host.kernel_agent.vis.table import KernelVi, ViTable
from firmware.via.nic.layout import Layout, Word
from firmware.via.options import Options
from firmware.view import ClusterView
from pymodels.errors import SanlabError
from pymodels.profiles import profiles_with_doorbells
from pymodels.waiting import Wait, Wanted


class KernelAgent:
    """Driver functions that processes reach by system calls."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me, self.nodes = host, view.me, len(view.names)
        self.options = options = Options.from_values(view.options)
        self.layout = layout = Layout(options, view.sram_bytes)
        news = NewsWord(host).increment if options.polled else None
        lock = KernelLock(host)
        counters = (int(Word.SEND_TAIL), int(Word.SEND_HEAD))
        self._sends = Cache(host, layout.send, options.send_words, counters, Word.SEND_QUEUED, news)
        self.numbers = SendNumbers(host)
        buffers = MessageBuffers(host)
        sender = MessageSender(host, lock, self._sends, self.numbers, buffers)
        notices = DisconnectNotices(host, self.me, options.connect_us, sender)
        shared = Shared(host, layout, lock, CommandRing(host, news), self._sends, notices)

        self.registry = Registry(options.regions)
        self.vis = vis = ViTable(shared, Translator(self.registry, options.inline, host.card.moves_bytes))
        self.queues = CompletionQueues(vis)
        self.sleepers = Sleepers(host, layout)
        self.connections = ConnectionManager(LocalEnds(self.me, self.nodes, vis, sender, notices), notices)
        self._receiver = MessageReceiver(host, lock, vis.agents, buffers, self.connections.arrived)
        self._events = EventRing(host)
        self.writes = RemoteWrites(self.registry, vis)
        self.registration = Registration(self.registry, Tables(host, layout), vis, self.writes)
        looks = (self.writes.look, self._receiver.look)
        self.interrupts = InterruptHandler(vis, self._events, looks, self.sleepers)
        self._tags = 0
        host.waits.register(self._full)

    async def start(self) -> None:
        """Start the NIC. Its firmware begins when it has the address of its event ring."""
        host = self.host
        host.on_interrupt(self.interrupts.serve)
        await release(host)
        for chain, block in chain_heads(self.layout.port, self.nodes).items():
            await load_chain(host, chain, block)
        if self.options.doorbell == "hw":
            if not host.card.has_doorbells:
                what = f"doorbells of host {host.name}'s card"
                raise SanlabError(what, "not present", f"use {profiles_with_doorbells()}, or another via.doorbell")
            await load_doorbells(host, self.layout.bells)
        await self.writes.start(self._events.scratch)
        await store_words(host, Word.KERNEL, self._events.base)
        await self._receiver.start()

    def new_tag(self) -> int:
        """Return a new protection tag."""
        self._tags += 1
        return self._tags

    async def destroy(self, vi: KernelVi) -> None:
        """Destroy a VI, and wake the threads that wait for its completions."""
        await self.vis.destroy(vi)
        self.sleepers.forget(vi.context.number)

    def _full(self) -> Iterator[Wait]:
        """Return the wait for room in the NIC's send queue, for hang reports."""
        if count := len(self._sends.waiting):
            yield Wait(self.host.who, Wanted(f"room in the send queue for {count} descriptors", f"NIC {self.me}"))
