"""Acts of a node on the disk of an I/O card: requests, invalid ones, resets, losses of power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware.grim.formats import Device, Reference
from firmware.grim.formats.iocard import ANSWER, SERVICE, DiskOp, Status
from firmware.grim.host import GrimError
from firmware.grim.host.errors import CardPowerError
from firmware.grim.iocard.disk import Disk as File
from firmware.grim.iocard.endpoint import BUFFERS, IoEndpoint
from pymodels.config.model import IO_CARD
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.errors import Due
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import Node
from tb.studies.grim.fuzz.transfers import Transfers
from tb.studies.io_cards.fuzz.requests import Disk, Request, Times

SERVER = 0
"""Node with the card."""
BLOCK, BLOCKS = 512, 12
"""Bytes of a block, and number of blocks, each of which belongs to one writer."""
ROOM, SLOTS = 1 << 15, 64
"""Bytes of a client's buffer in the card, and pinned places for its reads."""
ROW = 5
ACCESS_PS = 20_000_000
MARK = b"\xee"
"""Byte in places that no read has reached."""
UNKNOWN = 0xFFFF00
"""Tag of invalid requests."""
US = 1_000_000
SHORTEST_US, RETURN_US, ATTEMPTS, MANY = 300, 20, 10, 1 << 30


@dataclass(frozen=True)
class Invalid:
    """Request that the card answers by a status."""

    status: Status
    operation: int
    block: int
    count: int
    address: int


INVALID = {
    "operation": Invalid(Status.OPERATION, 9, 0, 64, 0),
    "block": Invalid(Status.BLOCK, DiskOp.READ, BLOCKS, 64, 0),
    "too long": Invalid(Status.LENGTH, DiskOp.READ, 0, BLOCK + 1, 0),
    "nothing": Invalid(Status.LENGTH, DiskOp.READ, 0, 0, 0),
    "other memory": Invalid(Status.ADDRESS, DiskOp.WRITE, 0, 64, 0x1000),
    "odd address": Invalid(Status.ADDRESS, DiskOp.WRITE, 0, 64, BUFFERS + 4),
}


class Server:
    """Firmware of the card and file of the disk, in a program."""

    def __init__(self, cpu: Any, path: Path) -> None:
        """Create the file, and start the firmware."""
        self._cpu = cpu
        self._path = path
        blocks = [INK[BLOCK * block : BLOCK * (block + 1)] for block in range(BLOCKS)]
        path.write_bytes(b"".join(blocks))
        self.disk = Disk(blocks)
        self.refused: dict[int, Due] = {}
        """Errors about messages to the card that its loss of power causes, by node."""
        self.further = [0] * 8
        """Number of messages of each node to the card that are no requests of the model."""
        self.has_power = True
        self.start()

    def start(self) -> None:
        """Start the firmware."""
        endpoint = IoEndpoint(self._cpu, File(self._path, BLOCK), ACCESS_PS)
        self._cpu.spawn(endpoint.run(), "the firmware of the I/O card")

    def blocks(self) -> list[bytes]:
        """Return the blocks of the file."""
        data = self._path.read_bytes()
        return [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)]


class DiskActs:
    """Acts of a node on the disk."""

    def __init__(self, node: Node, transfers: Transfers, server: Server, now: Callable[[], int]) -> None:
        self._transfers = transfers
        self.node, self._server, self._disk, self._now = node, server, server.disk, now
        self.index, self._nodes = node.index, node.cluster.program.nodes
        self._places: dict[int, int] = {}
        """Pinned memory of each read, by tag."""
        self._near = 0
        """Pinned memory of the reads."""
        self._reads, self._next = 0, 0
        self._invalid: list[Status] = []
        """Statuses of invalid requests, in the order of the answers."""
        self._expected: list[Status] = []
        self._source = 0
        """Pinned memory of the data of writes."""
        self._physical = self._physical_source = 0
        """Distances of the physical addresses of both from their virtual ones."""

    # ---- before the acts

    def handler(self) -> Callable[..., None]:
        """Return the handler of answers."""

        def answer(source: int, tag: int, status: int, count: int, rest: int, payload: memoryview) -> None:
            if tag == UNKNOWN:
                self._invalid.append(Status(status))
                return
            request = self._disk.answer(self._now(), self.index, tag, status, count)
            if request is not None and request.operation == DiskOp.READ:
                self._arrived(request)

        return answer

    def _arrived(self, request: Request) -> None:
        """Keep the bytes of a read, and check that the memory behind them is unchanged."""
        found = bytes(self.node.host.load_bytes(self._places[request.tag] + self._physical, BLOCK))
        request.data = found[: request.count]
        rest = found[request.count :]
        if request.status == Status.DONE and rest != MARK * len(rest):
            self.node.wrong(f"{request} has changed bytes behind its place")

    async def begin(self) -> None:
        """Resolve the handlers, allocate memory, and open the clients' buffers."""
        node, library = self.node, self.node.library
        for name in (SERVICE, ANSWER):
            node.numbers[name] = await library.resolve_handler(name)
        self._near = await self._transfers.allocate_further(BLOCK * SLOTS)
        self._physical = self._transfers.further[-1][0] - self._near
        self._source = await self._transfers.allocate_further(ROOM)
        self._physical_source = self._transfers.further[-1][0] - self._source
        if self.index == SERVER:
            await self._open()

    async def _open(self) -> None:
        card: Any = self.node.library.card
        await self.node.call("open window", lambda: card.open_window(BUFFERS, ROOM * self._nodes))

    # ---- requests

    async def do_disk_read(self, act: Act) -> None:
        """Read the first bytes of any block."""
        await self._read(act, act.whole("block") % BLOCKS)

    async def do_disk_write(self, act: Act) -> None:
        """Write the first bytes of an own block."""
        await self._write(act, act.whole("block"), act.whole("offset"))

    async def do_disk_row(self, act: Act) -> None:
        """Send several requests at once: writes of an own block, and reads of it."""
        for number in range(ROW):
            block = await self._write(act, act.whole("block"), act.whole("offset") + 100 * number)
            await self._read(act, block)

    async def _read(self, act: Act, block: int) -> None:
        if self._reads == SLOTS:
            return
        node, count = self.node, act.whole("count")
        place = self._near + BLOCK * self._reads
        self._reads += 1
        node.host.store_bytes(place + self._physical, MARK * BLOCK)
        request = self._disk.begin(self._now(), self.index, DiskOp.READ, block, count)
        self._places[request.tag] = place
        await self._send(str(request), request.tag << 8 | DiskOp.READ, block, count, place)

    async def _write(self, act: Act, block: int, offset: int) -> int:
        """Write an own block, and return its number."""
        node, count = self.node, act.whole("count")
        block = block % (BLOCKS // self._nodes) * self._nodes + self.index
        if self._next + BLOCK > ROOM:
            return block
        data = INK[offset : offset + count]
        at, source = BUFFERS + ROOM * self.index + self._next, self._source + self._next
        self._next += BLOCK
        node.host.store_bytes(source + self._physical_source, data)
        self._server.further[self.index] += 1 + count // node.library.options.segment_bytes
        card = self._card
        await node.call(str(act), lambda: node.library.send_memory(card, at, source, count + -count % 4))
        request = self._disk.begin(self._now(), self.index, DiskOp.WRITE, block, count, data)
        await self._send(str(request), request.tag << 8 | DiskOp.WRITE, block, count, at)
        return block

    async def _send(self, what: str, *words: int) -> None:
        library, service = self.node.library, self.node.numbers[SERVICE]
        await self.node.call(what, lambda: library.send(self._card, service, *words))

    @property
    def _card(self) -> int:
        return Reference(SERVER, Device.CELOXICA, 0).pack()

    # ---- invalid requests

    async def do_disk_invalid(self, act: Act) -> None:
        """Send an invalid request."""
        one = INVALID[str(act.values["what"])]
        self._expected.append(one.status)
        await self._send(str(act), UNKNOWN << 8 | one.operation, one.block, one.count, one.address)

    async def do_disk_no_service(self, act: Act) -> None:
        """Send a message for a handler that the card does not have, which causes a later error."""
        self.node.ledger.owe(str(act), "handler", "'take'", f"the I/O card of node {SERVER}")
        library, number = self.node.library, self.node.numbers["take"]
        await self.node.call(str(act), lambda: library.send(self._card, number))

    async def do_disk_reset(self, act: Act) -> None:
        """Abort the requests in progress, by the driver."""
        if self.index != SERVER or not self._server.has_power:
            return
        times = Times(self._now())
        self._disk.resets.append(times)
        card: Any = self.node.library.card
        await self.node.beside(card.reset(), str(act))
        times.ended = self._now()

    # ---- losses of power

    async def do_disk_power(self, act: Act) -> None:
        """Cut the power of the card, let it return, and start firmware and card again."""
        node, server = self.node, self._server
        if self.index != SERVER or not server.has_power:
            return
        cut = self._now() + act.whole("us") * US
        down = (SHORTEST_US + act.whole("down")) * US
        outage = Times(cut)
        self._disk.outages.append(outage)
        server.has_power = False
        self._allow()
        node.cluster.world.cut_power(SERVER, IO_CARD, cut, down)
        await node.idle(lambda: self._now() > cut + down + RETURN_US * US)
        server.start()
        await node.beside(self._start(str(act)), "new start of the I/O card")
        await self._open()
        outage.ended = self._now()
        server.has_power = True

    async def _start(self, what: str) -> None:
        card: Any = self.node.library.card
        for _ in range(ATTEMPTS):
            try:
                await card.restart()
            except CardPowerError as error:
                self.node.wrong(f"{what}: {error}")
            except GrimError:
                continue
            return
        self.node.wrong(f"{what}: the card has not been started in {ATTEMPTS} attempts")

    def _allow(self) -> None:
        """Allow the errors of one loss at all nodes, and one report at this one."""
        ledgers = self.node.cluster.ledgers
        ledgers[SERVER].owe("loss of power", "card", f"card of VNN {SERVER} does not answer", least=0)
        for at, ledger in enumerate(ledgers):
            if at not in self._server.refused:
                down = f"the card of VNN {SERVER} has no power, or has not been started again"
                self._server.refused[at] = ledger.owe("loss of power", "destination", down, least=0, most=MANY)
                late = f"no open window of the card of VNN {SERVER}"
                ledger.owe("loss of power", "address", late, least=0, most=MANY)

    # ---- at the end

    def missing(self) -> list[str]:
        """Return a description of the invalid requests without an answer."""
        if len(self._invalid) >= len(self._expected) or self._disk.outages:
            return []
        return [f"node {self.index} has {len(self._invalid)} of {len(self._expected)} answers to invalid requests"]

    def wrong(self) -> list[str]:
        """Return a description of each wrong answer, and of errors that no loss of power can have caused."""
        found = []
        if not self._disk.outages and self._invalid != self._expected:
            found.append(f"node {self.index}: invalid requests were answered by {self._invalid}")
        if (due := self._server.refused.get(self.index)) is not None:
            lost = [one for one in self._disk.requests if one.node == self.index and one.status is None]
            most = len(lost) + self._server.further[self.index]
            if due.came > most:
                found.append(f"node {self.index} has got {due.came} errors, but only {most} messages can be refused")
        return found
