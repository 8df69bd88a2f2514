"""Are waiting packets of SP adapters reported with what they wait for, including packets in a central queue?

Strategy: every sender sends packets to the node `steps` away, or to the last node (`steps=0`); no node receives any. No
firmware runs: the study writes the adapters' registers.
"""

from __future__ import annotations

from pymodels.formats.sp import MAX_USER, SpPacket
from pymodels.nics.sp.registers import SpReg, SpStatus, fetch_command
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.stuck.watch import until_deadlock

CYCLIC_ROUTES = True
OPTIONS = {
    "packets": Option(4, "packets of each sender", 1, 64),
    "bytes": Option(1000, "user bytes of each packet", 72, MAX_USER),
    "steps": Option(0, "to the node so many on; 0: all to the last one", 0, 7),
}
LOOK_PS, FOR_EVER_PS = 500_000, 10**12


async def run(lab: Lab) -> None:
    """Run the scenario."""
    nodes = len(lab.running.nics)
    senders = [(vnn, (vnn + lab.option("steps")) % nodes) for vnn in range(nodes)]
    if not lab.option("steps"):
        senders = [(vnn, nodes - 1) for vnn in range(nodes - 1)]
    tasks = [lab.spawn(_send(lab, vnn, target), f"sender {vnn}") for vnn, target in senders]
    tasks.append(lab.spawn(_receive_nothing(lab), "receivers"))
    found = await until_deadlock(lab, tasks, quiet_us=20)
    lab.metric("cycles", len(found.cycles) if found else 0)


async def _receive_nothing(lab: Lab) -> None:
    await lab.kernel.sleep(FOR_EVER_PS, "somebody to take a packet")


async def _send(lab: Lab, vnn: int, target: int) -> None:
    """Send packets from one node to another, and wait for the end of the last one."""
    nic, host, size = lab.running.nics[vnn], lab.running.hosts[vnn], lab.option("bytes") // 8 * 8
    route, buffer = lab.plan.cluster.routes_from(vnn)[target], host.allocate(4096)

    async def until(bit: int) -> None:
        while not await nic.read(SpReg.STATUS) >> bit & 1:
            await lab.kernel.sleep(LOOK_PS, "the next look at STATUS")

    for number in range(lab.option("packets")):
        packet = SpPacket(route, vnn, target, (vnn << 24 | number + 1, 0), bytes(size))
        await until(SpStatus.SEND_FREE)
        for index, word in enumerate((*packet.header.words(), *packet.via)):
            nic.write(SpReg.SEND0 + 4 * index, word)
        nic.write(SpReg.COMMAND_HIGH, fetch_command(size))
        nic.write(SpReg.COMMAND_LOW, buffer.address)
        await until(SpStatus.LEFT_IDLE)
        nic.write(SpReg.SEND_START, size)
    await until(SpStatus.SEND_FREE)
