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
"""The first port that a socket without one gets."""


MOST_ROOM = 1 << 20
"""Bytes of datagrams that a socket may be let hold."""


class Received(NamedTuple):
    """A datagram that was received."""

    node: int
    port: int
    size: int
    """Bytes that were stored."""
    whole: int
    """Bytes that it had: what did not fit is lost."""
    arrived: int = 0
    """When it came to the socket, ps."""


class Socket:
    """Of one process. Addresses are its virtual ones."""

    def __init__(self, kernel: UdpKernel, process: Process) -> None:
        self.process = process
        self._kernel, self._host = kernel, kernel.host
        self._port: Port | None = None
        self._peer: tuple[int, int] | None = None
        self.closed = False

    # ---- names

    async def bind(self, port: int) -> None:
        """Have a port of the host. EINVAL: it has one already; EADDRINUSE, EADDRNOTAVAIL."""
        await self._enter("bind", self._host.spend("udp_bind"))
        if self._port is not None:
            raise self._error(
                "bind", "EINVAL", f"it has port {self._port.number}", "bind a socket once, before sending"
            )
        if type(port) is not int or not 0 < port < PORTS:
            raise self._error("bind", "EADDRNOTAVAIL", f"there is no port {port!r}", f"give 1 to {PORTS - 1}")
        if port in self._kernel.ports:
            raise self._error("bind", "EADDRINUSE", f"port {port} of this host is in use", "take another one")
        self._open(port)

    async def connect(self, node: int, port: int) -> None:
        """Send to (node, port) by `send`, and take datagrams from there alone. ENETUNREACH, EADDRNOTAVAIL."""
        await self._enter("connect", self._host.spend("udp_connect"))
        self._check(node, port, "connect")
        self._peer = self._bound.peer = node, port

    async def set_async(self, on: bool) -> None:
        """Set O_ASYNC (fcntl): the process has SIGIO for each datagram that comes."""
        await self._enter("set_async", self._host.spend("udp_option"))
        self._bound.signals = on

    async def set_room(self, size: int) -> None:
        """Let datagrams of so many bytes, with their headers, stand here (setsockopt with SO_RCVBUF). EINVAL."""
        await self._enter("set_room", self._host.spend("udp_option"))
        if not 0 < size <= MOST_ROOM:
            raise self._error("set_room", "EINVAL", f"room for {size} bytes", f"give 1 to {MOST_ROOM}")
        port = self._bound
        port.room, port.most = port.room + size - port.most, size

    async def close(self) -> None:
        """Its port is free; what has come is lost."""
        await self._enter("close", self._host.spend("udp_close"))
        self.closed = True
        if self._port is not None:
            self._kernel.close(self._port)

    @property
    def port(self) -> int:
        """Its number; 0: it has none yet."""
        return 0 if self._port is None else self._port.number

    def _open(self, number: int) -> Port:
        self._port = self._kernel.open(number, self.process)
        self._port.peer = self._peer
        return self._port

    @property
    def _bound(self) -> Port:
        """Its port; one that is free, if it has none."""
        if self._port is not None:
            return self._port
        return self._open(next(number for number in range(EPHEMERAL, PORTS) if number not in self._kernel.ports))

    # ---- data

    async def sendto(self, va: int, size: int, node: int, port: int) -> None:
        """Send bytes of memory. Returns when they are copied. EMSGSIZE, EFAULT, ENETUNREACH, EADDRNOTAVAIL."""
        await self._send("sendto", va, size, (node, port))

    async def send(self, va: int, size: int) -> None:
        """Send bytes of memory to where the socket is connected; EDESTADDRREQ, and as `sendto`."""
        await self._send("send", va, size, self._peer)

    async def _send(self, call: str, va: int, size: int, to: tuple[int, int] | None) -> None:
        self._kernel.sent += 1
        number = self._kernel.sent
        self._host.trace(TraceEvent.SEND_CALL, 0, max(0, size), number)
        await self.process.in_kernel(self._in_kernel(call, va, size, to, number))

    async def _in_kernel(self, call: str, va: int, size: int, to: tuple[int, int] | None, number: int) -> None:
        self._open_still(call)
        if to is None:
            raise self._error(call, "EDESTADDRREQ", "it is not connected", "connect it, or use sendto")
        self._check(*to, call)
        if not 0 <= size <= MOST_DATA:
            raise self._error(call, "EMSGSIZE", f"a datagram of {size} bytes", f"give 0 to {MOST_DATA}")
        pieces = self._pieces(call, va, size, write=False)
        await self._kernel.send(pieces, size, (self._bound.number, *to), number)

    async def recv(self, va: int, size: int, wait: bool = True) -> Received:
        """As `recvfrom`."""
        return await self.recvfrom(va, size, wait)

    async def recvfrom(self, va: int, size: int, wait: bool = True) -> Received:
        """Receive the oldest datagram into `size` bytes of memory; sleep until there is one. Handlers of signals run
        meanwhile, and it goes on. EFAULT; EAGAIN: there is none, and it is not to wait.
        """
        slept = False
        while True:
            got = await self.process.in_kernel(self._take(va, size), slept)
            if got is not None:
                return got
            if not wait:
                raise self._error("recvfrom", "EAGAIN", "no datagram is here", "wait, or look with select")
            slept = await self.sleep([self], self._host.event(self._what()[0]))

    async def _take(self, va: int, size: int) -> Received | None:
        """In the kernel."""
        self._open_still("recvfrom")
        pieces = self._pieces("recvfrom", va, size, write=True)
        datagram = await self._kernel.take(self._bound, pieces, size)
        if datagram is None:
            return None
        self._host.trace(TraceEvent.HANDLER_START, datagram.key, 0, datagram.source)
        head = datagram.head
        return Received(datagram.source, head.source, min(size, datagram.size), datagram.size, datagram.arrived)

    # ---- for select

    def ready(self) -> bool:
        """Whether a datagram is here; its checksum may be wrong."""
        self._open_still("select")
        return bool(self._bound.came)

    async def sleep(self, sockets: Sequence[Socket], until: Signal, end_ps: int | None = None) -> bool:
        """Sleep until a datagram comes to one of the process's sockets, or until it is set, at a time; False: a handler
        ran. The handlers that ran at the end of the last call may have taken longer than it takes to come.
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
        """For reports: what who receives waits for, and who has it."""
        host = "" if self._peer is None else f"host {self._kernel.names[self._peer[0]]}"
        return f"a datagram at port {self._bound.number}", host

    # ---- checks

    async def _enter(self, call: str, work: Coroutine[Any, Any, None]) -> None:
        """A call that takes this in the kernel."""
        await self.process.in_kernel(work)
        self._open_still(call)

    def _open_still(self, call: str) -> None:
        if self.closed:
            raise self._error(call, "EBADF", "it is closed", "make another one")

    def _check(self, node: int, port: int, call: str) -> None:
        if node not in self._kernel.others:
            known = ", ".join(map(str, sorted(self._kernel.others)))
            raise self._error(call, "ENETUNREACH", f"nothing goes to node {node!r}", f"send to one of {known}")
        if type(port) is not int or not 0 < port < PORTS:
            raise self._error(call, "EADDRNOTAVAIL", f"there is no port {port!r}", f"give 1 to {PORTS - 1}")

    def _pieces(self, call: str, va: int, size: int, write: bool) -> list[tuple[int, int]]:
        if size < 0:
            raise self._error(call, "EINVAL", f"{size} bytes of memory", "give 0 or more")
        try:
            return self.process.pieces(va, size, write)
        except ProtectionFault as refused:
            cause = f"{refused.args[1]} at {refused.address:#x}: {refused.args[3]}"
            raise self._error(call, "EFAULT", cause, "give memory of the process that allows it") from refused

    def _error(self, call: str, code: str, cause: str, remedy: str) -> UdpError:
        port = f", port {self._port.number}" if self._port else ""
        return UdpError(f"{self.process.who}: {call} of a socket{port}", code, cause, remedy)
