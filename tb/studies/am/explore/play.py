"""Two programs that ask each other by AM, and a NIC that is too hasty."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.am.host import Am
from firmware.am.nic.layout import MOST, PORT, STRIDE, WORDS, Control, Place, Word
from firmware.am.nic.program import Program
from firmware.common.nic import packet_port
from firmware.verbs import Watch
from firmware.view import ClusterView
from tb.explore.part import machine
from tb.explore.requests import Choices, Traffic, User

LEFT_OUT = (
    *("Interrupts.count", "Signals.delivered"),  # count
    *("AmPlay", "Place", "Options", "PageTable", "CodeImage"),  # never change
)


class Computing(User):
    """The program of a host that computes until all requests to it have come."""

    async def run(self) -> None:
        """See `User`."""
        setattr(self.port.process, "compute", self._endless)  # noqa: B010 - whose end comes when all has come
        await self.port.compute(1)
        await super().run()

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
            user = Computing(node, traffic) if computes and node == 1 else User(node, traffic)
            user.port = layer.open([user.take, user.answered])
            self.users.append(user)

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


def say(packet: bytes) -> str:
    """A packet in words."""
    word = int.from_bytes(packet[4:8], "big")
    control = Control.of((word >> 27 & 1) << 30 | (word >> 25 & 3) << 28 | word & 0x1FFF)
    kind = ("request", "reply")[control.kind]
    return f"{'payload of a ' if word >> 28 & 1 else ''}{kind} in slot {control.slot}"
