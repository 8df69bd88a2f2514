"""How long does a HAL packet take, what is the bandwidth of a pair's routes, and what do interrupts cost?

Strategy: the first and the last host exchange a packet; half of a round trip is the one-way time, the median over the
repetitions of a size. The same in interrupt mode, where no task polls: the interrupt routine replies, and each packet
arrives after the routine of the previous one has ended. Then the first host sends packets back to back. Bandwidth is
the data received until the last packet, and overtaken packets are those that arrive after a later one. Every packet is
compared; where links lose or damage packets, those are ignored.
"""

from __future__ import annotations

import statistics

from firmware.hal.host import HostHal
from firmware.hal.host.interface import MOST, Packet
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import start_in_turn
from tb.studies.kit.rounds import round_trips

LAYER = "hal"
CLUSTER = "sp_board"
SIZES = (8, 64, 256, 512, MOST)
PING, STREAM = 1, 2
"""Protocol numbers."""
PATIENCE_PS = 500_000_000
"""Time after which a packet is considered lost, ps."""
INTERRUPTED = 8
"""Bytes of a packet in interrupt mode."""
OPTIONS = {
    "repetitions": Option(3, "round trips of each size", 1, 100_000),
    "packets": Option(40, "packets back to back", 1, 100_000),
    **layer_options(LAYER),
}
QUICK = "repetitions=2 packets=24"


class End:
    """Host at one end of the measured packets."""

    def __init__(self, hal: HostHal, other: int) -> None:
        self.hal, self.other = hal, other
        self.pings: list[bytes] = []
        self.came: list[int] = []
        """Numbers of the back-to-back packets, in order of arrival."""
        self.changed = 0
        self.last = 0
        """Arrival of the last packet, ps."""
        self.answers = False
        """True while the packet handler replies."""
        hal.on_packet(PING, self._ping)
        hal.on_packet(STREAM, self._next)

    async def _ping(self, packet: Packet) -> None:
        self.pings.append(bytes(packet.view))
        if self.answers:
            await self.hal.send(self.other, PING, b"", packet.view)

    async def _next(self, packet: Packet) -> None:
        number = int.from_bytes(packet.view[:4], "big")
        self.changed += bytes(packet.view) != body(number)
        self.came.append(number)
        self.last = self.hal.host.now

    async def ping(self, data: bytes) -> bool:
        """Send a packet and wait for the reply. Return True if it arrived."""
        count = len(self.pings)
        await self.hal.send(self.other, PING, b"", data)
        return await self.hal.wait(lambda: len(self.pings) > count, self.hal.host.now + PATIENCE_PS)


def body(number: int) -> bytes:
    """Return the bytes of a back-to-back packet."""
    return number.to_bytes(4, "big") + bytes((number + at) & 0xFF for at in range(MOST - 4))


async def run(lab: Lab) -> None:
    """Run the study."""
    hals = lab.start_layer(LAYER)
    await start_in_turn(hals)
    near, far = End(hals[0], len(hals) - 1), End(hals[-1], 0)
    one_way = [await _polled(lab, near, far, size) for size in SIZES]
    curve(lab, "one_way", SIZES, one_way, "B", "us", "one_way_us_{}B")
    lab.metric(f"round_trip_interrupt_us_{INTERRUPTED}B", await _interrupted(lab, near, far))
    await _stream(lab, near, far)


async def _polled(lab: Lab, near: End, far: End, size: int) -> float:
    """Return the median one-way time, us."""
    done = [False]
    waits = lab.spawn(far.hal.wait(lambda: done[0]), "the far host")
    us = await _round_trips(lab, near, far, size) / 2
    done[0] = True
    far.hal.changed()
    await lab.all([waits])
    return us


async def _interrupted(lab: Lab, near: End, far: End) -> float:
    """Return the median round trip, us, where each packet interrupts the far host."""
    await far.hal.interrupts(True)
    us = await _round_trips(lab, near, far, INTERRUPTED, pause_ps=1_500_000 * lab.option("hal.interrupt_delay_us"))
    await far.hal.interrupts(False)
    lab.check("interrupts", far.hal.interrupted == lab.option("repetitions"), f"{far.hal.interrupted} interrupts")
    return us


async def _round_trips(lab: Lab, near: End, far: End, size: int, pause_ps: int = 0) -> float:
    """Return the median round trip, us, with a pause before each."""
    far.answers, data = True, bytes(at & 0xFF for at in range(size))

    async def ask(number: int) -> bool:
        came = await near.ping(data)
        lab.check("returned bytes", not came or near.pings[-1] == data, f"{size} bytes were returned changed")
        return came

    trips = await round_trips(lab, lab.option("repetitions"), ask, pause=lambda: pause_ps)
    far.answers = False
    lab.check(
        "number of replies",
        lab.lossy or len(trips.took) == lab.option("repetitions"),
        f"packets of {size} bytes are lost",
    )
    return statistics.median(trips.us) if trips.took else 0.0


async def _stream(lab: Lab, near: End, far: End) -> None:
    """Measure back-to-back packets."""
    count = lab.option("packets")
    begun = lab.kernel.now

    async def give() -> None:
        for number in range(count):
            await near.hal.send(near.other, STREAM, b"", body(number))

    async def take() -> None:
        while await far.hal.wait(lambda: len(far.came) == count, far.hal.host.now + PATIENCE_PS) is False:
            if far.hal.host.now > far.last + PATIENCE_PS and lab.lossy:
                return

    await lab.all([lab.spawn(give(), "the near host"), lab.spawn(take(), "the far host")])
    lab.findings.messages += count
    lost = count - len(far.came)
    lab.check(
        "packets of the stream",
        not far.changed and len(set(far.came)) == len(far.came),
        "packets were changed or duplicated",
    )
    lab.check("lost packets", lab.lossy or not lost, f"{lost} packets are lost")
    lab.metric("bandwidth_MBps_1024B", len(far.came) * MOST / (far.last - begun) * 1e6)
    lab.metric("overtaken", sum(any(later > number for later in far.came[:at]) for at, number in enumerate(far.came)))
    lab.metric("lost", lost)
