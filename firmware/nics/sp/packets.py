"""`PacketPort` on the SP adapter, whose engines do the work that a LANai's firmware does in SRAM.

Fetched data stay in the Send FIFO until their packet leaves. A packet may be launched as soon as its fetch is started,
because the right engine waits for the whole payload (paper 001, 3.3.2). Deliveries and stores are commands of the left
engine, executed in order, so calls wait for room in the command queue only. One sample of STATUS reports all events:
its counters of fetches, stores and packets are compared with their last values.
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
"""Mask of a counter of STATUS."""
ROOM, READ, ARRIVED = 1 << SpStatus.ROOM, 1 << SpStatus.READ, 1 << SpStatus.ARRIVED
LOOKED_AT = ARRIVED | COUNT << SpStatus.FETCHED | COUNT << SpStatus.STORED | COUNT << SpStatus.SENT
BAD = 1 << RecvStatus.BAD_CRC | 1 << RecvStatus.BAD_SIZE
SIZE = 0xFFF
"""Mask of the user bytes in RECV_STATUS."""
HIGH, LOW = SpReg.COMMAND_HIGH, SpReg.COMMAND_LOW


class SpPackets:
    """Packets of an SP adapter."""

    prepares = False
    waits = True

    def __init__(self, nic: Nic, view: ClusterView, most: int) -> None:
        """Create a port for packets of up to `most` payload bytes.

        Raises SanlabError if a packet or a route exceeds the limits of the adapter.
        """
        if not 0 < most <= SpSize.USER:
            raise SanlabError(
                f"packets of {most} bytes", "invalid size for an SP switch", f"give 1 to {int(SpSize.USER)}"
            )
        self.most, self.stored = most, 0
        self._nic, self._me = nic, view.me
        self._routes = [self._ways(view, vnn) for vnn in range(len(view.names))]
        self._fetched: deque[int] = deque()
        """Sizes of the fetches that have not been launched."""
        self._kinds: deque[bool] = deque()
        """Kinds of the pending STORE commands: True for a `store`, False for a delivery."""
        self._held = self._going = 0
        """Occupied bytes of the Send FIFO, and those of them that the launched packet frees."""
        self._fetches = self._stores = self._arrivals = 0
        """Numbers of FETCH and STORE commands inserted, and of packets read."""
        self._sending = False
        self._loaded_route = -1, 0
        """Node and index of the route that the adapter's registers hold."""
        self._entries = int(SpSize.QUEUE_ROOM)
        """Lower bound of the free entries of the command queue."""
        self._counts = {SpStatus.FETCHED: 0, SpStatus.STORED: 0, SpStatus.SENT: 0}
        self._room = nic.poll_loop([Watch(SpReg.STATUS, 0, "sp_room", ROOM, register=True)])
        self._was_read = nic.poll_loop([Watch(SpReg.STATUS, 0, "sp_read_look", READ, register=True)])
        stored = Watch(SpReg.STATUS, 0, "sp_read_look", COUNT << SpStatus.STORED, register=True)
        self._stored = nic.poll_loop([stored])
        self._head: Arrived
        self._on: PortEvents

    @staticmethod
    def _ways(view: ClusterView, vnn: int) -> list[tuple[int, int]]:
        """Return the two header words of each route to a node."""
        ways = view.ways(vnn) if vnn in view.routes else (b"",)
        longest = max(len(route) for route in ways)
        if longest > ROUTE_BYTES:
            what = f"route {view.names[view.me]} -> {view.names[vnn]}"
            raise SanlabError(what, f"{longest} switches", f"a header has room for {ROUTE_BYTES} route bytes")
        return [divmod(int.from_bytes(route.ljust(ROUTE_BYTES, b"\0"), "big"), 1 << 32) for route in ways]

    async def _order(self, first: int, address: int, words: Sequence[int] = ()) -> None:
        """Insert a command and its words into the queue. Spins while it may lack room."""
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

    async def fetch(self, address: int, size: int, message: int = 0) -> None:
        """Insert a FETCH command."""
        await self._nic.work("sp_fetch")
        self._fetched.append(size)
        self._held += _words(size)
        self._nic.put_command(self._fetches, False, message)
        self._fetches += 1
        await self._order(fetch_command(size), address)

    def room(self, size: int) -> bool:
        """Return True if the Send FIFO has room for `size` bytes after all earlier requests."""
        return self._held + _words(size) <= SpSize.FIFO

    def ready(self) -> bool:
        """Return True if the link interface has taken the previous packet."""
        return not self._sending

    async def launch(
        self, node: int, header: tuple[int, int], size: int, inline: bytes = b"", way: int = 0, message: int = 0
    ) -> None:
        """Write the headers and SEND_START. The right engine takes the payload from the Send FIFO."""
        nic = self._nic
        if (node, way) != self._loaded_route:
            await nic.work("sp_route")
            self._loaded_route = node, way
            for index, word in enumerate(self._routes[node][way]):
                nic.write(SpReg.SEND0 + 4 * index, word)
        await nic.work("sp_launch")
        if inline:
            await nic.work("sp_launch_words", -(-size // 8))
        elif size:
            if self._fetched.popleft() != size:
                raise RuntimeError(
                    f"node {nic.node}: launched a packet of {size} bytes, which is not the size of the oldest fetch"
                )
            self._going = _words(size)
        self._sending = True
        nic.put_message(0, message)
        for index, word in enumerate((self._me << 16 | VIA_BYTES + size, node << 16, *header)):
            nic.write(SpReg.SEND2 + 4 * index, word)
        for at in range(0, len(inline), 4):
            nic.write(SpReg.OWN0 + at, int.from_bytes(inline[at : at + 4].ljust(4, b"\0"), "big"))
        nic.write(SpReg.SEND_START, size << 16 if inline or not size else size)

    async def prepare(self, node: int, header: tuple[int, int]) -> None:
        """Raise RuntimeError: the adapter has header registers for one packet only."""
        raise RuntimeError(f"node {self._nic.node}: the SP adapter takes a header only with its packet")

    async def launch_prepared(self, size: int, message: int = 0) -> None:
        """Raise RuntimeError: the adapter has no prepared packets."""
        raise RuntimeError(f"node {self._nic.node}: the SP adapter has no prepared packet of {size} bytes")

    # ---- in

    def head(self) -> Arrived:
        """Return the packet at the head."""
        return self._head

    async def inline(self) -> tuple[int, int]:
        """Return the first two payload words from the receive buffer."""
        nic, size = self._nic, self._head.size
        await nic.work("sp_inline")
        first, second = await nic.read(SpReg.RECV6), await nic.read(SpReg.RECV7)
        return first & _mask(size), second & _mask(size - 4)

    async def deliver(self, address: int, size: int) -> None:
        """Insert a STORE command for the packet's next bytes."""
        await self._nic.work("sp_deliver")
        self._nic.put_message(address, self._head.message, in_host=True)
        self._note_store(self._head.message)
        self._kinds.append(False)
        await self._order(store_command(size, packet=True), address)

    async def drop(self) -> None:
        """Insert RECV_NEXT, after the deliveries."""
        await self._nic.work("sp_drop")
        if not self._entries:
            await self._room.run()
            self._entries = int(SpSize.QUEUE_ROOM)
        self._entries -= 1
        self._nic.write(SpReg.RECV_NEXT, 0)

    def _note_store(self, message: int) -> None:
        """Note the message of the next STORE command for the trace."""
        self._nic.put_command(self._stores, True, message)
        self._stores += 1

    async def store(self, address: int, words: Sequence[int], message: int = 0) -> None:
        """Insert a STORE command for words."""
        await self._nic.work("sp_store")
        await self._nic.work("sp_store_words", -(-len(words) // 2))
        self._note_store(message)
        self._kinds.append(True)
        await self._order(store_command(4 * len(words), packet=False), address, words)

    async def quiet(self) -> None:
        """Spin until the left engine has executed all STORE commands."""
        counter = SpStatus.STORED
        while self._kinds:
            self._stored.expect(0, (self._counts[counter] & COUNT) << counter)
            await self._stored.run()
            await self._count(self._since(counter, await self._nic.read(SpReg.STATUS)))

    async def interrupt(self) -> None:
        """Insert an ALARM command, after all stores."""
        await self._nic.work("sp_interrupt")
        await self._order(1 << SpCommand.ALARM, 0)

    async def read(
        self, address: int, count: int, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[int, ...]:
        """Insert a READ command, spin until it is done, and return the words."""
        nic = self._nic
        await nic.work("sp_read")
        nic.put_command(self._fetches, False, 0)
        await self._order(read_command(4 * count), address)
        if meanwhile is not None:
            await meanwhile()
        await self._was_read.run()
        await nic.work("sp_read_words", -(-count // 2))
        return tuple([await nic.read(SpReg.READ0 + 4 * index) for index in range(count)])

    # ---- what happened

    def services(self, on: PortEvents) -> list[Service]:
        """Return the service of STATUS."""
        self._on = on
        return [(Watch(SpReg.STATUS, 0, "sp_look", LOOKED_AT, register=True), self._serve_status)]

    def background(self) -> list[Service]:
        """Return no services: the left engine executes its commands, interrupts included, by itself."""
        return []

    async def _serve_status(self) -> int:
        """Handle all changes of STATUS, and return the value to compare with from now on."""
        nic = self._nic
        status = await nic.read(SpReg.STATUS)  # the sampled word, without a further access
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
        """Return how far a counter has advanced since its last value."""
        seen = self._counts[counter]
        more = ((status >> counter) - seen) & COUNT
        self._counts[counter] = seen + more
        return more

    async def _count(self, stores: int) -> None:
        """Count STORE commands whose data are in host memory."""
        before = self.stored
        self.stored += sum(self._kinds.popleft() for _ in range(stores))
        if self.stored != before:
            await self._on.stored()

    async def _arrived(self) -> None:
        """Read the headers of a received packet and report it to the layer."""
        nic = self._nic
        await nic.work("sp_head")
        status = await nic.read(SpReg.RECV_STATUS)
        header = await nic.read(SpReg.RECV4), await nic.read(SpReg.RECV5)
        self._head = Arrived(header[0] >> 24, header, status & SIZE, not status & BAD, nic.arrival(self._arrivals))
        self._arrivals += 1
        await self._on.arrived()


def _words(size: int) -> int:
    """Return the bytes of the Send FIFO that a fetch occupies: whole words."""
    return size + 7 & ~7


def _mask(size: int) -> int:
    """Return the mask of a word's leading bytes that belong to a payload with `size` bytes left."""
    return 0xFFFFFFFF & ~((1 << 8 * max(0, 4 - size)) - 1) if size > 0 else 0
