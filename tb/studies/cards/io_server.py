"""What does an intelligent I/O card save that serves a disk: latency and bandwidth beside the same server on a host's
CPU, and what the host's CPU is left with?

Strategy: three hosts read and write blocks of a file, first one request at a time, then several each at once. Requests
and answers are active messages; data are remote writes. The server `card` is the I/O card of host 0. The server
`host` is the CPU of host 0, which only polls; `shared` is that CPU between two slices of an application. The
application also computes beside the card; its progress during the load is the share that remains. All read bytes and
the file are compared with the expected ones. Invalid requests, an unknown handler and a reset in the middle of an
operation must be answered with their status or error.
"""

from __future__ import annotations

import statistics
import tempfile
from collections import deque
from pathlib import Path
from typing import Any

from numpy.random import default_rng

from firmware.grim.formats import Device
from firmware.grim.formats.iocard import ANSWER, SERVICE, DiskOp, Status
from firmware.grim.host import GrimError
from firmware.grim.iocard.disk import Disk
from firmware.grim.iocard.endpoint import BUFFERS, IoEndpoint
from pymodels.config.model import IO_CARD
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.cards._cards import CARD_OPTIONS, NEEDS, PICOSECONDS
from tb.studies.grim._grim import bring_up
from tb.studies.kit.findings import curve

__all__ = ["NEEDS"]
CLUSTER = "io_card"
LAYER = "grim"
SERVERS = ("card", "host", "shared")
SIZES = (64, 512, 4096)
BLOCK = 4096
CLIENTS = (1, 2, 3)
ROOM = 0x10000
"""Bytes of a client's buffer in the memory of the server."""
OPTIONS = {
    "repetitions": Option(3, "single requests of each kind and size", 1, 1000),
    "row": Option(8, "requests of each host at once, for the bandwidth", 1, 16),
    "largest": Option(4096, "largest request in bytes", 64, 4096, unit="bytes"),
    "blocks": Option(64, "blocks of 4 KB of the disk, if no file is named", 4, 4096),
    "disk": Option("", "file with the blocks of the disk; empty: a new file of random bytes"),
    "access_us": Option(0, "time of an access of the disk", 0, 100_000, unit="us"),
    "slice_us": Option(
        50, "time that the application on the server's host computes between two polls", 1, 10_000, unit="us"
    ),
    **CARD_OPTIONS,
}
QUICK = "repetitions=1 row=2 largest=512"


def check(plan: Plan) -> None:
    """Raise ConfigError unless host 0 has an I/O card, three others are there, and the file of the disk is usable."""
    hosts = plan.cluster.hosts
    if len(hosts) <= max(CLIENTS) or IO_CARD not in hosts[0].cards:
        cause = f"the study needs one on host 0, {hosts[0].name}, and three other hosts"
        raise ConfigError("CLUSTER", 0, f"no {IO_CARD}", cause, f"choose CLUSTER={CLUSTER}")
    if path := str(plan.options["disk"]):
        Disk(Path(path), BLOCK)


async def run(lab: Lab) -> None:
    """Run the study."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(lab.text("disk") or f"{folder}/disk")
        if not lab.text("disk"):
            path.write_bytes(default_rng(lab.seed).bytes(lab.option("blocks") * BLOCK))
        await _Servers(lab, Disk(path, BLOCK)).run()


class _Client:
    """Host that reads and writes blocks."""

    def __init__(self, lab: Lab, library: Any) -> None:
        self.lab, self.library = lab, library
        self.answers: dict[int, tuple[int, int]] = {}
        """Status and bytes of the answers, by tag."""
        self.buffer = 0
        """Pinned memory: a block for each request at once, for reads and then for writes."""
        self._tags = 0

    def on_answer(self, source: int, tag: int, status: int, count: int, rest: int, payload: memoryview) -> None:
        """Note an answer."""
        self.answers[tag] = status, count

    async def ask(self, server: int, service: int, operation: int, block: int, count: int, address: int) -> int:
        """Send a request and return its tag."""
        self._tags += 1
        await self.library.send(server, service, self._tags << 8 | operation, block, count, address)
        return self._tags

    async def status(self, tag: int) -> Status:
        """Wait for the answer to a request."""
        await self.library.wait_for(lambda: tag in self.answers)
        return Status(self.answers.pop(tag)[0])


class _Servers:
    """The three servers, and the load of their clients."""

    def __init__(self, lab: Lab, disk: Disk) -> None:
        self._lab, self._disk = lab, disk
        access_ps = lab.option("access_us") * PICOSECONDS
        cpu = lab.running.io_cards[0]
        self._endpoint = IoEndpoint(cpu, disk, access_ps)
        lab.spawn(self._endpoint.run(), "the firmware of the I/O card")
        self._libraries = lab.start_layer(LAYER)
        self._server = self._libraries[0]
        self._clients = [_Client(lab, self._libraries[vnn]) for vnn in CLIENTS]
        self._pending: deque[tuple[int, tuple[int, ...]]] = deque()
        """Requests to the server on the host: source and arguments."""
        self._buffer = 0
        """Pinned memory of the host's server: the clients' buffers, then a block to send."""
        self._service, self._answer = 0, 0
        self._stop = False
        self._slices: list[tuple[int, int]] = []
        """Begin and end of the application's slices on the server's host, in ps."""
        self._access_ps = access_ps

    async def run(self) -> None:
        """Measure each server, then misuse the card."""
        handlers: list[dict[str, Any]] = [{SERVICE: self._on_request}]
        handlers += [{ANSWER: client.on_answer} for client in self._clients]
        await bring_up(self._lab, self._libraries, handlers)
        self._service = await self._server.resolve_handler(SERVICE)
        self._answer = await self._server.resolve_handler(ANSWER)
        await self._server.card.open_window(BUFFERS, len(CLIENTS) * ROOM)
        self._buffer = await self._server.malloc_pinned(len(CLIENTS) * ROOM + BLOCK)
        for client in self._clients:
            client.buffer = await client.library.malloc_pinned(2 * BLOCK * self._lab.option("row"))
        for server in SERVERS:
            await self._measure(server)
        await self._misuse()
        self._lab.check("aborted DMA of the card", not self._endpoint.aborts, f"{self._endpoint.aborts} chains")

    # ---- the server on the host

    def _on_request(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._pending.append((source, (a0, a1, a2, a3)))

    async def _serve(self) -> None:
        """Answer the pending requests, as the card's firmware does."""
        server, disk, host = self._server, self._disk, self._server.host
        while self._pending:
            source, (operation, block, count, address) = self._pending.popleft()
            status = disk.check(operation & 0xFF, block, count, BLOCK)
            if self._access_ps:
                await host.sleep(self._access_ps, "the disk")
            if status == Status.DONE and operation & 0xFF == DiskOp.READ:
                data = self._buffer + len(CLIENTS) * ROOM
                server.store_pinned(data, disk.read(block, count))
                await server.send_memory(source, address & 0xFFFFFFFF, data, count)
            elif status == Status.DONE:
                disk.write(block, bytes(server.load_pinned(address & 0xFFFFFFFF, count)))
            await server.send(source, self._answer, operation >> 8, status, count if status == Status.DONE else 0)

    async def _host(self, server: str) -> None:
        """Run host 0 until the load is over: an application, the server, or both in turn."""
        host, slice_us = self._server.host, self._lab.option("slice_us")
        while not self._stop:
            if server == "host":
                await self._server.wait_for(lambda: bool(self._pending) or self._stop)
            else:
                begin = self._lab.kernel.now
                await host.compute(1000 * slice_us)
                self._slices.append((begin, self._lab.kernel.now))
            if server == "shared":
                await self._server.poll()
            if server != "card":
                await self._serve()

    # ---- the load

    async def _measure(self, server: str) -> None:
        lab = self._lab
        self._stop = False
        task = lab.spawn(self._host(server), f"host 0 beside the server {server}")
        sizes = [size for size in SIZES if size <= lab.option("largest")]
        spans: dict[tuple[DiskOp, int], tuple[int, int]] = {}
        for operation in DiskOp:
            us, rates = [], []
            for size in sizes:
                lone = [await self._one(server, operation, size) for _ in range(lab.option("repetitions"))]
                us.append(statistics.median(lone) / PICOSECONDS)
                begin = lab.kernel.now
                loads = [lab.spawn(self._load(server, n, operation, size), f"client {n}") for n in range(len(CLIENTS))]
                await lab.all(loads)
                end = lab.kernel.now
                span = end - begin
                rates.append(size * lab.option("row") * len(CLIENTS) * PICOSECONDS / span)
                spans[operation, size] = begin, end
            name = f"{server}_{operation.name.lower()}"
            curve(lab, name, sizes, us, "B", "us", f"{name}_us_{{}}B")
            curve(lab, f"{name}_bandwidth", sizes, rates, "B", "MB/s", f"{name}_MBps_{{}}B")
        self._stop = True
        # A message ends the wait of a server that polls.
        await self._clients[0].library.send(self._host_reference(), self._service, 0, 0, 0, 0)
        await lab.all([task])
        self._pending.clear()
        for (operation, size), (begin, end) in spans.items():
            name = f"{server}_{operation.name.lower()}_cpu_left_{size}B"
            lab.metric(name, round(self._computed(begin, end) / (end - begin), 3))

    def _computed(self, begin: int, end: int) -> float:
        """Return the time in ps that the application has computed in an interval."""
        work, done = self._lab.option("slice_us") * PICOSECONDS, 0.0
        for first, last in self._slices:
            done += max(0, min(last, end) - max(first, begin)) * work / (last - first)
        return done

    def _host_reference(self) -> int:
        return int(self._server.get_dest_id(0))

    def _reference(self, server: str) -> int:
        card = server == "card"
        return int(self._server.get_resource(0, Device.CELOXICA)) if card else self._host_reference()

    async def _one(self, server: str, operation: DiskOp, size: int) -> int:
        """Execute one request of the first client and return its time in ps."""
        begin = self._lab.kernel.now
        await self._batch(server, 0, operation, size, 1)
        return int(self._lab.kernel.now - begin)

    async def _load(self, server: str, number: int, operation: DiskOp, size: int) -> None:
        await self._batch(server, number, operation, size, self._lab.option("row"))

    async def _batch(self, server: str, number: int, operation: DiskOp, size: int, count: int) -> None:
        """Execute requests of a client at once, and compare their data."""
        lab, client, to = self._lab, self._clients[number], self._reference(server)
        library = client.library
        blocks = [(number * count + n) % self._disk.blocks for n in range(count)]
        there = BUFFERS if server == "card" else self._buffer
        expected, tags = [], []
        for n, block in enumerate(blocks):
            near = client.buffer + BLOCK * n
            if operation == DiskOp.READ:
                library.store_pinned(near, bytes(size))
                expected.append(self._disk.read(block, size))
                tags.append(await client.ask(to, self._service, operation, block, size, near))
                continue
            data = bytes((byte + n + 1) & 0xFF for byte in self._disk.read(block, size))
            expected.append(data)
            library.store_pinned(near, data)
            at = there + ROOM * number + BLOCK * n % ROOM
            await library.send_memory(to, at, near, size)
            tags.append(await client.ask(to, self._service, operation, block, size, at))
        for n, tag in enumerate(tags):
            status = await client.status(tag)
            lab.check("status of requests", status == Status.DONE, f"{server}: {status.name}")
            moved = self._disk.read(blocks[n], size)
            if operation == DiskOp.READ:
                moved = bytes(library.load_pinned(client.buffer + BLOCK * n, size))
            lab.check("bytes of requests", moved == expected[n], f"{server}: {size} bytes of block {blocks[n]} differ")
        lab.findings.messages += 2 * count

    async def _misuse(self) -> None:
        """Send the card invalid requests, and reset it in the middle of an operation."""
        lab, client, card = self._lab, self._clients[0], self._reference("card")
        for status, operation, block, count, address in (
            (Status.OPERATION, 9, 0, 64, client.buffer),
            (Status.BLOCK, DiskOp.READ, self._disk.blocks, 64, client.buffer),
            (Status.LENGTH, DiskOp.READ, 0, BLOCK + 1, client.buffer),
            (Status.LENGTH, DiskOp.READ, 0, 0, client.buffer),
            (Status.ADDRESS, DiskOp.WRITE, 0, 64, 0x1000),
            (Status.ADDRESS, DiskOp.WRITE, 0, 64, BUFFERS + 4),
        ):
            found = await client.status(await client.ask(card, self._service, operation, block, count, address))
            lab.check("status of invalid requests", found == status, f"{status.name} expected, {found.name} found")
        await client.library.send(card, self._answer)  # a handler that the card does not have
        try:
            await client.status(await client.ask(card, self._service, DiskOp.READ, 0, 64, client.buffer))
            await client.library.send(card, self._service)
            told = "no error"
        except GrimError as error:
            told = str(error)
            client.answers.clear()
        expected = f"{ANSWER!r} is not a service of the I/O card of node 0"
        lab.check("error of an unknown handler", expected in told, told)
        before = self._disk.read(0, 64)
        self._endpoint.access_ps = 100 * PICOSECONDS
        tag = await client.ask(card, self._service, DiskOp.WRITE, 0, 64, BUFFERS)
        await lab.kernel.sleep(50 * PICOSECONDS, "the operation to begin")
        await self._server.card.reset()
        found = await client.status(tag)
        lab.check("status of an aborted request", found == Status.ABORTED, found.name)
        lab.check("block after a reset", self._disk.read(0, 64) == before, "the aborted write has changed it")
        self._endpoint.access_ps = self._access_ps
        found = await client.status(await client.ask(card, self._service, DiskOp.READ, 0, 64, client.buffer))
        lab.check("next request after a reset", found == Status.DONE, found.name)
