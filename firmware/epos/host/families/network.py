"""Family Network: transport of messages to a node and communicator number, with one member for each technology."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from firmware.common.host.lock import Lock
from firmware.epos.host.errors import EposError
from firmware.epos.host.library import Epos, Message
from firmware.epos.nic.words import RX_CHAIN, TX_CHAIN
from pymodels.registers import Pci

NUMBERS = 256


class Network:
    """EPOS of one host, shared by its communicators; base class of the members."""

    extras: ClassVar[tuple[str, ...]] = ()
    """Attributes of this member beyond the family's interface."""
    chained: ClassVar[bool] = False

    def __init__(self, epos: Epos) -> None:
        """Open the network over an EPOS component. Raises EposError if the card is of another technology."""
        if epos.host.card.has_chains is not self.chained:
            there = Lanai9 if epos.host.card.has_chains else Lanai4
            what = f"{epos.host.who}: a network {type(self).__name__}"
            raise EposError(what, "the card has another technology", f"use {there.__name__}")
        self.epos = epos
        self.unclaimed = 0
        """Number of messages for communicators that are not open."""
        self._queues: dict[int, deque[Message]] = {}
        self._lock = Lock(epos.host, "the network")

    def open(self, number: int) -> None:
        """Reserve a communicator number. Raises EposError if it is invalid or in use."""
        what = f"{self.epos.host.who}: communicator {number!r}"
        if type(number) is not int or not 0 <= number < NUMBERS:
            raise EposError(what, "invalid number", f"give 0 to {NUMBERS - 1}")
        if number in self._queues:
            raise EposError(what, "it is already open", "use another number")
        self._queues[number] = deque()

    async def send(self, node: int, data: bytes, number: int) -> None:
        """Send a message to the communicator of that number on a node. Raises EposError."""
        async with self._lock:
            await self.epos.send(node, data, number)

    async def receive(self, number: int) -> Message:
        """Return the next message for a communicator, and queue messages for others. Several tasks may wait."""
        queue = self._queues[number]
        while not queue:
            async with self._lock:
                if not queue:
                    await self._take()
        return queue.popleft()

    async def _take(self) -> None:
        """Receive a message into the queue of its communicator."""
        message = await self.epos.receive()
        await self.epos.host.spend("epos_dispatch")
        queue = self._queues.get(message.communicator)
        if queue is None:
            self.unclaimed += 1
        else:
            queue.append(message)


class Lanai9(Network):
    """Myrinet with a LANai 9: chains of the host DMA, doorbells in hardware."""

    extras = ("chains", "doorbells")
    chained = True

    @property
    def chains(self) -> dict[str, int]:
        """Numbers of the host DMA chains that EPOS uses."""
        return {"receive": RX_CHAIN, "send": TX_CHAIN}

    @property
    def doorbells(self) -> int:
        """Address of the doorbell region."""
        return self.epos.host.nic_base + Pci.DOORBELL


class Lanai4(Network):
    """Myrinet with a LANai 4: one DMA engine with chains in software, and a doorbell queue in memory."""
