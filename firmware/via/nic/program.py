"""Construction of the NIC's program from its parts, bottom up, and its polling loop."""

from __future__ import annotations

from functools import partial

from firmware.common.nic import Service, hardware_bells, serve
from firmware.verbs import PollLoop, Watch
from firmware.via.nic.ack_receiver import AckReceiver
from firmware.via.nic.ack_sender import AckSender
from firmware.via.nic.breaking import Breaking
from firmware.via.nic.commands import Commands
from firmware.via.nic.completions import Completions
from firmware.via.nic.delivery import Delivery
from firmware.via.nic.descriptor_readers import DescriptorReaders
from firmware.via.nic.doorbells import Central, Fifo, News, Polled
from firmware.via.nic.layout import Word
from firmware.via.nic.ni import Ni
from firmware.via.nic.rdma_reads import RdmaReads
from firmware.via.nic.rdma_writes import KernelBuffer, Lookup, RdmaWrites
from firmware.via.nic.receive_descriptors import ReceiveDescriptors
from firmware.via.nic.receiving import Receiver
from firmware.via.nic.refill import Refill
from firmware.via.nic.sending import Sender
from firmware.via.nic.translation import frames
from firmware.via.nic.waits import acknowledgement_waits


class Program:
    """NIC program: its parts, its polling loop, and the callbacks of the packet port."""

    def __init__(self, ni: Ni) -> None:
        self._ni, options, table = ni, ni.options, frames(ni)
        refill = Refill(ni)
        readers = DescriptorReaders(ni, refill, table)
        self._completions = completions = Completions(ni)
        self._acks = acks = AckSender(ni)
        breaking = Breaking(ni, acks, completions, readers)
        self._sender = sender = Sender(ni, completions, refill, readers, breaking)
        receives = ReceiveDescriptors(ni, completions, refill, readers, breaking)
        writes: RdmaWrites = Lookup(ni, table) if options.rdma == "table" else KernelBuffer(ni, acks, breaking)
        delivery = Delivery(ni)
        reads = RdmaReads(ni, completions, breaking, delivery, sender, table)
        ack_receiver = AckReceiver(ni, completions, breaking)
        self._receiver = Receiver(
            ni, acks, ack_receiver, completions, breaking, refill, receives, delivery, writes, reads
        )
        self._commands = Commands(ni, breaking, sender, completions, receives, writes)
        ahead = receives.posted if options.reads_ahead else None
        self._central = Central(ni, sender.rung)
        self._polled = Polled(ni, sender.rung, ahead) if options.polled else None
        rings = options.doorbell == "hw"
        self._fifo = Fifo(ni, hardware_bells(ni.nic, ni.layout.bells), sender.rung, ahead) if rings else None
        ni.nic.waits.register(partial(acknowledgement_waits, ni))

    async def run(self) -> None:
        """Poll all services cyclically and run the handlers of those that hit."""
        port = self._ni.port.services(self)
        bells = [] if self._fifo is None else self._fifo.services()
        commands = Watch(Word.COMMAND_TAIL, 0, "look_command"), self._commands.given
        kernel: list[Service] = [*bells, self._central.service, commands]
        if self._polled is None:
            services = [*port, *kernel]
            step = services.index(self._central.service)
            await serve(self._ni.nic, services, partial(self._central.look_again, step=step))
        else:
            await self._poll(self._polled, port, kernel)

    async def _poll(self, polled: Polled, port: list[Service], kernel: list[Service]) -> None:
        """Run the polling loop with the words of processes after the permanent services."""
        news = News(self._ni, self._central, kernel)
        always = len(port) + 1

        def before(loop: PollLoop) -> None:
            news.look_again(loop, always - 1)
            polled.aim(loop, always, self._commands)

        await serve(self._ni.nic, [*port, news.service, *polled.services()], before)

    async def fetched(self) -> None:
        """Handle the end of a fetch."""
        await self._sender.fetched()

    async def launched(self) -> None:
        """Handle a free port: send an acknowledgement, or continue a message."""
        if not await self._acks.launched():
            await self._sender.advance()

    async def arrived(self) -> None:
        """Handle a received packet."""
        await self._receiver.arrived()

    async def stored(self) -> None:
        """Handle the end of stores to host memory."""
        await self._completions.stored()
        await self._acks.stored()
