"""Does a host reach single words of the NIC's SRAM and its special registers at any address?

Strategy: words at odd and even addresses are stored one by one and in runs, including the last address, and read back
over the bus. Python's view of the SRAM must show the same. Pointers of the LANai are written and read over the bus.
"""

from __future__ import annotations

from pymodels.registers import Reg
from tb.lab.lab import Lab

RUN = bytes(range(40))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    host, nic = lab.running.hosts[0], lab.running.nics[0]
    places = (0x1000, 0x1004, 0x1FFC, nic.sram_bytes - 4, nic.sram_bytes - 8)
    wrong = 0
    for number, place in enumerate(places, 1):
        await host.pio_write(host.nic_base + place, (0x01020304 * number).to_bytes(4, "big"))
    for number, place in enumerate(places, 1):
        wrong += await host.pio_read(host.nic_base + place) != 0x01020304 * number
        wrong += nic.load(place) != 0x01020304 * number
    for place in (0x2400, 0x3004):
        await host.pio_write(host.nic_base + place, RUN, combine=True)
        await host.pio_read(host.nic_base + place)
        wrong += nic.load_bytes(place, len(RUN)) != RUN
        wrong += nic.load(place - 4) != 0
    for register, value in ((Reg.RMP, 0x4440), (Reg.SMP, 0x5558), (Reg.EIMR, 8)):
        await host.pio_write(host.card.register(register), value.to_bytes(4, "big"))
        wrong += await host.pio_read(host.card.register(register)) != value
    lab.metric("words_wrong", wrong)
