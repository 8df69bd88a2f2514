"""Two programs that ask each other, and what is promised of their messages: once, in order, and all are answered."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple

from firmware.host.am import Am, Call, Port
from firmware.layers import ClusterView
from firmware.nic.am.layout import MOST, PORT, STRIDE, WORDS, Control, Place, Word
from firmware.nic.am.program import Program
from firmware.nic.hardware import packet_port
from firmware.verbs import Watch
from tb.explore.part import machine

LEFT_OUT = (
    *("Interrupts.count", "Signals.delivered"),  # count
    *("AmPlay", "Place", "Options", "PageTable", "CodeImage"),  # never change
)
Choices = dict[str, int | str]


class Request(NamedTuple):
    """One request of a sender."""

    source: int
    data: bytes = b""


Traffic = tuple[Request, ...]
"""In the order in which each host makes its own."""


class User:
    """The program of a node."""

    def __init__(self, am: Am, node: int, traffic: Traffic, computes: bool) -> None:
        self.node, self.traffic, self.computes = node, traffic, computes
        self.seen: list[tuple[Any, ...]] = []
        """Messages in their order."""
        self.port: Port = am.open([self.take, self.answered])
        self.due = sum(request.source != node for request in traffic)
        if computes:
            setattr(self.port.process, "compute", self._endless)  # noqa: B010 - whose end comes when all has come

    async def take(self, call: Call) -> None:
        """A request: answer it."""
        self.seen.append(("request", *call.arguments, call.data))
        await call.reply(self.answered, *call.arguments, data=call.data)

    async def answered(self, call: Call) -> None:
        """An answer."""
        self.seen.append(("answer", *call.arguments, call.data))

    async def run(self) -> None:
        """Make the requests, and serve until all is over."""
        if self.computes:
            await self.port.compute(1)
        for number, request in enumerate(self.traffic):
            if request.source == self.node:
                await self.port.request(1 - self.node, self.take, number, data=request.data)
        await self.port.until(lambda: self.port.handled >= self.due and not self.port.unanswered)

    async def _endless(self, what: float, times: int) -> None:
        """A computation that only messages interrupt: none may be left for its end."""
        while self.port.handled < self.due:
            await self.port.process.suspend()


class Hasty(Program):
    """A NIC that looks whether to interrupt when it has begun to move a message, and not when the message is there."""

    async def arrived(self) -> None:
        """See `Program`."""
        await super().arrived()
        await super().stored()

    async def stored(self) -> None:
        """See `Program`: too late for this one."""


class AmPlay:
    """Both programs, opened."""

    def __init__(self, traffic: Traffic, fine: bool, options: Choices, computes: bool, firmware: type[Program]) -> None:
        """`computes`: host 1 computes until all requests to it have come."""
        self.machine = machine(2, fine, sram_bytes=1 << 17, host_bytes=1 << 18)
        self.users: list[User] = []
        for node in range(2):
            view = ClusterView(**self.machine.view(node, **options))
            self.machine.processor(node).spawn(_main(self.machine.nic(node), view, firmware), "firmware")
            layer = Am(self.machine.host(node), view)
            self.machine.finish(layer.start())
            self.users.append(User(layer, node, traffic, computes and node == 1))

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [user.run for user in self.users]

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""
        return tuple(self.users[node].seen)

    def idle(self, node: int) -> str:
        """See `Play`."""
        nic = self.machine.nic(node)
        last = (Word.DESCRIPTORS + STRIDE * place + 4 * WORDS for place in range(Place(2).entries))
        left = sum(nic.load(at) != 0 for at in last)
        return f"NIC {node} has {left} descriptors left" if left else ""

    def normalise(self, node: int) -> None:
        """See `Play`: nothing needs it."""

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {}


async def _main(nic: Any, view: ClusterView, firmware: type[Program]) -> None:
    """The NIC's program once its driver is there, which the world waits for before it begins."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.MEMORY, 0, "am_look_memory")]).run()
    await firmware(nic, view, port).run()


@dataclass(frozen=True)
class Rules:
    """What a world of these requests promises."""

    traffic: Traffic

    def due(self, node: int) -> list[tuple[Any, ...]]:
        """Requests that come to a host, in their order."""
        return [("request", n, one.data) for n, one in enumerate(self.traffic) if one.source != node]

    def answers(self, node: int) -> list[tuple[Any, ...]]:
        """Answers that it must have, in their order."""
        return [("answer", n, one.data) for n, one in enumerate(self.traffic) if one.source == node]

    def always(self, node: int, record: Any) -> str:
        """See `Promise`."""
        for kind, due in (("request", self.due(node)), ("answer", self.answers(node))):
            came = [one for one in record if one[0] == kind]
            if came != due[: len(came)]:
                return f"host {node} has {came}, and should have {due}"
        return ""

    def at_end(self, node: int, record: Any) -> str:
        """See `Promise`."""
        lacking = len(self.due(node)) + len(self.answers(node)) - len(record)
        return f"host {node} lacks {lacking} messages" if lacking else ""


def say(packet: bytes) -> str:
    """A packet in words."""
    word = int.from_bytes(packet[4:8], "big")
    control = Control.of((word >> 27 & 1) << 30 | (word >> 25 & 3) << 28 | word & 0x1FFF)
    kind = ("request", "reply")[control.kind]
    return f"{'payload of a ' if word >> 28 & 1 else ''}{kind} in slot {control.slot}"
