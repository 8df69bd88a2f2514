"""Does a host reach the FPGA card and the frame buffer on its bus, without other effects?

Strategy: a host writes to a bank and reads it back through the card. Then it loads an image by PIO. The card's DMA
fetches that of a slot and a truncated one. The host also writes to a frame buffer. Python's views of the memories must
show the same bytes.
"""

from __future__ import annotations

from firmware.verbs import Host
from pymodels.card.image import build
from pymodels.card.registers import CONFIG, CONFIG_LOADING, REGISTERS, CardReg, Configure, Load
from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.config.model import CARDS, FPGA_CARD, FRAME_CARD
from tb.lab.lab import Lab

CLUSTER = "two_cards"
DATA = bytes(range(64))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    host, cluster = lab.running.hosts[1], lab.running
    fpga, frame = (SLOT + CARDS.index(card) * SLOT_BYTES for card in (FPGA_CARD, FRAME_CARD))
    await host.pio_write(fpga + 0x600010, DATA)
    await host.pio_write(frame + 0x20, DATA)
    lab.metric("read_back", await host.pio_read(fpga + 0x600014))
    await host.pio_read(frame)
    lab.metric("bank_equal", int(bytes(cluster.banks[1][0x600010:0x600050]) == DATA))
    lab.metric("frame_equal", int(bytes(cluster.frames[1][0x20:0x60]) == DATA))
    circuits = lab.plan.cluster.circuits
    before = host.now
    await _command(host, fpga, Configure.START)
    await host.pio_write(fpga + CONFIG, build(circuits, "digests.bit", None, 1000).pack(), combine=True)
    lab.metric("polls", await _end(lab, host, fpga, Load.DONE))
    lab.metric("loading_us", (host.now - before) / 1e6)
    image = build(circuits, "filters.bit", 0, 300).pack()
    for name, file, outcome in (("partial", image, Load.DONE), ("truncated", image[:200], Load.TRUNCATED)):
        buffer = host.allocate(len(file))
        host.store_bytes(buffer.address, file)
        await _command(host, fpga, Configure.START)
        for register, value in (
            (CardReg.DMA_SOURCE, buffer.address),
            (CardReg.DMA_TARGET, CONFIG),
            (CardReg.DMA_BYTES, len(file)),
        ):
            await host.pio_write(fpga + REGISTERS + register, value.to_bytes(4, "big"))
        while await host.pio_read(fpga + REGISTERS + CardReg.DMA_BYTES):
            await host.sleep(1_000_000)
        await _end(lab, host, fpga, outcome)
        lab.metric(f"images_{name}", await host.pio_read(fpga + REGISTERS + CardReg.IMAGE))


async def _command(host: Host, fpga: int, command: Configure) -> None:
    """Write a command of the configuration port."""
    await host.pio_write(fpga + REGISTERS + CardReg.CONFIG, command.to_bytes(4, "big"))


async def _end(lab: Lab, host: Host, fpga: int, outcome: Load) -> int:
    """End an image, wait for its outcome, and return the number of polls."""
    await _command(host, fpga, Configure.END)
    polls = 0
    while (found := await host.pio_read(fpga + REGISTERS + CardReg.CONFIG)) & CONFIG_LOADING:
        polls += 1
        await host.sleep(1_000_000)
    lab.check("outcomes of images", found == outcome, f"{found} instead of {outcome!r}")
    return polls
