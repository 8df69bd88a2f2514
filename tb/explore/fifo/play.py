"""Two programs that ask each other by HPAM or SSAM, over FIFO cards.

They serve without end, and look at the card all the while: a look that finds nothing leads nowhere (`Node.changing`).
HPAM reads the clock when it has looked; what moves the clock here is a timer of the program's own, which goes off when
nothing else can happen, and is longer than HPAM waits for any answer.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.host.hpam import Hpam
from firmware.host.hpam.sending import MOST_PATIENCE
from firmware.host.ssam import Ssam
from firmware.layers import ClusterView
from pymodels.nics.fifo.machine import FifoNic
from pymodels.nics.fifo.registers import Form, Size
from tb.explore.part import machine
from tb.explore.requests import Choices, Traffic, User

LEFT_OUT = (
    *("Options", "PageTable", "CodeImage", "Frames", "FifoPlay"),  # never change
    *("Daemon._sends", "Daemon.switch_ps", "Sender.resent", "Port.duplicates", "Port.damaged", "Port.polls"),  # count
    *("SsamKernel.traps", "SsamKernel.inside_ps", "SsamKernel._sends", "SsamKernel.copied"),  # the same
    *("Sent.trace", "Sent.send", "Area.traced"),  # describe
    "Sent.wait",  # the clock passes every deadline
)
PATIENCE_US = 1_000_000
PASSES_PS = (MOST_PATIENCE + 36) * PATIENCE_US * 1_000_000
"""The clock's step: every deadline is long over behind it."""


class Server(User):
    """A program that serves for ever."""

    async def serve(self) -> None:
        """See `User`."""
        await self.port.until(lambda: False)


class Patient(Server):
    """One on a host whose time passes until all its requests are answered."""

    async def run(self) -> None:
        """See `User`."""
        self.port.process.host.spawn(self._clock(), "clock")
        await super().run()

    async def _clock(self) -> None:
        due = sum(request.source == self.node for request in self.traffic)
        while sum(kind == "answer" for kind, *_ in self.seen) < due:
            await self.port.process.host.sleep(PASSES_PS, "time")


LAYERS: dict[str, tuple[type[Hpam | Ssam], type[Server]]] = {"hpam": (Hpam, Patient), "ssam": (Ssam, Server)}


class FifoPlay:
    """Both programs, opened."""

    def __init__(self, layer: str, traffic: Traffic, options: Choices, flaw: Callable[[], None] | None) -> None:
        """`layer`: hpam or ssam. `flaw`: breaks its software first."""
        if flaw:
            flaw()
        self.machine = machine(2, False, nic="fifo", host_bytes=1 << 17)
        self.users: list[Server] = []
        kind, program = LAYERS[layer]
        for node in range(2):
            host, view = self.machine.host(node), ClusterView(**self.machine.view(node, **options))
            user, opened = program(node, traffic), kind(host, view)
            self.machine.finish(opened.start())
            (user.port,) = self.machine.finish(opened.open([user.take, user.answered]))
            self.users.append(user)

    def programs(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """See `Play`."""
        return [user.run for user in self.users]

    def record(self, node: int) -> tuple[Any, ...]:
        """See `Play`."""
        return tuple(self.users[node].seen)

    def idle(self, node: int) -> str:
        """See `Play`."""
        left = self._nic(node).receive.level
        return f"card {node} has {left} packets left" if left else ""

    def normalise(self, node: int) -> None:
        """See `Play`: free buffers are alike, what they hold is nobody's, and what the card has sent is gone."""
        nic = self._nic(node)
        memory, line = nic.memories
        if nic.receive.form is Form.BUFFERS:
            free = sorted(nic.receive.pool)
            nic.receive.pool.clear()
            nic.receive.pool.extend(free)
            for number in free:
                memory.write(Size.BUFFER * number, bytes(Size.BUFFER))
        if not nic.send.busy:
            line.write(0, bytes(line.size))

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {}

    def _nic(self, node: int) -> FifoNic:
        nic = self.machine.nics[node]
        assert isinstance(nic, FifoNic)
        return nic
