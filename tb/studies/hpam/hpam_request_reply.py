"""How long does a request with its reply take from buffers on the card, and how full does the receive pool get?

Strategy: HPAM (paper 002). The first and the last host exchange requests and replies with equal data. The round trip is
the median over the repetitions of a size; its stages come from the trace. Then, with 2, 3, ... all hosts, the first
host sends each other host one request a request buffer, and they do the same. While it does not poll, all requests and
replies that may be outstanding to it arrive in its receive pool and are counted: two times four for each partner, by
the paper. Every byte is compared. Under loss (`fault.loss`) requests are retransmitted; handlers that ran twice are
counted.
"""

from __future__ import annotations

import statistics

from firmware.hpam.host import Hpam, Port
from firmware.hpam.host.message import SLOTS
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.echo import Echo
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn, together
from tb.studies.kit.payload import numbered
from tb.studies.kit.stages import stage_times

LAYER = "hpam"
CLUSTER = "fifo_cards"
SIZES = (0, 20, 64, 256, 1024, 1980)
SETTLE_PS = 100_000_000
"""Time after which all sent packets have arrived, ps."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "largest": Option(1024, "largest message in bytes", 0, 1980, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "repetitions=1 largest=64"


class Program(Echo):
    """Process on each host."""

    def __init__(self, lab: Lab, layers: list[Hpam]) -> None:
        super().__init__(lab)
        self.layers = layers
        self.ports: list[Port] = []

    async def open(self) -> None:
        """Open a port on all hosts."""
        self.ports = [await layer.open([self.echo, self.returned]) for layer in self.layers]

    async def fill(self, hosts: int) -> float:
        """Return the packets in the receive pool of the first host when all outstanding messages have arrived."""
        near, others = self.ports[0], range(1, hosts)
        for vnn in others:
            for number in range(SLOTS):
                await near.request(vnn, self.echo, data=numbered(8, number))
        await together(self.lab, "process", [self._answer(vnn) for vnn in others])
        peak = float(await self.layers[0].daemon.arrived())
        ports = [self.ports[vnn] for vnn in range(hosts)]
        ends = [port.until(lambda: not any(one.unanswered for one in ports)) for port in ports]
        await together(self.lab, "process", ends)
        return peak

    async def _answer(self, vnn: int) -> None:
        """Reply to all requests of a partner, then send requests to it."""
        port = self.ports[vnn]
        before = port.handled
        await port.until(lambda: port.handled >= before + SLOTS, "the requests")
        for number in range(SLOTS):
            await port.request(0, self.echo, data=numbered(8, number))
        await self.lab.kernel.sleep(SETTLE_PS, "what was sent")


async def run(lab: Lab) -> None:
    """Run the study."""
    layers = lab.start_layer(LAYER)
    await start_in_turn(layers)
    program, far = Program(lab, layers), len(layers) - 1
    await program.open()
    serving = lab.spawn(program.serve(program.ports[far]), "the far process")
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    trips = []
    for done, size in enumerate(sizes):
        since = lab.kernel.now
        taken = await program.round_trips(program.ports[0], far, size, lab.option("repetitions"))
        trips.append(statistics.median(taken.us))
        for stage, times in stage_times(lab, 0, since).items():
            lab.metric(f"{stage}_us_{size}B", statistics.median(times))
        lab.progress(done + 1, len(sizes) + far, "measurements")
    program.over = True
    await lab.all([serving])
    curve(lab, "round_trip", sizes, trips, "B", "us", "round_trip_us_{}B")
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
