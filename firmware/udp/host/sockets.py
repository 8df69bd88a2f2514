"""Sockets of a process: the calls of the BSD interface, each a system call."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple

from firmware.udp.formats import MOST_DATA, PORTS
from firmware.udp.host.errors import UdpError
from firmware.udp.host.kernel import Port, UdpKernel
from firmware.verbs import Signal
from pymodels.host import Process, ProtectionFault
from pymodels.trace import TraceEvent

EPHEMERAL = 1024
"""First port assigned to a socket without a port."""


MOST_ROOM = 1 << 20
"""Largest receive room of a socket in bytes."""


class Received(NamedTuple):
    """Result of receiving a datagram."""

    node: int
    port: int
    size: int
    """Number of bytes stored."""
    whole: int
    """Number of bytes of the datagram; those that do not fit are lost."""
    arrived: int = 0
    """Arrival at the socket, ps."""


class Socket:
    """Socket of one process. Addresses are virtual ones of the process."""

    def __init__(self, kernel: UdpKernel, process: Process) -> None:
        self.process = process
        self._kernel, self._host = kernel, kernel.host
        self._port: Port | None = None
        self._peer: tuple[int, int] | None = None
        self.closed = False

    # ---- ports and settings

    async def bind(self, port: int) -> None:
        """Bind to a port of the host. Raises UdpError: EINVAL if already bound, EADDRINUSE, EADDRNOTAVAIL."""
        await self._enter("bind", self._host.spend("udp_bind"))
        if self._port is not None:
            raise self._error(
                "bind", "EINVAL", f"the socket has port {self._port.number}", "bind a socket once, before it sends"
            )
        if type(port) is not int or not 0 < port < PORTS:
            raise self._error("bind", "EADDRNOTAVAIL", f"invalid port {port!r}", f"give 1 to {PORTS - 1}")
        if port in self._kernel.ports:
            raise self._error("bind", "EADDRINUSE", f"port {port} of this host is in use", "use another port")
        self._open(port)

    async def connect(self, node: int, port: int) -> None:
        """Set the destination of `send` and the only accepted source. Raises UdpError: ENETUNREACH, EADDRNOTAVAIL."""
        await self._enter("connect", self._host.spend("udp_connect"))
        self._check(node, port, "connect")
        self._peer = self._bound.peer = node, port

    async def set_async(self, on: bool) -> None:
        """Set or clear O_ASYNC (fcntl): the process gets SIGIO for each datagram."""
        await self._enter("set_async", self._host.spend("udp_option"))
        self._bound.signals = on

    async def set_room(self, size: int) -> None:
        """Set the room for received datagrams in bytes, headers included (SO_RCVBUF). Raises UdpError: EINVAL."""
        await self._enter("set_room", self._host.spend("udp_option"))
        if not 0 < size <= MOST_ROOM:
            raise self._error("set_room", "EINVAL", f"room for {size} bytes", f"give 1 to {MOST_ROOM}")
        port = self._bound
        port.room, port.most = port.room + size - port.most, size

    async def close(self) -> None:
        """Close the socket, free its port, and drop its datagrams."""
        await self._enter("close", self._host.spend("udp_close"))
        self.closed = True
        if self._port is not None:
            self._kernel.close(self._port)

    @property
    def port(self) -> int:
        """Bound port number, or 0."""
        return 0 if self._port is None else self._port.number

    def _open(self, number: int) -> Port:
        self._port = self._kernel.open(number, self.process)
        self._port.peer = self._peer
        return self._port

    @property
    def _bound(self) -> Port:
        """Bound port; binds to a free one if necessary."""
        if self._port is not None:
            return self._port
        return self._open(next(number for number in range(EPHEMERAL, PORTS) if number not in self._kernel.ports))

    # ---- data

    async def sendto(self, va: int, size: int, node: int, port: int) -> None:
        """Send bytes of memory. Return when they are copied.

        Args:
            va: address of the bytes.
            size: number of bytes, at most 65507.
            node: destination node.
            port: destination port.

        Raises:
            UdpError: EMSGSIZE, EFAULT, ENETUNREACH, EADDRNOTAVAIL.
        """
        await self._send("sendto", va, size, (node, port))

    async def send(self, va: int, size: int) -> None:
        """Send bytes of memory to the connected peer. Raises UdpError: EDESTADDRREQ, and those of `sendto`."""
        await self._send("send", va, size, self._peer)

    async def _send(self, call: str, va: int, size: int, to: tuple[int, int] | None) -> None:
        self._kernel.sent += 1
        number = self._host.message()
        self._host.trace(TraceEvent.SEND_CALL, 0, max(0, size), message=number)
        await self.process.in_kernel(self._in_kernel(call, va, size, to, number))

    async def _in_kernel(self, call: str, va: int, size: int, to: tuple[int, int] | None, number: int) -> None:
        self._open_still(call)
        if to is None:
            raise self._error(call, "EDESTADDRREQ", "the socket is not connected", "connect it, or use sendto")
        self._check(*to, call)
        if not 0 <= size <= MOST_DATA:
            raise self._error(call, "EMSGSIZE", f"a datagram of {size} bytes", f"give 0 to {MOST_DATA}")
        pieces = self._pieces(call, va, size, write=False)
        await self._kernel.send(pieces, size, (self._bound.number, *to), number)

    async def recv(self, va: int, size: int, wait: bool = True) -> Received:
        """Receive the oldest datagram (see `recvfrom`)."""
        return await self.recvfrom(va, size, wait)

    async def recvfrom(self, va: int, size: int, wait: bool = True) -> Received:
        """Receive the oldest datagram, sleeping until there is one. Signal handlers run meanwhile.

        Args:
            va: address of the receive memory.
            size: bytes of the receive memory; a longer datagram is cut.
            wait: False raises EAGAIN instead of sleeping.

        Raises:
            UdpError: EFAULT, EINVAL, EAGAIN.
        """
        slept = False
        while True:
            got = await self.process.in_kernel(self._take(va, size), slept)
            if got is not None:
                return got
            if not wait:
                raise self._error("recvfrom", "EAGAIN", "no datagram has arrived", "wait, or use select")
            slept = await self.sleep([self], self._host.event(self._what()[0]))

    async def _take(self, va: int, size: int) -> Received | None:
        """Take a datagram (in the kernel)."""
        self._open_still("recvfrom")
        pieces = self._pieces("recvfrom", va, size, write=True)
        datagram = await self._kernel.take(self._bound, pieces, size)
        if datagram is None:
            return None
        self._host.trace(TraceEvent.HANDLER_START, datagram.key, 0, datagram.source, message=datagram.message)
        head = datagram.head
        return Received(datagram.source, head.source, min(size, datagram.size), datagram.size, datagram.arrived)

    # ---- for select

    def ready(self) -> bool:
        """Return True if a datagram has arrived; its checksum may be wrong."""
        self._open_still("select")
        return bool(self._bound.came)

    async def sleep(self, sockets: Sequence[Socket], until: Signal, end_ps: int | None = None) -> bool:
        """Sleep until a datagram arrives at one of the sockets, `until` is set, or the time `end_ps` is reached.

        Return False if a signal handler ran meanwhile. Returns at once if a datagram arrived during handlers of the
        last call.
        """
        if any(one.closed or one._bound.came for one in sockets) or (end_ps is not None and self._host.now >= end_ps):
            return True
        waits, who = self._host.waits, self.process.who
        for one in sockets:
            one._bound.sleepers.append(until)
            waits.want(who, *one._what())
        try:
            return await self.process.block(until)
        finally:
            for one in sockets:
                one._bound.sleepers.remove(until)
                waits.got(who, one._what()[0])

    def _what(self) -> tuple[str, str]:
        """Return the wait of a receiver and its holder for a hang report."""
        host = "" if self._peer is None else f"host {self._kernel.names[self._peer[0]]}"
        return f"a datagram at port {self._bound.number}", host

    # ---- checks

    async def _enter(self, call: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a call in the kernel and check that the socket is open."""
        await self.process.in_kernel(work)
        self._open_still(call)

    def _open_still(self, call: str) -> None:
        if self.closed:
            raise self._error(call, "EBADF", "the socket is closed", "create another one")

    def _check(self, node: int, port: int, call: str) -> None:
        if node not in self._kernel.others:
            known = ", ".join(map(str, sorted(self._kernel.others)))
            raise self._error(call, "ENETUNREACH", f"unknown node {node!r}", f"send to one of {known}")
        if type(port) is not int or not 0 < port < PORTS:
            raise self._error(call, "EADDRNOTAVAIL", f"invalid port {port!r}", f"give 1 to {PORTS - 1}")

    def _pieces(self, call: str, va: int, size: int, write: bool) -> list[tuple[int, int]]:
        if size < 0:
            raise self._error(call, "EINVAL", f"{size} bytes of memory", "give 0 or more bytes")
        try:
            return self.process.pieces(va, size, write)
        except ProtectionFault as refused:
            cause = f"{refused.args[1]} at {refused.address:#x}: {refused.args[3]}"
            raise self._error(call, "EFAULT", cause, "give memory of the process that allows it") from refused

    def _error(self, call: str, code: str, cause: str, remedy: str) -> UdpError:
        port = f", port {self._port.number}" if self._port else ""
        return UdpError(f"{self.process.who}: {call} of a socket{port}", code, cause, remedy)
