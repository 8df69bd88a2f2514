"""What do the basic operations cost on this host and card: PIO, DMA start-up, kernel entry, interrupt, link and switch?

Strategy: each operation alone, on the RTL, as a driver would time it. Published costs of basic operations are totals
that contain arbitration, address phase and waits (readings A1). The wait states of the profile are therefore set so
that these totals result, and nothing is added. For DMA the whole curve is measured in each direction: start-up, rate,
and the size above which transfers to the host take longer.
"""

from __future__ import annotations

import statistics

from pymodels.registers import Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.engines import SCRATCH, engines

HOSTS = 2
"""Number of hosts; a message goes from the first to the last."""
OPTIONS = {
    "words": Option(48, "words of a PIO write measurement", 3, 4096),
    "reads": Option(12, "PIO reads measured", 1, 4096),
    "interrupts": Option(200, "interrupts measured", 2, 100_000),
    "dmas": Option(5, "DMA transfers measured in each direction", 1, 1000),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    steps = (_pio_write, _pio_read, _pio_combined, _dma, _kernel_entry, _interrupts, _network)
    for done, step in enumerate(steps):
        await step(lab)
        lab.progress(done + 1, len(steps), "operations")


async def _pio_write(lab: Lab) -> None:
    """Measure uncached stores: the cost of further words once the bridge's queue is full."""
    host, words = lab.running.hosts[0], lab.option("words")
    ends = []
    for count in (words, 2 * words):
        await lab.kernel.sleep(5_000_000)
        begun = lab.kernel.now
        await host.pio_write(host.nic_base + SCRATCH, bytes(4 * count))
        ends.append(lab.kernel.now - begun)
    lab.metric("pio_write_us_per_word", (ends[1] - ends[0]) / words / 1e6)
    await lab.kernel.sleep(5_000_000)
    begun = lab.kernel.now
    await host.pio_write(host.nic_base + SCRATCH, bytes(20))
    await host.pio_read(host.nic_base + SCRATCH)
    five = lab.kernel.now - begun
    begun = lab.kernel.now
    await host.pio_read(host.nic_base + SCRATCH)
    lab.metric("pio_write_us_5_words", (five - (lab.kernel.now - begun)) / 1e6)


async def _pio_read(lab: Lab) -> None:
    host = lab.running.hosts[0]
    await lab.kernel.sleep(5_000_000)
    begun = lab.kernel.now
    for _ in range(lab.option("reads")):
        await host.pio_read(host.nic_base + SCRATCH)
    lab.metric("pio_read_us_per_word", (lab.kernel.now - begun) / lab.option("reads") / 1e6)


async def _pio_combined(lab: Lab) -> None:
    """Measure write-combined stores of 4 KB: bandwidth in steady state."""
    host = lab.running.hosts[0]
    source = host.allocate(8192)
    ends = []
    for size in (4096, 8192):
        await lab.kernel.sleep(5_000_000)
        begun = lab.kernel.now
        await host.pio_copy(host.nic_base + SCRATCH, source.address, size)
        ends.append(lab.kernel.now - begun)
    lab.metric("pio_combined_MBps", 4096 / (ends[1] - ends[0]) * 1e6)
    lab.metric("pio_combined_us_per_line", (ends[1] - ends[0]) / 128 / 1e6)


async def _dma(lab: Lab) -> None:
    """Measure transfers from one word to the largest single transfer, from the write that starts each to its end."""
    own, address = engines(lab), lab.running.hosts[0].allocate(8192).address
    times: dict[bool, list[float]] = {}
    for to_nic, name in ((True, "host_to_nic"), (False, "nic_to_host")):
        found = times[to_nic] = []
        for size in own.sizes:
            took = [await own.transfer(size, address, to_nic) for _ in range(lab.option("dmas"))]
            found.append(statistics.median(took) / 1e6)
        (least, most), (start, long) = ((of[0], of[-1]) for of in (own.sizes, found))
        lab.metric(f"dma_start_us_{name}", start)
        lab.metric(f"dma_MBps_{name}", (most - least) / (long - start))
        for size in own.bulk:
            lab.metric(f"dma_MBps_{size}B_{name}", size / await own.transfer(size, address, to_nic) * 1e6)
        lab.series(f"raw_dma_{name}", own.sizes, found, "B", "us")
        lab.series(
            f"raw_dma_{name}_bandwidth", own.sizes, [s / t for s, t in zip(own.sizes, found, strict=True)], "B", "MB/s"
        )
    slower = [size for size, out, back in zip(own.sizes, times[True], times[False], strict=True) if back > out]
    if slower and slower == list(own.sizes[-len(slower) :]):
        lab.metric("dma_nic_to_host_dearer_from_B", slower[0])


async def _kernel_entry(lab: Lab) -> None:
    begun = lab.kernel.now
    await lab.running.hosts[0].syscall()
    lab.metric("kernel_entry_us", (lab.kernel.now - begun) / 1e6)


async def _interrupts(lab: Lab) -> None:
    """Measure the time from the NIC processor's write that requests an interrupt to the interrupt routine's start."""
    host, own = lab.running.hosts[0], engines(lab)
    served, isr = host.event("an interrupt to be served"), host.card.register(Reg.ISR)
    latencies = []

    async def service() -> None:
        latencies.append(lab.kernel.now - begun)
        await host.pio_write(isr, host.card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))
        await host.pio_read(isr)
        served.set()

    host.on_interrupt(service)
    for _ in range(lab.option("interrupts")):
        begun = lab.kernel.now
        own.interrupt()
        await served.wait()
        await lab.kernel.sleep(1_000_000)
    lab.metric("interrupt_us_min", min(latencies) / 1e6)
    lab.metric("interrupt_us_max", max(latencies) / 1e6)


async def _network(lab: Lab) -> None:
    """Send one short packet to the last host and measure the time of its head through cable and switch."""
    last = len(lab.running.hosts) - 1
    route = lab.plan.cluster.routes_from(0)[last]
    lab.check("last packet", await engines(lab).send(last, route), "the packet arrived corrupted")
    trace = lab.trace()

    def when(owner: int, event: TraceEvent) -> int:
        return int(trace["time"][(trace["unit"] == owner) & (trace["event"] == event)][-1])

    head = when(unit(0, Part.LINK), TraceEvent.TX_HEAD)
    routed = int(trace["time"][trace["event"] == TraceEvent.SWITCH_HEAD][-len(route)])
    arrived = when(unit(last, Part.LINK), TraceEvent.RX_HEAD)
    lab.metric("link_us", (routed - head) / 1e6)
    lab.metric("wire_and_switches_us", (arrived - head) / 1e6)
    lab.metric("switches", len(route))
