"""Do packets on cyclic routes deadlock, and is the cycle of waiting packets reported?

Strategy: every NIC of a ring of switches sends one packet to the host two switches away, all at the same time. The
packet is longer than all slack buffers on its path. Each packet gets its first link and waits for the next one, which
another packet holds. No firmware runs: the study writes the registers.
"""

from __future__ import annotations

from pymodels.registers import Reg
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.stuck.watch import until_deadlock

CYCLIC_ROUTES = True
OPTIONS = {"bytes": Option(2000, "bytes of each packet", 8, 8192), "steps": Option(2, "switches that it crosses", 1, 7)}
OUT, IN, ROOM = 0x1000, 0x8000, 0x4000


async def run(lab: Lab) -> None:
    """Run the scenario."""
    nics, size = lab.running.nics, lab.option("bytes") // 8 * 8
    for vnn, nic in enumerate(nics):
        nic.write(Reg.RMP, IN)
        nic.write(Reg.RML, IN + ROOM)
        route = lab.plan.cluster.routes_from(vnn)[(vnn + lab.option("steps")) % len(nics)]
        packet = bytes(8 - len(route)) + route + b"\x0e\xc0" + bytes(size - 2)
        nic.store_words(OUT, [int.from_bytes(packet[i : i + 4], "big") for i in range(0, len(packet), 4)])
        nic.write(Reg.SMP, OUT)
        nic.write(Reg.SA, 8 - len(route))
        nic.write(Reg.SMLT, OUT + len(packet))
    found = await until_deadlock(lab, [lab.spawn(_all_arrived(lab), "arrivals")], quiet_us=20)
    lab.metric("deadlocks", len(found.cycles) if found else 0)
    lab.metric("in_the_cycle", len(found.units) if found else 0)


async def _all_arrived(lab: Lab) -> None:
    """Wait until the head of a packet is in every NIC's memory."""
    for nic in lab.running.nics:
        while not nic.load(IN):
            await lab.kernel.sleep(1_000_000, "a packet")
