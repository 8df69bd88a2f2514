"""Family Communicator: the endpoints of communication.

A Link joins two hosts, a Port is addressed and answered, a Mailbox is drained by any process of its owner. A Port sends
its number in 4 bytes before the payload; a Link and a Mailbox send only the payload.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from firmware.epos.host.errors import EposError
from firmware.epos.host.families.channels import Channel, Datagram, Stream
from firmware.epos.host.families.network import Network


class Letter(NamedTuple):
    """Received datagram and its sender."""

    node: int
    number: int
    """Number of the sender's Port; for a Mailbox its own number."""
    data: bytes


class Member:
    """Communicator with a number, over a channel; `peer` is the node at the other end, if the member has one."""

    header: ClassVar[int] = 0
    """Bytes that the member sends before the payload of each message."""
    joined: ClassVar[bool] = False
    """True if the member has one fixed peer."""
    offers: ClassVar[dict[type[Channel], tuple[str, ...]]] = {}
    """Calls of the member over each supported channel."""

    def __init__(self, network: Network, number: int, peer: int, channel: type[Channel]) -> None:
        network.open(number)
        self.network, self.number, self.peer = network, number, peer
        self.strays = 0
        """Number of messages from nodes other than the peer."""
        self._channel: Any = channel(self)
        self._calls = self.offers[channel]
        self._name = f"{network.epos.host.who}: a {type(self).__name__} over a {channel.__name__}"

    @property
    def header_bytes(self) -> int:
        """Bytes that the member sends before the payload of each message."""
        return self.header

    def check_call(self, name: str) -> None:
        """Raise EposError for a call that the member does not offer over its channel."""
        if name not in self._calls:
            raise EposError(self._name, f"it has no {name!r}", f"it has {', '.join(self._calls)}")

    async def carry(self, node: int, data: bytes) -> None:
        """Send a message to the communicator of the same number."""
        await self.network.send(node, data, self.number)

    async def take(self) -> tuple[int, int, bytes]:
        """Return node, sender's number and bytes of the next message."""
        message = await self.network.receive(self.number)
        return message.source, self.number, message.data


class Link(Member):
    """Communicator that joins two hosts, so that its calls need no address."""

    joined = True
    offers = {Datagram: ("send", "receive"), Stream: ("write", "read")}  # noqa: RUF012 - never changed

    async def take(self) -> tuple[int, int, bytes]:
        """Return the next message from the peer."""
        while True:
            message = await self.network.receive(self.number)
            await self.network.epos.host.spend("epos_link_take")
            if message.source == self.peer:
                return self.peer, self.number, message.data
            self.strays += 1

    async def send(self, data: bytes) -> None:
        """Send a datagram to the peer."""
        self.check_call("send")
        await self._channel.put(self.peer, data)

    async def write(self, data: bytes) -> None:
        """Send bytes to the peer."""
        self.check_call("write")
        await self._channel.put(self.peer, data)

    async def receive(self) -> bytes:
        """Return the next datagram of the peer."""
        self.check_call("receive")
        return (await self._channel.get())[2]  # type: ignore[no-any-return]

    async def read(self, most: int) -> bytes:
        """Return the next bytes of the peer, at least one and at most `most`."""
        self.check_call("read")
        return await self._channel.get(self.peer, most)  # type: ignore[no-any-return]


class Port(Member):
    """Communicator that sends to ports of any node; a received datagram names its sender, and can be answered."""

    header = 4
    offers = {Datagram: ("send", "receive", "reply"), Stream: ("write", "read")}  # noqa: RUF012 - never changed

    async def carry(self, node: int, data: bytes) -> None:
        """Send a message, with this port's number, to the port of the same number."""
        await self._to(node, self.number, data)

    async def _to(self, node: int, number: int, data: bytes) -> None:
        await self.network.epos.host.spend("epos_port_header")
        await self.network.send(node, self.number.to_bytes(self.header, "big") + data, number)

    async def take(self) -> tuple[int, int, bytes]:
        """Return the next message without its header."""
        message = await self.network.receive(self.number)
        await self.network.epos.host.spend("epos_port_take")
        return message.source, int.from_bytes(message.data[: self.header], "big"), message.data[self.header :]

    async def send(self, node: int, data: bytes, number: int | None = None) -> None:
        """Send a datagram to a port of a node, of the same number if `number` is None."""
        self.check_call("send")
        if number is None:
            await self._channel.put(node, data)
        else:
            await self._to(node, number, data)

    async def write(self, node: int, data: bytes) -> None:
        """Send bytes to a node."""
        self.check_call("write")
        await self._channel.put(node, data)

    async def receive(self) -> Letter:
        """Return the next datagram of any port."""
        self.check_call("receive")
        return Letter(*await self._channel.get())

    async def reply(self, letter: Letter, data: bytes) -> None:
        """Answer a datagram: send to the port from which it came."""
        self.check_call("reply")
        await self._to(letter.node, letter.number, data)

    async def read(self, node: int, most: int) -> bytes:
        """Return the next bytes of a node, at least one and at most `most`."""
        self.check_call("read")
        return await self._channel.get(node, most)  # type: ignore[no-any-return]


class Mailbox(Member):
    """Communicator to which any node sends, and from which any process of its owner takes the next message."""

    offers = {Datagram: ("send", "receive")}  # noqa: RUF012 - never changed

    async def send(self, node: int, data: bytes) -> None:
        """Send a datagram to the mailbox of the same number."""
        await self._channel.put(node, data)

    async def receive(self) -> Letter:
        """Return the next datagram. Each datagram is given to one process."""
        return Letter(*await self._channel.get())


def refuse(member: type[Member], network: Network, cause: str, remedy: str) -> EposError:
    """Return the error for a communicator that cannot be built."""
    return EposError(f"{network.epos.host.who}: a {member.__name__}", cause, remedy)
