"""PUT and GET: split-phase copies between the memories of nodes, made of requests and replies (paper 002).

Both are cut into messages. Those of a pair of nodes stay in order, so the last one tells of all: its handler counts the
flag up, on the node that has the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from firmware.am.host.data import Data, Stretch
from firmware.am.host.errors import AmError
from firmware.am.nic.layout import MOST
from firmware.verbs import Host

NOBODY = 0
"""Address of no flag."""
WORD = 4


class Port(Protocol):
    """What is needed of a process."""

    host: Host

    async def request(self, node: int, handler: Any, *arguments: int, data: Data = b"") -> None:
        """Send a request."""

    def changed(self) -> None:
        """Memory that the process may wait for has changed."""


class Call(Protocol):
    """What is needed of a message."""

    arguments: tuple[int, ...]
    address: int
    size: int

    @property
    def port(self) -> Port:
        """The process that it has come to."""

    async def reply(self, handler: Any, *arguments: int, data: Data = b"") -> None:
        """Answer a request."""


async def put_handler(call: Call) -> None:
    """Data have come: bring them to their place, and count the flag up."""
    to, flag = call.arguments
    host = call.port.host
    if call.size:
        await host.copy_memory("am_copy", to, call.address, call.size)
    if flag != NOBODY:
        await host.spend("am_flag")
        (count,) = host.load_words(flag, 1)
        host.store_words(flag, (count + 1 & 0xFFFFFFFF,))
        call.port.changed()


async def get_handler(call: Call) -> None:
    """Data are wanted: answer with a PUT."""
    address, size, to, flag = call.arguments
    await call.reply(put_handler, to, flag, data=Stretch(address, size))


async def put(port: Port, node: int, to: int, source: int, size: int, flag: int) -> None:
    """Copy bytes of this host's to another. Returns when the last message is in the NIC's ring."""
    check("put", node, to, source, size, flag)
    for at, part in pieces(size):
        last = at + part == size
        await port.request(node, put_handler, to + at, flag if last else NOBODY, data=Stretch(source + at, part))


async def get(port: Port, node: int, source: int, to: int, size: int, flag: int) -> None:
    """Copy bytes of another host's to this one. Returns when the last request is in the NIC's ring."""
    check("get", node, to, source, size, flag)
    for at, part in pieces(size):
        last = at + part == size
        await port.request(node, get_handler, source + at, part, to + at, flag if last else NOBODY)


def check(what: str, node: int, to: int, source: int, size: int, flag: int) -> None:
    """Raises AmError for what no PUT or GET can be."""
    what = f"a {what} with node {node!r}"
    if type(size) is not int or size < 0:
        raise AmError(what, f"{size!r} bytes", "give 0 or more")
    for name, address in (("source", source), ("target", to), ("flag", flag)):
        if type(address) is not int or not 0 <= address < 1 << 32 or address % WORD:
            raise AmError(what, f"its {name} is at {address!r}", f"give a physical address, a multiple of {WORD}")


def pieces(size: int) -> Iterator[tuple[int, int]]:
    """Offset and bytes of each message; one without data for no bytes."""
    for at in range(0, max(size, 1), MOST):
        yield at, min(MOST, size - at)
