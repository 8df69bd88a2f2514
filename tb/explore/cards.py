"""Two programs that send requests to each other over cards without a processor.

The programs serve for ever and poll the card: a poll that finds nothing counts as rest (`SmallWorld.serves`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, cast

from firmware.verbs import Host
from firmware.view import ClusterView
from tb.explore.part import CardNic, machine
from tb.explore.requests import Choices, Traffic, User

LEFT_OUT = ("CardPlay", "Options", "PageTable", "CodeImage", "Frames")
"""Classes whose objects never change."""


class Layer(Protocol):
    """Message layer of one host."""

    async def start(self) -> None:
        """Start the layer, once for each host."""

    async def open(self, handlers: Any) -> Any:
        """Return the port of a new process."""


class Server(User):
    """Program that serves for ever."""

    async def serve(self) -> None:
        """See `User`."""
        await self.port.until(lambda: False)


class CardPlay:
    """World of two programs with open ports."""

    def __init__(
        self,
        layer: Callable[[Host, ClusterView], Layer],
        nic: str,
        program: type[Server],
        traffic: Traffic,
        options: Choices,
        flaw: Callable[[], None] | None,
    ) -> None:
        """Create the machine and open the ports.

        Args:
            layer: Constructor of the message layer.
            nic: Kind of the cards.
            program: Class of the programs.
            traffic: Requests of both hosts.
            options: Options of the layer.
            flaw: Function that injects a known flaw into the software first.
        """
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
