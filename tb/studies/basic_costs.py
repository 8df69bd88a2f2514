"""What do the basic operations cost on this host and card: PIO, DMA start-up, kernel entry, interrupt, link and switch?

Strategy: each operation alone, on the RTL, as a driver would time it. Published costs of basic operations are totals
that contain arbitration, address phase and waits (readings A1): the wait states of the profile are set so that these
totals come out, and nothing is added on top. Where a profile's own NIC has no RTL yet (sp), the LANai 9 card stands in
with that profile's clocks and wait states.
"""

from __future__ import annotations

import statistics

from pymodels.lanai4 import Ebus
from pymodels.registers import Block, Flag, Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab import Lab
from tb.studies import Option

OPTIONS = {
    "words": Option(48, "words of a PIO write measurement", 3, 4096),
    "reads": Option(12, "PIO reads measured", 1, 4096),
    "interrupts": Option(200, "interrupts measured", 2, 100_000),
    "dmas": Option(5, "DMA transfers measured each way", 1, 1000),
}
SCRATCH = 0x10000
"""SRAM used for the measurements."""
BLOCKS, ROUTED, ARRIVED = 0x1000, 0x2000, 0x4000
CHAIN = 0
PACKET = bytes.fromhex("06360000") + bytes(range(28))


async def run(lab: Lab) -> None:
    """The study."""
    steps = (_pio_write, _pio_read, _pio_combined, _dma, _kernel_entry, _interrupts, _network)
    for done, step in enumerate(steps):
        await step(lab)
        lab.progress(done + 1, len(steps), "operations")


async def _pio_write(lab: Lab) -> None:
    """Uncached stores: the cost of further words once the bridge's queue is full."""
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
    """Write-combined stores of 4 KB: bandwidth, once in steady state."""
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
    """A transfer of one word: from the start of the chain to the end of the block. And the rate of 4 KB."""
    host, nic = lab.running.hosts[0], lab.running.nics[0]
    buffer = host.allocate(4096)
    position = 0
    if nic.kind == "lanai9":
        nic.write(Reg.DMA_LIST0 + 8 * CHAIN, BLOCKS)
    for to_nic, name in ((True, "host_to_nic"), (False, "nic_to_host")):
        times: dict[int, list[int]] = {4: [], 4096: []}
        for size, found in times.items():
            for _ in range(lab.option("dmas")):
                await lab.kernel.sleep(20_000_000)
                register, value = _prepare(lab, position, size, buffer.address, to_nic)
                position ^= 1
                await lab.kernel.sleep(1_000_000)
                begun = lab.kernel.now
                nic.write(register, value)
                await lab.kernel.sleep(200_000_000)
                found.append(_dma_done(lab) - begun)
        start, long = (statistics.median(times[size]) for size in (4, 4096))
        lab.metric(f"dma_start_us_{name}", start / 1e6)
        lab.metric(f"dma_MBps_{name}", 4092 / (long - start) * 1e6)


def _prepare(lab: Lab, position: int, size: int, address: int, to_nic: bool) -> tuple[int, int]:
    """Everything but the write that starts a transfer: register and value of that one.

    LANai 4: its registers. LANai 9: the control block the chain stands at; the next one is TERMINAL, so that it stops.
    """
    nic = lab.running.nics[0]
    if nic.kind == "lanai4":
        nic.write(Ebus.EAR, address)
        nic.write(Ebus.LAR, SCRATCH)
        nic.write(Ebus.DMA_DIR, int(to_nic))
        return Ebus.DMA_CTR, size
    here, there = (BLOCKS + Block.SIZE * (position ^ i) for i in (0, 1))
    nic.store(there + Block.NEXT, here | Flag.TERMINAL)
    nic.store_words(here + Block.CSUM, (0, size, SCRATCH, 0, address))
    nic.store(here + Block.NEXT, there | Flag.WAKE | (Flag.E2L if to_nic else 0))
    return Reg.PULSE, 1 << CHAIN


def _dma_done(lab: Lab) -> int:
    """When the last transfer of node 0 ended, from the trace; picoseconds."""
    trace = lab.trace()
    mine = trace[(trace["unit"] == unit(0, Part.HOST_DMA)) & (trace["event"] == TraceEvent.DMA_DONE)]
    return int(mine["time"][-1])


async def _kernel_entry(lab: Lab) -> None:
    begun = lab.kernel.now
    await lab.running.hosts[0].syscall()
    lab.metric("kernel_entry_us", (lab.kernel.now - begun) / 1e6)


async def _interrupts(lab: Lab) -> None:
    """From the NIC processor's write of HOST_SIG to the start of the service routine, which clears it."""
    host, nic = lab.running.hosts[0], lab.running.nics[0]
    served, isr = host.event("an interrupt to be served"), host.card.register(Reg.ISR)
    latencies = []

    async def service() -> None:
        latencies.append(lab.kernel.now - begun)
        await host.pio_write(isr, host.card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))
        await host.pio_read(isr)
        served.set()

    host.on_interrupt(service)
    nic.write(Reg.EIMR, 1 << Isr.HOST_SIG)
    for _ in range(lab.option("interrupts")):
        begun = lab.kernel.now
        nic.write(Reg.ISR, 1 << Isr.HOST_SIG)
        await served.wait()
        await lab.kernel.sleep(1_000_000)
    nic.write(Reg.EIMR, 0)
    lab.metric("interrupt_us_min", min(latencies) / 1e6)
    lab.metric("interrupt_us_max", max(latencies) / 1e6)


async def _network(lab: Lab) -> None:
    """One short packet to the last host: how long its head takes through cable and switch."""
    last = len(lab.running.hosts) - 1
    sender, receiver = lab.running.nics[0], lab.running.nics[last]
    route = lab.plan.cluster.routes_from(0)[last]
    receiver.write(Reg.RMP, ARRIVED)
    receiver.write(Reg.RML, ARRIVED + 1024)
    end, skip = ROUTED + len(route) + len(PACKET), -len(route) % sender.word_bytes
    sender.sram[ROUTED + skip : end + skip] = route + PACKET
    sender.write(Reg.SA, skip)
    sender.write(Reg.SMP, ROUTED)
    sender.write(Reg.SMLT, end + skip)
    await lab.kernel.sleep(20_000_000)
    lab.check(receiver.load_bytes(ARRIVED, len(PACKET)) == PACKET, "the packet arrived changed")
    trace = lab.trace()

    def when(owner: int, event: TraceEvent) -> int:
        return int(trace["time"][(trace["unit"] == owner) & (trace["event"] == event)][-1])

    head = when(unit(0, Part.LINK), TraceEvent.TX_HEAD)
    routed = int(trace["time"][trace["event"] == TraceEvent.SWITCH_HEAD][-len(route)])
    arrived = when(unit(last, Part.LINK), TraceEvent.RX_HEAD)
    lab.metric("link_us", (routed - head) / 1e6)
    lab.metric("wire_and_switches_us", (arrived - head) / 1e6)
    lab.metric("switches", len(route))
