"""The family Network: what carries messages to a node, for a communicator of a number; one member a technology."""

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
    """EPOS of one host, shared by its communicators. Use a member."""

    extras: ClassVar[tuple[str, ...]] = ()
    """What this member has beside the family's interface."""
    chained: ClassVar[bool] = False

    def __init__(self, epos: Epos) -> None:
        """Raises EposError where the card is of another technology."""
        if epos.host.card.has_chains is not self.chained:
            there = Lanai9 if epos.host.card.has_chains else Lanai4
            what = f"{epos.host.who}: a network {type(self).__name__}"
            raise EposError(what, "its card is another one", f"take {there.__name__}")
        self.epos = epos
        self.unclaimed = 0
        """Messages for numbers that nobody has opened."""
        self._queues: dict[int, deque[Message]] = {}
        self._lock = Lock(epos.host, "the network")

    def open(self, number: int) -> None:
        """Take a number. Raises EposError."""
        what = f"{self.epos.host.who}: communicator {number!r}"
        if type(number) is not int or not 0 <= number < NUMBERS:
            raise EposError(what, "there is no such number", f"give 0 to {NUMBERS - 1}")
        if number in self._queues:
            raise EposError(what, "it is open", "take another number")
        self._queues[number] = deque()

    async def send(self, node: int, data: bytes, number: int) -> None:
        """Send a message to the communicator of that number on a node. Raises EposError."""
        async with self._lock:
            await self.epos.send(node, data, number)

    async def receive(self, number: int) -> Message:
        """The next message for a number; what comes for others meanwhile is theirs. Several tasks may wait."""
        queue = self._queues[number]
        while not queue:
            async with self._lock:
                if not queue:
                    await self._take()
        return queue.popleft()

    async def _take(self) -> None:
        """A message, to the queue of its communicator."""
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
        """The chains of the host DMA that EPOS uses."""
        return {"receive": RX_CHAIN, "send": TX_CHAIN}

    @property
    def doorbells(self) -> int:
        """Address of the doorbell region."""
        return self.epos.host.nic_base + Pci.DOORBELL


class Lanai4(Network):
    """Myrinet with a LANai 4: one DMA, whose chains are software; a queue of words."""
