"""How long does a UDP datagram take over its size, and where does the time go: copies, kernel entries, interrupts?

Strategy: a process on the first host and one on the last exchange a datagram, each asleep in `recvfrom` while it waits.
Half of a round trip is the one-way time, the median over the repetitions of a size. Every byte is compared. With
`signals=1` the far process computes instead and receives in its SIGIO handler, by `select` and `recvfrom`. Interrupts,
copies and checksums of a datagram are counted; the interrupt latency is the profile's.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from firmware.udp.formats import IP_BYTES, UDP_BYTES, parts
from pymodels.host import Sig
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.rounds import round_trips

if TYPE_CHECKING:
    from firmware.udp.host import Received, Socket, Udp

LAYER = "udp"
SIZES = (4, 64, 256, 1024, 4096, 8192, 16384, 32768)
PORT = 2049
PATIENCE_NS = 100_000_000
"""Time after which a datagram without a reply is considered lost, ns."""
COMPUTING_NS = 50_000
"""Computing time of the far process between checks, ns."""
OPTIONS = {
    "repetitions": Option(15, "round trips of each size", 1, 100_000),
    "largest": Option(32768, "largest datagram in bytes", 4, SIZES[-1], unit="bytes"),
    "signals": Option(0, "1: the far process computes, and answers in the handler of SIGIO", 0, 1),
    **layer_options(LAYER),
}
QUICK = "repetitions=1 largest=8192"


class End:
    """Process of a host, its socket, and its send and receive memory."""

    def __init__(self, lab: Lab, udp: Udp, other: int) -> None:
        self.lab, self.udp, self.other = lab, udp, other
        self.process = udp.host.process("app")
        self.out, self.into = (self.process.allocate(SIZES[-1]) for _ in range(2))
        self.socket: Socket
        self.over = False

    async def open(self) -> None:
        """Open a socket connected to the other process."""
        self.socket = await self.udp.socket(self.process)
        await self.socket.bind(PORT)
        await self.socket.connect(self.other, PORT)

    async def answer(self, got: Received) -> None:
        """Send a received datagram back; an empty one ends the process."""
        self.over = self.over or not got.whole
        self.process.store_bytes(self.out, self.process.load_bytes(self.into, got.size))
        await self.socket.send(self.out, got.size)

    async def echo(self) -> None:
        """Reply until the end, asleep between datagrams."""
        while not self.over:
            await self.answer(await self.socket.recv(self.into, SIZES[-1]))

    async def compute(self) -> None:
        """Compute until the end; a signal handler replies."""
        self.process.on_signal(Sig.IO, self._signalled)
        await self.socket.set_async(True)
        while not self.over:
            await self.process.compute(COMPUTING_NS)

    async def _signalled(self, sig: Sig) -> None:
        while await self.udp.select(self.process, [self.socket], 0):
            await self.answer(await self.socket.recv(self.into, SIZES[-1]))

    async def request(self, data: bytes) -> bytes | None:
        """Send a datagram. Return the reply, or None if it is lost."""
        self.process.store_bytes(self.out, data)
        await self.socket.send(self.out, len(data))
        if self.lab.lossy and not await self.udp.select(self.process, [self.socket], PATIENCE_NS):
            return None
        got = await self.socket.recv(self.into, SIZES[-1])
        return self.process.load_bytes(self.into, got.size)


async def run(lab: Lab) -> None:
    """Run the study."""
    udps: list[Udp] = lab.start_layer(LAYER)
    await start_in_turn(udps)
    near, far = End(lab, udps[0], len(udps) - 1), End(lab, udps[-1], 0)
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    await lab.all([lab.spawn(end.open(), "a socket") for end in (near, far)])
    serving = lab.spawn(far.compute() if lab.option("signals") else far.echo(), "the far process")
    asking = lab.spawn(_ask(lab, near, far, sizes), "the near process")
    await lab.all([asking, serving])
    kernels = [udp.kernel for udp in (near.udp, far.udp)]
    lab.metric("copies_per_byte", sum(kernel.copied for kernel in kernels) / sum(kernel.bytes for kernel in kernels))
    lab.metric("datagrams", sum(kernel.sent for kernel in kernels))
    lab.metric("interrupts", sum(udp.interrupts for udp in (near.udp, far.udp)))
    lab.metric("lost", sum(kernel.sent - kernel.received for kernel in kernels))


async def _ask(lab: Lab, near: End, far: End, sizes: list[int]) -> None:
    """Measure all sizes, then end the far process."""
    one_way = []
    for done, size in enumerate(sizes):
        one_way.append(await _round_trips(lab, near, size) / 2)
        lab.metric(f"udp_us_{size}B", one_way[-1])
        lab.metric(f"frames_{size}B", len(parts(UDP_BYTES + size, lab.option("udp.mtu"))))
        lab.progress(done + 1, len(sizes), "sizes")
    lab.series("one_way", sizes, one_way, "B", "us")
    lab.metric("headers_B", IP_BYTES + UDP_BYTES)
    while not far.over:
        await near.request(b"")


async def _round_trips(lab: Lab, near: End, size: int) -> float:
    """Return the median round trip, us."""

    async def ask(number: int) -> bool:
        data = bytes((number + 3 * at) & 0xFF for at in range(size))
        came = await near.request(data)
        lab.check("returned bytes", came is None or came == data, f"{size} bytes returned corrupted")
        return came is not None

    trips = await round_trips(lab, lab.option("repetitions"), ask)
    lab.check(
        "number of replies",
        lab.lossy or len(trips.took) == lab.option("repetitions"),
        f"datagrams of {size} bytes are lost",
    )
    return statistics.median(trips.us) if trips.took else 0.0
