"""PUT and GET: split-phase copies between the memories of nodes, made of requests and replies (paper 002).

Both are split into messages, which stay in order between two nodes. The handler of the last message increments the flag
on the node that receives the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from firmware.am.host.errors import AmError
from firmware.am.nic.layout import MOST
from firmware.common.host.payload import Data, MemoryRange
from firmware.verbs import Host

NO_FLAG = 0
"""Flag address of an operation without a flag."""
WORD = 4


class Port(Protocol):
    """Interface of a process that PUT and GET need."""

    host: Host

    async def request(self, node: int, handler: Any, *arguments: int, data: Data = b"") -> None:
        """Send a request."""

    def changed(self) -> None:
        """Make waiting tasks evaluate their conditions again."""


class Call(Protocol):
    """Interface of a received message that PUT and GET need."""

    arguments: tuple[int, ...]
    address: int
    size: int

    @property
    def port(self) -> Port:
        """Port that has received the message."""

    async def reply(self, handler: Any, *arguments: int, data: Data = b"") -> None:
        """Reply to the request."""


async def put_handler(call: Call) -> None:
    """Copy received data to their destination and increment the flag."""
    to, flag = call.arguments
    host = call.port.host
    if call.size:
        await host.copy_memory("am_copy", to, call.address, call.size)
    if flag != NO_FLAG:
        await host.spend("am_flag")
        (count,) = host.load_words(flag, 1)
        host.store_words(flag, (count + 1 & 0xFFFFFFFF,))
        call.port.changed()


async def get_handler(call: Call) -> None:
    """Reply to a GET with the PUT of the requested data."""
    address, size, to, flag = call.arguments
    await call.reply(put_handler, to, flag, data=MemoryRange(address, size))


async def put(port: Port, node: int, to: int, source: int, size: int, flag: int) -> None:
    """Copy bytes of this host to another node. Return when the last message is in the NIC's ring."""
    check("put", node, to, source, size, flag)
    for at, part in pieces(size):
        last = at + part == size
        await port.request(node, put_handler, to + at, flag if last else NO_FLAG, data=MemoryRange(source + at, part))


async def get(port: Port, node: int, source: int, to: int, size: int, flag: int) -> None:
    """Copy bytes of another node to this host. Return when the last request is in the NIC's ring."""
    check("get", node, to, source, size, flag)
    for at, part in pieces(size):
        last = at + part == size
        await port.request(node, get_handler, source + at, part, to + at, flag if last else NO_FLAG)


def check(what: str, node: int, to: int, source: int, size: int, flag: int) -> None:
    """Check size and addresses of a PUT or GET. Raises AmError."""
    what = f"{what} with node {node!r}"
    if type(size) is not int or size < 0:
        raise AmError(what, f"invalid size {size!r}", "give 0 or more bytes")
    for name, address in (("source", source), ("target", to), ("flag", flag)):
        if type(address) is not int or not 0 <= address < 1 << 32 or address % WORD:
            raise AmError(what, f"invalid {name} address {address!r}", f"give a physical address, a multiple of {WORD}")


def pieces(size: int) -> Iterator[tuple[int, int]]:
    """Yield offset and size of each message; a single empty one if `size` is 0."""
    for at in range(0, max(size, 1), MOST):
        yield at, min(MOST, size - at)
