"""Which MTU gives EPOS the highest bandwidth, and which the lowest latency of a long message?

Strategy: EPOS runs with each MTU from 256 B to the largest one. The first host streams messages of a slot's size to the
last one, and sends single messages. The law: n frames take as long as one frame, plus n - 1 times the time of the
slowest stage for one frame. That time is the difference between a message of two frames and one of one frame. The copy
from staging is excluded from these times, and added as a whole. At the end the MTU is lowered at run time, from the
largest to the smallest. A message then takes as long as with that MTU from the start, except for the protocol's cost.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, one_way_us, started
from tb.studies.kit.findings import curve

if TYPE_CHECKING:
    from firmware.epos.host import Epos

LEAST = 256
_LAYER = layer_options(LAYER)
OPTIONS = {
    "repetitions": Option(1, "single messages of each MTU", 1, 100_000),
    "messages": Option(4, "messages of a stream", 2, 100_000),
    "size": Option(65536, "bytes of a message, a power of two", 1024, 1 << 16, unit="bytes"),
    "most": Option(8192, "largest MTU, a power of two", 512, 8192),
    **{name: option for name, option in _LAYER.items() if name not in ("epos.mtu", "epos.protocols")},
    "epos.pio_limit": replace(_LAYER["epos.pio_limit"], default=0),
}
QUICK = "messages=2 size=16384"
TINY = "messages=2 size=1024 most=512"


async def run(lab: Lab) -> None:
    """Run the study."""
    mtus, size = [LEAST], lab.option("size")
    while mtus[-1] < min(lab.option("most"), size):
        mtus.append(2 * mtus[-1])
    rates, times = list[float](), list[float]()
    for done, mtu in enumerate(mtus):
        hosts = await started(lab, {"mtu": mtu, "slot_bytes": size})
        rates.append(await _stream(lab, hosts[0], hosts[-1], size))
        times.append(await _mean(lab, hosts, size))
        lab.metric(f"law_percent_{mtu}B", 100 * (await _law(lab, hosts, mtu, size) / times[-1] - 1))
        await lab.change_layers()
        lab.progress(done + 1, len(mtus), "MTUs")
    curve(lab, "bandwidth", mtus, rates, "B", "MB/s", "bandwidth_MBps_{}B")
    curve(lab, "one_way", mtus, times, "B", "us", "one_way_us_{}B")
    lab.metric("best_MTU_B", mtus[rates.index(max(rates))])
    lab.metric("best_MTU_for_latency_B", mtus[times.index(min(times))])
    settings: dict[str, float | str] = {"mtu": mtus[-1], "slot_bytes": size, "least_mtu": LEAST, "protocols": "mtu"}
    hosts = await started(lab, settings)
    for host in (hosts[0], hosts[-1]):
        await host.lower_mtu(LEAST)
    lab.metric("lowered_over_built_percent", 100 * (await _mean(lab, hosts, size) / times[0] - 1))


async def _stream(lab: Lab, near: Epos, far: Epos, size: int) -> float:
    """Return the rate of back-to-back messages in MB/s, without the first one."""
    count = lab.option("messages")

    async def take() -> int:
        await far.receive()
        begun = lab.kernel.now
        for _ in range(count - 1):
            await far.receive()
        return lab.kernel.now - begun

    taking = lab.spawn(take(), "the far host")
    for number in range(count):
        await near.send(far.me, bytes([number & 0xFF]) * size)
    (took,) = await lab.all([taking])
    lab.findings.messages += count
    return float(1e6 * (count - 1) * size / took)


async def _mean(lab: Lab, hosts: list[Any], size: int) -> float:
    """Return the mean one-way time of a message in us."""
    data = bytes(at & 0xFF for at in range(size))
    return statistics.mean(await one_way_us(lab, hosts[0], hosts[-1], data, lab.option("repetitions")))


async def _law(lab: Lab, hosts: list[Any], mtu: int, size: int) -> float:
    """Return the time in us that the law predicts for a message, from messages of one and two frames."""
    one, two = [await _mean(lab, hosts, part) - await _copy(lab, hosts[-1], part) for part in (mtu, 2 * mtu)]
    return one + (size // mtu - 1) * (two - one) + await _copy(lab, hosts[-1], size)


async def _copy(lab: Lab, host: Epos, size: int) -> float:
    """Return the time of a copy from staging in us."""
    memory, begun = host.host.allocate(2 * size), lab.kernel.now
    await host.host.copy_memory("epos_copy", memory.address + size, memory.address, size)
    return (lab.kernel.now - begun) / 1e6
