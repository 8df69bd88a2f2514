"""Two programs that ask each other over cards without a processor.

They serve without end, and look at the card all the while: a look that finds nothing is rest (`SmallWorld.serves`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, cast

from firmware.verbs import Host
from firmware.view import ClusterView
from tb.explore.part import CardNic, machine
from tb.explore.requests import Choices, Traffic, User

LEFT_OUT = ("CardPlay", "Options", "PageTable", "CodeImage", "Frames")
"""Classes that never change."""


class Layer(Protocol):
    """A layer of one host."""

    async def start(self) -> None:
        """Once a host."""

    async def open(self, handlers: Any) -> Any:
        """The port of a new process."""


class Server(User):
    """A program that serves for ever."""

    async def serve(self) -> None:
        """See `User`."""
        await self.port.until(lambda: False)


class CardPlay:
    """Both programs, opened."""

    def __init__(
        self,
        layer: Callable[[Host, ClusterView], Layer],
        nic: str,
        program: type[Server],
        traffic: Traffic,
        options: Choices,
        flaw: Callable[[], None] | None,
    ) -> None:
        """`nic`: the kind of the cards. `flaw`: breaks their software first."""
        if flaw:
            flaw()
        self.machine = machine(2, False, nic=nic, host_bytes=1 << 17)
        self.users: list[Server] = []
        for node in range(2):
            user, view = program(node, traffic), ClusterView(**self.machine.view(node, **options))
            opened = layer(self.machine.host(node), view)
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
        """See `Play`."""
        self._nic(node).forget()

    def blind(self, node: int) -> dict[str, list[tuple[int, int]]]:
        """See `Play`."""
        return {}

    def _nic(self, node: int) -> CardNic:
        return cast(CardNic, self.machine.nics[node])
