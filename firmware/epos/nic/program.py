"""NIC firmware: one loop over events of the engines, the Tx FIFO Queue, and the words that held frames wait for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from firmware.common.nic import hardware_bells, host_dma
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import hooks, members, tell_slot
from firmware.epos.nic.receiving import RECV, Receiver
from firmware.epos.nic.sending import SEND, Sender
from firmware.epos.nic.words import BELLS, RX_CHAIN, TX_CHAIN, Word
from firmware.epos.options import Options
from firmware.verbs import Nic, PollLoop, Watch
from firmware.view import ClusterView
from pymodels.registers import Isr, Reg


class Program:
    """Sending and receiving side, and the protocols between them."""

    def __init__(self, nic: Nic, view: ClusterView, options: Options) -> None:
        self.nic, self.view = nic, view
        self.place = place = Place(options, len(view.names))
        self._dma = host_dma(nic, {RX_CHAIN: place.rx_blocks, TX_CHAIN: place.tx_blocks})
        self.protocols = members("nic", options.composition, self)
        found = hooks("nic", self.protocols)
        told = {tell_slot(name): one.rung for name, one in self.protocols.items() if hasattr(one, "rung")}
        self.sender = Sender(nic, view, place, self._dma, found, told)
        controls = [one.control for one in self.protocols.values() if hasattr(one, "control")]
        self.receiver = Receiver(nic, place, self._dma, found, controls)
        for one in self.protocols.values():
            for name in ("offset", "row"):
                if hasattr(one, name):
                    setattr(self.receiver, name, getattr(one, name))
        self._next_bell = 0
        nic.waits.register(lambda: [*self.sender.wants(), *self.receiver.wants()])

    def _engines(self) -> list[tuple[int, Callable[[], Awaitable[object]]]]:
        """Return the step for each bit of ISR."""
        done = {RX_CHAIN: self.receiver.done, TX_CHAIN: self.sender.fetched}
        services = self._dma.services(done, "epos_look")
        if self.place.options.notify == "doorbell":
            services = [*services, *hardware_bells(self.nic, self.place.bells).services(self.sender.rung)]
        first = [(RECV & ~(1 << Isr.HEAD), self.receiver.received)]
        return [*first, *((watch.mask, step) for watch, step in services), (SEND, self.sender.sent)]

    async def run(self) -> None:
        """Run the polling loop forever."""
        engines = self._engines()
        every = sum(mask for mask, _ in engines)
        steps = [Watch(Reg.ISR, 0, "epos_look", every, register=True)]
        words = self.place.options.notify == "word"
        if words:
            steps.append(Watch(self.place.bells, 0, "epos_look_bell"))
        steps += [Watch(Word.FREED, 0, "epos_look_freed") for _ in range(self.place.processes)]
        loop = self.nic.poll_loop(steps)
        while True:
            hit = await self._turn(loop, 1 + words)
            if not hit:
                await self._happened(engines, every)
            elif words and hit == 1:
                await self._rung()
            else:
                await self.receiver.freed()

    def allows(self, row: int, address: int, size: int) -> bool:
        """Return True if a range of host memory belongs to the process of a row."""
        guard = self.protocols.get("protection")
        return guard is None or guard.owns(row // self.place.peers, address, size)

    async def _turn(self, loop: PollLoop, usual: int) -> int:
        """Run the polling loop until a step hits. The words that held frames wait for are polled only while frames are
        held.
        """
        waits = self.receiver.waits_for
        for step, (at, seen) in enumerate(waits, usual):
            loop.aim(step, at)
            loop.expect(step, seen)
        loop.first(usual + len(waits))
        if usual == 2:
            loop.aim(1, self._bell)
        return await loop.run()

    @property
    def _bell(self) -> int:
        """Address of the next word of the Tx FIFO Queue in memory."""
        return self.place.bells + 4 * self._next_bell

    async def _rung(self) -> None:
        """Process a doorbell in memory."""
        await self.nic.work("epos_bell_word")
        value = self.nic.load(self._bell)
        self.nic.store(self._bell, 0)
        self._next_bell = (self._next_bell + 1) % BELLS
        await self.sender.rung(0, 0, value)

    async def _happened(self, engines: list[tuple[int, Callable[[], Awaitable[object]]]], every: int) -> None:
        """Process the engines that have finished."""
        left = await self.nic.read(Reg.ISR) & every  # the word that the polling loop sampled, so no further access
        for mask, step in engines:
            if left & mask:
                await step()
                left &= ~mask
                if not left:
                    return
            else:
                await self.nic.work("epos_which")


def chain_heads(place: Place) -> dict[int, int]:
    """Return the first block of each chain, which the driver loads into a card with chains."""
    return {RX_CHAIN: place.rx_blocks, TX_CHAIN: place.tx_blocks}
