"""One node of a program: its library, and the calls that its acts make."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.enable import Phase
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.cluster import Cluster
from tb.studies.grim.fuzz.mail import Message, Place
from tb.studies.grim.fuzz.memory import Block

MASK = 0xFFFF_FFFF
CHECK = 0x9E37_79B1
"""Argument 1 is argument 0 times this: so a changed argument is seen."""
FIRST_PAUSE_PS, LAST_PAUSE_PS = 2_000_000, 100_000_000
RARELY = 9
"""The value of an act's `rare` that asks for more than else."""


class Node:
    """What all acts of a node use."""

    def __init__(self, cluster: Cluster, index: int) -> None:
        self.cluster, self.index = cluster, index
        self.library: Grim = cluster.parts[index].library
        self.host = cluster.world.hosts[index]
        self.mail, self.memory, self.ledger = cluster.mail, cluster.memory, cluster.ledgers[index]
        self.numbers: dict[str, int] = {}
        """Of the handlers, by name."""
        self.ink: Block
        """What the payloads of messages and the data of writes are taken from."""
        self.channels = self.library.options.channels

    def wrong(self, text: str) -> None:
        """Something that must not be."""
        self.cluster.wrong.append(f"node {self.index}: {text}")

    # ---- calls

    async def call(
        self, what: str, make: Callable[[], Any], refused: str = "", may: Callable[[], str] = lambda: ""
    ) -> Any:
        """Call the library. `refused`: the argument for which it must be refused; `may`: for which it may be, asked
        when it was. A late error of an earlier act is crossed off, and the call made again. None when it is refused:
        also when it raises more late errors than earlier acts can cause, because its own message fails each time.
        """
        for _ in range(1 + self._most_late_errors()):
            try:
                result = make()
                result = await result if inspect.isawaitable(result) else result
            except GrimError as error:
                if self.ledger.take(error):
                    continue
                if error.argument not in (refused, may()):
                    self.wrong(f"{what}: {error}")
                return None
            except Exception as error:  # noqa: BLE001 - whatever a call raises must be an error of GRIM's
                self.wrong(f"{what}: {type(error).__name__}: {error}, which is no error of GRIM's")
                return None
            if refused:
                self.wrong(f"{what} was not refused")
            return result
        return None

    def _most_late_errors(self) -> int:
        """That may wait for a call: each message of this node's library can fail once at each node."""
        if self.library.phase < Phase.ENABLED:
            return 0
        return self.library.calls.messenger.sending.sends * self.cluster.program.nodes

    async def idle(self, over: Callable[[], bool]) -> None:
        """Poll until something holds."""
        pause = FIRST_PAUSE_PS
        while not over():
            if await self.call("poll", self.library.poll):
                pause = FIRST_PAUSE_PS
            else:
                await self.host.sleep(pause, "its next poll")
                pause = min(2 * pause, LAST_PAUSE_PS)

    def where(self, act: Act) -> tuple[int, Place]:
        """A destination: its reference, and its place."""
        place = act.whole("to") % self.cluster.program.nodes, int(act.values.get("at", 0)) % self.channels
        return Reference(place[0], Device.HOST, place[1]).pack(), place

    def channel(self, act: Act) -> int:
        """The own channel that an act uses."""
        return int(act.values.get("channel", 0)) % self.channels

    # ---- messages, as acts and handlers send them

    async def send(
        self, to: int, place: Place, channel: int, handler: str, size: int, extra: int = 0, in_memory: bool = False
    ) -> None:
        """One message, noted in the reference."""
        message = self.mail.begin((self.index, channel), handler, size)
        message.must.add(place)
        self.at_risk(message)
        payload = self.payload(message, in_memory)
        arguments = self.arguments(message, handler, extra, place[1])
        await self.call(str(message), lambda: self.library.send(to, *arguments, payload=payload, channel=channel))
        self.mail.end(message)

    def sure(self, node: int) -> int:
        """How often an error of another node must come: never when it is down."""
        return int(node != self.cluster.down)

    def at_risk(self, message: Message) -> None:
        """A message that begins while a node is down need not arrive there, or anywhere if it is for a tree."""
        if self.cluster.down is not None:
            self.mail.doubt(message, self.cluster.down)

    def arguments(self, message: Message, handler: str, extra: int, channel: int) -> tuple[int, int, int, int, int]:
        """Handler and arguments of a message."""
        number = message.number
        return self.numbers[handler], number, number * CHECK & MASK, extra, channel

    def payload(self, message: Message, in_memory: bool) -> Any:
        """Its payload, in Python or in host memory."""
        if not in_memory or not message.size:
            return message.payload
        return Region(self.ink.pieces[0][0] + message.ink, message.size)


class Region:
    """Bytes in host memory."""

    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size


__all__ = ["Node", "Region"]
