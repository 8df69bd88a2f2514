"""IP and UDP in the kernel of one host: sends datagrams as frames and delivers frames as datagrams to sockets."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from firmware.udp.formats import (
    IP_BYTES,
    UDP,
    UDP_BYTES,
    FormatError,
    Ip,
    Udp,
    address,
    datagram_sum,
    is_right,
    node_of,
    parts,
)
from firmware.udp.host.driver import Driver, Frame
from firmware.udp.host.reassembly import Reassembly
from firmware.udp.options import Options
from firmware.verbs import Host, Signal
from firmware.view import ClusterView
from pymodels.host import Process, Sig
from pymodels.trace import TraceEvent

LINE = 32
"""Bytes of one turn of a copy or checksum loop."""


@dataclass
class Datagram:
    """Complete datagram in its frames."""

    source: int
    """Sending node."""
    head: Udp
    frames: list[Frame]
    key: int
    """Trace key of the frame that completed it."""
    arrived: int
    """Time of that frame, ps."""
    message: int
    """Number of the datagram in the trace."""

    @property
    def size(self) -> int:
        """Data bytes."""
        return self.head.size - UDP_BYTES

    def pieces(self) -> list[tuple[int, int]]:
        """Return physical address and size of each piece of the data, in order."""
        skips = [IP_BYTES + (UDP_BYTES if index == 0 else 0) for index in range(len(self.frames))]
        return [(one.address + skip, one.size - skip) for one, skip in zip(self.frames, skips, strict=True)]


@dataclass
class Port:
    """Port in use, and its received datagrams."""

    number: int
    process: Process
    room: int
    """Bytes of datagrams that fit at present."""
    most: int
    """Bytes of datagrams that fit when the port is empty."""
    peer: tuple[int, int] | None = None
    """Only node and port accepted as source, or None for all."""
    signals: bool = False
    """True if the process gets SIGIO for each datagram."""
    came: deque[Datagram] = field(default_factory=deque)
    sleepers: list[Signal] = field(default_factory=list)
    """Events of threads that wait for a datagram."""

    def wake(self) -> None:
        """Wake the waiting threads."""
        for one in self.sleepers:
            one.set()


class UdpKernel:
    """UDP code of one host's kernel; a process enters it by `Process.in_kernel`."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self._me = host, view.me
        self.names = view.names
        self.others = frozenset(node for node in view.routes if node != view.me)
        """Nodes to which datagrams can be sent."""
        self._options = Options.from_values(view.options)
        self.driver = Driver(host, view, self._frame)
        self._partial = Reassembly(self._options.partial_bytes, self.driver.give_back)
        self.ports: dict[int, Port] = {}
        self._numbers = count()
        self.sent = self.received = 0
        """Numbers of send calls, and of datagrams received by processes."""
        self.bytes = self.copied = 0
        """Data bytes sent, and data bytes copied by this host's CPU in both directions."""
        self.lost: dict[str, int] = dict.fromkeys(("header", "port", "room", "sum"), 0)
        """Drops by reason: frames with an invalid IP header, datagrams to a port that is not open or is full, datagrams
        with a wrong checksum.
        """

    @property
    def given_up(self) -> int:
        """Number of datagrams dropped because of missing frames."""
        return self._partial.given_up

    def open(self, number: int, process: Process) -> Port:
        """Open a port."""
        self.ports[number] = Port(number, process, self._options.receive_bytes, self._options.receive_bytes)
        return self.ports[number]

    def close(self, port: Port) -> None:
        """Close a port and drop its datagrams."""
        del self.ports[port.number]
        for datagram in port.came:
            self.driver.give_back(datagram.frames)
        port.wake()

    # ---- sending

    async def send(self, pieces: Sequence[tuple[int, int]], size: int, way: tuple[int, int, int], message: int) -> None:
        """Send a datagram.

        Args:
            pieces: physical address and size of each piece of the data.
            size: data bytes.
            way: local port, destination node and destination port.
            message: number of the datagram in the trace.
        """
        host, (source, node, port) = self.host, way
        await host.spend("udp_send")
        self.bytes += size
        from_ip, to_ip = address(self._me), address(node)
        head, number = Udp(source, port, UDP_BYTES + size), next(self._numbers) & 0xFFFF
        cut, data = parts(head.size, self._options.mtu), b""
        for place, part in reversed(cut):  # from memory: as Linux 2.2 does, the sum of all is known at the first part
            frame = await self.driver.buffer()
            skip = IP_BYTES if place else IP_BYTES + UDP_BYTES
            begin, end = max(0, place - UDP_BYTES), place + part - UDP_BYTES
            await self._copy(frame + skip, pieces, begin, end - begin)
            data = host.load_bytes(frame + skip, end - begin) + data
            await host.spend("udp_header")
            ip = Ip(from_ip, to_ip, number, IP_BYTES + part, place, place + part < head.size)
            host.store_bytes(frame, ip.pack())
            if not place:
                total = datagram_sum(from_ip, to_ip, head.pack() + data)
                host.store_bytes(frame + IP_BYTES, head._replace(sum=total).pack())
            await self.driver.order(frame, ip.size, node, message)

    async def _copy(self, to: int, pieces: Sequence[tuple[int, int]], begin: int, size: int) -> None:
        """Copy a range of the bytes in pieces and add up its checksum."""
        for at, part in stretch(pieces, begin, size):
            await self._copy_piece(to, at, part)
            to += part

    async def _copy_piece(self, to: int, source: int, size: int) -> None:
        self.copied += size
        await self.host.copy_memory("udp_copy_sum", to, source, size)

    # ---- receiving

    async def _frame(self, frame: Frame) -> None:
        """Process a frame taken by the interrupt routine."""
        host = self.host
        await host.spend("udp_ip")
        try:
            ip = Ip.unpack(host.load_bytes(frame.address, frame.size))
        except FormatError:
            self._drop("header", [frame])
            return
        if ip.destination != address(self._me) or ip.protocol != UDP:
            self._drop("header", [frame])
            return
        frames: list[Frame] | None = [frame._replace(size=ip.size)]
        if ip.more or ip.place:
            await host.spend("udp_part")
            frames = self._partial.add(host.now, ip, frame._replace(size=ip.size))
        if frames is not None:
            await self._whole(ip, frames, frame.key)

    def _drop(self, why: str, frames: list[Frame]) -> None:
        self.lost[why] += 1
        self.driver.give_back(frames)

    async def _whole(self, ip: Ip, frames: list[Frame], key: int) -> None:
        """Deliver a complete datagram to the socket of its port."""
        host = self.host
        await host.spend("udp_deliver")
        head, source = Udp.unpack(host.load_bytes(frames[0].address + IP_BYTES, UDP_BYTES)), node_of(ip.source)
        port, size = self.ports.get(head.destination), sum(frame.size for frame in frames)
        if head.size != size - IP_BYTES * len(frames):
            self._drop("header", frames)
        elif port is None or port.peer not in (None, (source, head.source)):
            self._drop("port", frames)
        elif port.room < size:
            self._drop("room", frames)
        else:
            port.room -= size
            message = host.message_at(frames[0].address)
            port.came.append(Datagram(source, head, frames, key, host.now, message))
            host.trace(TraceEvent.IN_KERNEL, key, head.size - UDP_BYTES, source, message=message)
            port.wake()
            if port.signals:
                host.signal(port.process.number, Sig.IO)

    async def take(self, port: Port, pieces: Sequence[tuple[int, int]], room: int) -> Datagram | None:
        """Copy the oldest datagram with a correct checksum into the pieces, as far as it fits. Return it, or None if
        there is none.

        Datagrams with a wrong checksum are dropped here, where the checksum is computed.
        """
        host = self.host
        await host.spend("udp_receive")
        while port.came:
            datagram = port.came.popleft()
            await self._copy_out(datagram, pieces, min(room, datagram.size))
            port.room += sum(frame.size for frame in datagram.frames)
            frames = [host.load_bytes(frame.address + IP_BYTES, frame.size - IP_BYTES) for frame in datagram.frames]
            self.driver.give_back(datagram.frames)
            if is_right(address(datagram.source), address(self._me), b"".join(frames)):
                self.received += 1
                about = datagram.key, datagram.size, datagram.source
                host.trace(TraceEvent.IN_PROCESS, *about, message=datagram.message)
                return datagram
            self.lost["sum"] += 1
        return None

    async def _copy_out(self, datagram: Datagram, pieces: Sequence[tuple[int, int]], size: int) -> None:
        """Copy the first bytes of a datagram to a process and add up the checksum of all."""
        done = 0
        for at, part in datagram.pieces():
            wanted = min(part, size - done)
            begin = at - done
            for to, length in stretch(pieces, done, wanted):
                await self._copy_piece(to, begin + done, length)
                done += length
        if datagram.size > size:
            await self.host.spend("udp_sum", -(-(datagram.size - size) // LINE))


def stretch(pieces: Sequence[tuple[int, int]], begin: int, size: int) -> list[tuple[int, int]]:
    """Return address and size of each piece of a range of the bytes in pieces."""
    found, end = [], begin + size
    for at, part in pieces:
        low, high = max(begin, 0), min(end, part)
        if low < high:
            found.append((at + low, high - low))
        begin, end = begin - part, end - part
    return found
