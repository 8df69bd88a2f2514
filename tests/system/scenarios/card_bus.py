"""Does a host reach the FPGA card and the frame buffer on its bus, without other effects?

Strategy: a host writes to a bank and reads it back through the card. Then it loads an image, checks that it is loaded,
and writes to a frame buffer. Python's views of the memories must show the same bytes.
"""

from __future__ import annotations

from pymodels.card.registers import REGISTERS, CardReg
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
    await host.pio_write(fpga + REGISTERS + CardReg.CONFIG_CLOCKS, (1000).to_bytes(4, "big"))
    before = host.now
    await host.pio_write(fpga + REGISTERS + CardReg.IMAGE, (2).to_bytes(4, "big"))
    polls = 0
    while await host.pio_read(fpga + REGISTERS + CardReg.IMAGE) != 2:
        polls += 1
        await host.sleep(1_000_000)
    lab.metric("loading_us", (host.now - before) / 1e6)
    lab.metric("polls", polls)
