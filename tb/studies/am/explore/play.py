"""Two AM programs that send each other requests, and a NIC with an interrupt race."""

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
    """Program of a host that computes until all requests to it have arrived."""

    async def run(self) -> None:
        """Run the program (see `User`)."""
        setattr(self.port.process, "compute", self._endless)  # noqa: B010 - whose end comes when all has come
        await self.port.compute(1)
        await super().run()

    async def _endless(self, what: float, times: int) -> None:
        """Compute until all requests are handled; every one must interrupt."""
        while self.port.handled < self.due:
            await self.port.process.suspend()


class Hasty(Program):
    """Faulty NIC that tests for the interrupt when the DMA of a message starts instead of when it has finished."""

    async def arrived(self) -> None:
        """Handle a packet and test for the interrupt too early."""
        await super().arrived()
        await super().stored()

    async def stored(self) -> None:
        """Ignore the end of the DMA."""


class AmPlay:
    """Two hosts with open AM ports."""

    def __init__(self, traffic: Traffic, fine: bool, options: Choices, computes: bool, firmware: type[Program]) -> None:
        """Start AM on two hosts. With `computes`, host 1 computes until all requests to it have arrived."""
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
        """Return the programs (see `Play`)."""
        return [user.run for user in self.users]

    def record(self, node: int) -> tuple[Any, ...]:
        """Return the messages received by a node (see `Play`)."""
        return tuple(self.users[node].seen)

    def idle(self, node: int) -> str:
        """Return a description of leftover work of a NIC, or an empty string (see `Play`)."""
        nic = self.machine.nic(node)
        last = (Word.DESCRIPTORS + STRIDE * place + 4 * WORDS for place in range(Place(2).entries))
        left = sum(nic.load(at) != 0 for at in last)
        return f"NIC {node} has {left} descriptors left" if left else ""

    def normalise(self, node: int) -> None:
        """Do nothing: the state needs no normalisation (see `Play`)."""

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """Return no memory ranges to ignore (see `Play`)."""
        return {}


async def _main(nic: Any, view: ClusterView, firmware: type[Program]) -> None:
    """Run the firmware; the world starts when the driver is ready."""
    port = packet_port(nic, view, PORT, MOST)
    await nic.poll_loop([Watch(Word.MEMORY, 0, "am_look_memory")]).run()
    await firmware(nic, view, port).run()


def say(packet: bytes) -> str:
    """Return a description of a packet."""
    word = int.from_bytes(packet[4:8], "big")
    control = Control.decode((word >> 27 & 1) << 30 | (word >> 25 & 3) << 28 | word & 0x1FFF)
    kind = ("request", "reply")[control.kind]
    return f"{'payload of a ' if word >> 28 & 1 else ''}{kind} in slot {control.slot}"
