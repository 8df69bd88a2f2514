"""`PacketPort` on the SP adapter: its engines do what the other port keeps in SRAM.

A fetch stands in the Send FIFO until its packet leaves; a packet may be launched as soon as its fetch is started, for
the right engine waits until the whole payload is there (paper 001, 3.3.2). What is delivered and stored are commands of
the left engine, in order, so nothing waits for anything but room in the command queue. One look at STATUS tells of
everything: its counters say how many fetches, stores and packets are done, and are compared with those that were seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from firmware.common.nic.packets import Arrived, PortEvents
from firmware.common.nic.services import Service
from firmware.verbs import Nic, Watch
from firmware.view import ClusterView
from pymodels.errors import SanlabError
from pymodels.formats.sp import ROUTE_BYTES, VIA_BYTES
from pymodels.nics.sp.registers import (
    RecvStatus,
    SpCommand,
    SpReg,
    SpSize,
    SpStatus,
    fetch_command,
    read_command,
    store_command,
)

COUNT = 0xFF
"""A counter of STATUS."""
ROOM, READ, ARRIVED = 1 << SpStatus.ROOM, 1 << SpStatus.READ, 1 << SpStatus.ARRIVED
LOOKED_AT = ARRIVED | COUNT << SpStatus.FETCHED | COUNT << SpStatus.STORED | COUNT << SpStatus.SENT
BAD = 1 << RecvStatus.BAD_CRC | 1 << RecvStatus.BAD_SIZE
SIZE = 0xFFF
"""The user bytes in RECV_STATUS."""
HIGH, LOW = SpReg.COMMAND_HIGH, SpReg.COMMAND_LOW


class SpPackets:
    """The packets of an SP adapter."""

    prepares = False
    waits = True

    def __init__(self, nic: Nic, view: ClusterView, most: int) -> None:
        """`most`: bytes of payload a packet. Raises SanlabError for more than one takes, and for a route too long."""
        if not 0 < most <= SpSize.USER:
            raise SanlabError(f"packets of {most} bytes", "do not go through an SP switch", f"1 to {int(SpSize.USER)}")
        self.most, self.stored = most, 0
        self._nic, self._me = nic, view.me
        self._routes = [self._ways(view, vnn) for vnn in range(len(view.names))]
        self._fetched: deque[int] = deque()
        """Sizes of the fetches that are not launched."""
        self._kinds: deque[bool] = deque()
        """Of the STOREs that are under way: whether it is a `store`."""
        self._held = self._going = 0
        """Bytes of the Send FIFO that are taken, and those of them that leave with the packet that was launched."""
        self._sending = False
        self._there = -1, 0
        """The node and the way whose route stands in the adapter."""
        self._entries = int(SpSize.QUEUE_ROOM)
        """Insertions for which the command queue surely has room."""
        self._counts = {SpStatus.FETCHED: 0, SpStatus.STORED: 0, SpStatus.SENT: 0}
        self._room = nic.poll_loop([Watch(SpReg.STATUS, 0, "sp_room", ROOM, register=True)])
        self._was_read = nic.poll_loop([Watch(SpReg.STATUS, 0, "sp_read_look", READ, register=True)])
        stored = Watch(SpReg.STATUS, 0, "sp_read_look", COUNT << SpStatus.STORED, register=True)
        self._stored = nic.poll_loop([stored])
        self._head: Arrived
        self._on: PortEvents

    @staticmethod
    def _ways(view: ClusterView, vnn: int) -> list[tuple[int, int]]:
        """The two words of a header's route, for each route to a node."""
        ways = view.ways(vnn) if vnn in view.routes else (b"",)
        longest = max(len(route) for route in ways)
        if longest > ROUTE_BYTES:
            what = f"route {view.names[view.me]} -> {view.names[vnn]}"
            raise SanlabError(what, f"leads through {longest} switches", f"a header has room for {ROUTE_BYTES}")
        return [divmod(int.from_bytes(route.ljust(ROUTE_BYTES, b"\0"), "big"), 1 << 32) for route in ways]

    async def _order(self, first: int, address: int, words: Sequence[int] = ()) -> None:
        """Insert a command and its words; spins while the queue may have no room for them."""
        nic, entries = self._nic, 1 + (len(words) + 1) // 2
        if self._entries < entries:
            await self._room.run()
            self._entries = int(SpSize.QUEUE_ROOM)
        self._entries -= entries
        nic.write(HIGH, first)
        nic.write(LOW, address)
        for at in range(0, len(words) - 1, 2):
            nic.write(SpReg.DATA_HIGH, words[at])
            nic.write(SpReg.DATA_LOW, words[at + 1])
        if len(words) % 2:
            nic.write(SpReg.DATA_ONE, words[-1])

    # ---- out

    async def fetch(self, address: int, size: int) -> None:
        """FETCH."""
        await self._nic.work("sp_fetch")
        self._fetched.append(size)
        self._held += _words(size)
        await self._order(fetch_command(size), address)

    def room(self, size: int) -> bool:
        """Whether the Send FIFO has room for it behind all that was asked for."""
        return self._held + _words(size) <= SpSize.FIFO

    def ready(self) -> bool:
        """Whether the packet before is in the link interface."""
        return not self._sending

    async def launch(self, node: int, header: tuple[int, int], size: int, inline: bytes = b"", way: int = 0) -> None:
        """Headers, and SEND_START; the right engine fetches the payload out of the Send FIFO."""
        nic = self._nic
        if (node, way) != self._there:
            await nic.work("sp_route")
            self._there = node, way
            for index, word in enumerate(self._routes[node][way]):
                nic.write(SpReg.SEND0 + 4 * index, word)
        await nic.work("sp_launch")
        if inline:
            await nic.work("sp_launch_words", -(-size // 8))
        elif size:
            if self._fetched.popleft() != size:
                raise RuntimeError(f"node {nic.node}: a packet of {size} bytes is launched that was not fetched so")
            self._going = _words(size)
        self._sending = True
        for index, word in enumerate((self._me << 16 | VIA_BYTES + size, node << 16, *header)):
            nic.write(SpReg.SEND2 + 4 * index, word)
        for at in range(0, len(inline), 4):
            nic.write(SpReg.OWN0 + at, int.from_bytes(inline[at : at + 4].ljust(4, b"\0"), "big"))
        nic.write(SpReg.SEND_START, size << 16 if inline or not size else size)

    async def prepare(self, node: int, header: tuple[int, int]) -> None:
        """The adapter's registers take the header of one packet, which may be another's still."""
        raise RuntimeError(f"node {self._nic.node}: the SP adapter takes a header with its packet")

    async def launch_prepared(self, size: int) -> None:
        """There are none."""
        raise RuntimeError(f"node {self._nic.node}: the SP adapter has no prepared packet of {size} bytes")

    # ---- in

    def head(self) -> Arrived:
        """The packet at the head."""
        return self._head

    async def inline(self) -> tuple[int, int]:
        """Its first two words of payload, in the receive buffer."""
        nic, size = self._nic, self._head.size
        await nic.work("sp_inline")
        first, second = await nic.read(SpReg.RECV6), await nic.read(SpReg.RECV7)
        return first & _mask(size), second & _mask(size - 4)

    async def deliver(self, address: int, size: int) -> None:
        """STORE of the packet's next bytes."""
        await self._nic.work("sp_deliver")
        self._kinds.append(False)
        await self._order(store_command(size, packet=True), address)

    async def drop(self) -> None:
        """RECV_NEXT, behind what was delivered."""
        await self._nic.work("sp_drop")
        if not self._entries:
            await self._room.run()
            self._entries = int(SpSize.QUEUE_ROOM)
        self._entries -= 1
        self._nic.write(SpReg.RECV_NEXT, 0)

    async def store(self, address: int, words: Sequence[int]) -> None:
        """STORE of words."""
        await self._nic.work("sp_store")
        await self._nic.work("sp_store_words", -(-len(words) // 2))
        self._kinds.append(True)
        await self._order(store_command(4 * len(words), packet=False), address, words)

    async def quiet(self) -> None:
        """Spin until the left engine has done all commands: a store is the last one."""
        counter = SpStatus.STORED
        while self._kinds:
            self._stored.expect(0, (self._counts[counter] & COUNT) << counter)
            await self._stored.run()
            await self._count(self._since(counter, await self._nic.read(SpReg.STATUS)))

    async def interrupt(self) -> None:
        """ALARM, behind all stores."""
        await self._nic.work("sp_interrupt")
        await self._order(1 << SpCommand.ALARM, 0)

    async def read(
        self, address: int, count: int, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[int, ...]:
        """READ; spin until it is done, and take the words."""
        nic = self._nic
        await nic.work("sp_read")
        await self._order(read_command(4 * count), address)
        if meanwhile is not None:
            await meanwhile()
        await self._was_read.run()
        await nic.work("sp_read_words", -(-count // 2))
        return tuple([await nic.read(SpReg.READ0 + 4 * index) for index in range(count)])

    # ---- what happened

    def services(self, on: PortEvents) -> list[Service]:
        """One look at STATUS."""
        self._on = on
        return [(Watch(SpReg.STATUS, 0, "sp_look", LOOKED_AT, register=True), self._happened)]

    def background(self) -> list[Service]:
        """Nothing: the left engine works through its commands, the interrupt among them, by itself."""
        return []

    async def _happened(self) -> int:
        """STATUS has changed: serve what has; the value with which nothing has."""
        nic = self._nic
        status = await nic.read(SpReg.STATUS)  # the word that was sampled: no access of its own
        await nic.work("sp_happened")
        if status & ROOM:
            self._entries = int(SpSize.QUEUE_ROOM)
        new = {counter: self._since(counter, status) for counter in self._counts}
        if new[SpStatus.SENT]:
            self._sending = False
            self._held -= self._going
            self._going = 0
            await self._on.launched()
        for _ in range(new[SpStatus.FETCHED]):
            await self._on.fetched()
        if new[SpStatus.STORED]:
            await self._count(new[SpStatus.STORED])
        if status & ARRIVED:
            await self._arrived()
        return sum((seen & COUNT) << counter for counter, seen in self._counts.items())

    def _since(self, counter: SpStatus, status: int) -> int:
        """How far a counter has gone since it was seen last."""
        seen = self._counts[counter]
        more = ((status >> counter) - seen) & COUNT
        self._counts[counter] = seen + more
        return more

    async def _count(self, stores: int) -> None:
        """So many STOREs are in host memory."""
        before = self.stored
        self.stored += sum(self._kinds.popleft() for _ in range(stores))
        if self.stored != before:
            await self._on.stored()

    async def _arrived(self) -> None:
        """A whole packet: what its headers say."""
        nic = self._nic
        await nic.work("sp_head")
        status = await nic.read(SpReg.RECV_STATUS)
        header = await nic.read(SpReg.RECV4), await nic.read(SpReg.RECV5)
        self._head = Arrived(header[0] >> 24, header, status & SIZE, not status & BAD)
        await self._on.arrived()


def _words(size: int) -> int:
    """Bytes of the Send FIFO that a fetch takes: whole words."""
    return size + 7 & ~7


def _mask(size: int) -> int:
    """The leading bytes of a word that belong to payload of which so many bytes are left."""
    return 0xFFFFFFFF & ~((1 << 8 * max(0, 4 - size)) - 1) if size > 0 else 0
