"""How long does a request with its reply take where the card's buffers are the library's, and how full do they get?

Strategy: HPAM (paper 002). The first host and the last one exchange requests and replies of equal data; the median over
the repetitions of a size is the round trip, and its stages come from the trace. Then, with 2, 3, ... all hosts: the
first host sends each other one as many requests as it has buffers for, and they send it as many; while it does not
poll, all requests and all replies that can be under way to it arrive, and are counted in its receive pool: two times
four for each partner, if the paper is right. Every byte is compared. Under loss (`fault.loss`) requests are sent again;
handlers that ran twice are counted.
"""

from __future__ import annotations

import statistics
from collections.abc import Coroutine, Iterable
from typing import Any

from firmware.hpam.host import Call, Hpam, Port
from firmware.hpam.host.message import SLOTS
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.stages import stage_times

LAYER = "hpam"
CLUSTER = "fifo_cards"
SIZES = (0, 20, 64, 256, 1024, 1980)
SETTLE_PS = 100_000_000
"""Within it all that was sent has arrived."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "largest": Option(1024, "largest message in bytes", 0, 1980, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=1 largest=64"


class Program:
    """A process on each host."""

    def __init__(self, lab: Lab, layers: list[Hpam]) -> None:
        self.lab, self.layers = lab, layers
        self.ports: list[Port] = []
        self.came: list[bytes] = []
        """Data of the replies."""
        self.over = False

    async def open(self) -> None:
        """On all hosts."""
        self.ports = [await layer.open([self.echo, self.returned]) for layer in self.layers]

    async def echo(self, call: Call) -> None:
        """Of whoever is asked: send the data back."""
        await call.reply(self.returned, data=call.data)

    async def returned(self, call: Call) -> None:
        """Of whoever has asked."""
        self.came.append(call.data)

    async def serve(self, vnn: int) -> None:
        """Poll until the round trips are over."""
        await self.ports[vnn].until(lambda: self.over, "the end of the round trips")

    async def round_trip(self, far: int, size: int, number: int) -> float:
        """Microseconds."""
        begun, count, data = self.lab.kernel.now, len(self.came), _payload(size, number)
        await self.ports[0].request(far, self.echo, data=data)
        await self.ports[0].until(lambda: len(self.came) > count, "the reply")
        self.lab.check(self.came[-1] == data, f"{size} bytes came back changed")
        return (self.lab.kernel.now - begun) / 1e6

    async def fill(self, hosts: int) -> float:
        """Packets in the receive pool of the first host when all that can be under way to it has come."""
        near, others = self.ports[0], range(1, hosts)
        for vnn in others:
            for number in range(SLOTS):
                await near.request(vnn, self.echo, data=_payload(8, number))
        await self._let(self._answer(vnn) for vnn in others)
        peak = float(await self.layers[0].daemon.arrived())
        ports = [self.ports[vnn] for vnn in range(hosts)]
        await self._let(port.until(lambda: not any(one.unanswered for one in ports)) for port in ports)
        return peak

    async def _answer(self, vnn: int) -> None:
        """A partner answers what has come, and makes its own requests."""
        port = self.ports[vnn]
        before = port.handled
        await port.until(lambda: port.handled >= before + SLOTS, "the requests")
        for number in range(SLOTS):
            await port.request(0, self.echo, data=_payload(8, number))
        await self.lab.kernel.sleep(SETTLE_PS, "what was sent")

    async def _let(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        await self.lab.all([self.lab.spawn(one, "a process") for one in work])


async def run(lab: Lab) -> None:
    """The study."""
    layers = lab.start_layer(LAYER)
    for layer in layers:
        await layer.start()
    program, far = Program(lab, layers), len(layers) - 1
    await program.open()
    serving = lab.spawn(program.serve(far), "the far process")
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    trips = []
    for done, size in enumerate(sizes):
        since = lab.kernel.now
        taken = [await program.round_trip(far, size, number) for number in range(lab.option("repetitions"))]
        trips.append(statistics.median(taken))
        lab.metric(f"round_trip_us_{size}B", trips[-1])
        for stage, times in stage_times(lab, 0, since).items():
            lab.metric(f"{stage}_us_{size}B", statistics.median(times))
        lab.progress(done + 1, len(sizes) + far, "measurements")
    program.over = True
    await lab.all([serving])
    lab.series("round_trip", sizes, trips, "bytes", "us")
    hosts = list(range(2, far + 2))
    peaks = []
    for number in hosts:
        peaks.append(await program.fill(number))
        lab.progress(len(sizes) + number - 1, len(sizes) + far, "measurements")
    lab.series("receive_buffers", hosts, peaks, "hosts", "packets")
    lab.metric("receive_buffers_peak", peaks[-1])
    lab.metric("receive_buffers_law", 2 * SLOTS * far)
    lab.metric("executed_twice", sum(port.executed_twice for port in program.ports))
    lab.metric("resent", sum(port.sender.resent for port in program.ports))
    lab.findings.messages += len(program.came)


def _payload(size: int, number: int) -> bytes:
    return bytes((number + at) % 256 for at in range(size))
