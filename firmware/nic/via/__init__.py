"""VIA on the NIC: physical descriptors, a central send queue, receive queue caches (paper 001, chapter 3)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from firmware.layers import ClusterView
from firmware.nic.hardware import Service, packet_port, serve
from firmware.nic.via.breaking import Breaking
from firmware.nic.via.commands import Commands
from firmware.nic.via.completions import Completions
from firmware.nic.via.descriptor_readers import DescriptorReaders
from firmware.nic.via.doorbells import Central, Polled, Rung, doorbells, polled
from firmware.nic.via.layout import Layout, Word
from firmware.nic.via.ni import Ni
from firmware.nic.via.options import OptionError, Options
from firmware.nic.via.outlet import Outlet
from firmware.nic.via.queue_cache import MASK
from firmware.nic.via.rdma_reads import RdmaReads
from firmware.nic.via.rdma_writes import KernelBuffer, Lookup, RdmaWrites
from firmware.nic.via.receive_descriptors import ReceiveDescriptors
from firmware.nic.via.receiving import Receiver
from firmware.nic.via.refill import Refill
from firmware.nic.via.sending import Sender
from firmware.nic.via.translation import frames
from firmware.nic.via.waits import owed
from firmware.verbs import Nic, PollLoop, Watch
from pymodels.cards import CardMap
from pymodels.formats.via import NODES, Status
from pymodels.profiles import profiles_with_doorbells


async def main(nic: Nic, view: ClusterView) -> None:
    """The NIC's program. Raises OptionError when an option cannot be, or the NIC's memory cannot hold what is asked."""
    options = Options.of(view.options)
    layout = Layout(options, nic.sram_bytes)
    port = packet_port(nic, view, layout.port, options.packet)
    await nic.poll_loop([Watch(Word.KERNEL, 0, "look_start")]).run()
    await Firmware(Ni(nic, view, port, layout)).run()


class Firmware:
    """The parts, and the loop that looks for work. It is what the packet port tells of packets."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic = ni, ni.nic
        self._completing = completing = Completions(ni)
        self._refill, self._outlet = Refill(ni), Outlet(ni)
        table = frames(ni)
        readers = DescriptorReaders(ni, self._refill, table)
        self._receives = ReceiveDescriptors(ni, completing, self._refill, readers)
        self._breaking = Breaking(ni, self._outlet, completing, self._receives)
        self._receives.on_wrong = partial(self._breaking.break_up, verdict=Status.FLUSHED)
        self._sender = Sender(ni, self._outlet, completing, self._refill, readers)
        self._sender.breaking = self._breaking
        self._writes: RdmaWrites = Lookup(ni, table) if ni.options.rdma == "table" else KernelBuffer(ni, self._breaking)
        reads = RdmaReads(ni, self._sender, self._breaking, table)
        self._receiver = Receiver(ni, self._breaking, completing, self._refill, self._receives, self._writes, reads)
        self._commands = Commands(ni, self._breaking, self._sender, completing, self._receives, self._writes)
        self._nic.waits.ask(partial(owed, ni))
        self._central = Central(ni)
        self._doorbells, self._polled = doorbells(ni, self._central), polled(ni)

    async def run(self) -> None:
        """Look at one thing after the other, round and round, and do what belongs to the one that has changed."""
        receives = self._receives.posted if self._ni.options.reads_ahead else None
        services: list[Service] = self._ni.port.services(self)
        kernels = [one for bells in self._doorbells for one in bells.services(self._sender.rung, receives)]
        kernels.append((Watch(Word.COMMAND_TAIL, 0, "look_command"), self._commands.given))
        self._refill.start()
        self._writes.start()
        if self._polled is None:
            services += kernels
            await serve(self._nic, services, made=self._central.found_in(services))
        else:
            services.append((Watch(Word.NEWS, 0, "look_news"), partial(self._news, kernels)))
            await self._poll(self._polled, services, receives)

    async def _poll(self, polled: Polled, services: list[Service], receives: Rung | None) -> None:
        """The same where words of processes are looked at behind these, of which the last one is the kernel's."""
        always, news = len(services), len(services) - 1
        services += polled.services(self._sender.rung, receives)
        before = partial(polled.aim, always=always, owned=self._commands)
        await serve(self._nic, services, before, partial(self._look_again, news=news))

    async def _news(self, kernels: list[Service]) -> int:
        """The kernel has written something, and counted up its word: look at all that is the kernel's."""
        seen = self._nic.load(Word.NEWS)
        for _, step in kernels:
            await step()
        return seen - self._central.left & MASK

    def _look_again(self, loop: PollLoop, news: int) -> None:
        """Let the central queue have this step of the loop taken for one with news."""
        self._central.expect = lambda _: loop.expect(news, self._nic.load(Word.NEWS) - 1 & MASK)

    async def fetched(self) -> None:
        """From the port: payload is here."""
        await self._sender.fetched()

    async def launched(self) -> None:
        """From the port: it is free."""
        await self._outlet.launched()

    async def arrived(self) -> None:
        """From the port: a packet."""
        await self._receiver.arrived()

    async def stored(self) -> None:
        """From the port: more is in host memory."""
        await self._completing.stored()
        await self._breaking.stored()


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Whether the options can be on `nodes` NICs of `sram_bytes` on such cards. Raises OptionError naming the one that
    cannot.
    """
    chosen = Options.of(options)
    if chosen.doorbell == "hw" and not card.has_doorbells:
        remedy = f"use {profiles_with_doorbells()}, or d1_ring"
        raise OptionError("option doorbell", "the NIC has no doorbells", remedy)
    if card.most_payload and chosen.packet > card.most_payload:
        cause = f"a packet of this network takes {card.most_payload} bytes"
        raise OptionError("option packet", cause, f"give {card.most_payload}")
    if nodes > NODES:
        raise OptionError(f"{nodes} nodes", f"a VIA header names {NODES}", "take fewer")
    Layout(chosen, sram_bytes)


def tolerates_loss(options: Mapping[str, float | str]) -> bool:
    """Loss is seen by whoever chose a reliable connection, and by nobody else (readings C11)."""
    return True
