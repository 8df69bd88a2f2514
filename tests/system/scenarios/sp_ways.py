"""Do packets that use the routes of a pair in turn overtake each other when one of the routes is late?

Strategy: no firmware; the adapter of node 0 sends numbered packets to node 1, each on the next route of the pair. Node
1 records the numbers in the order of arrival; none may be missing, duplicated or changed.
"""

from __future__ import annotations

from typing import Any

from pymodels.formats.sp import SpPacket
from pymodels.nics.sp.registers import RecvStatus, SpReg, SpStatus
from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {"packets": Option(16, "packets from node 0 to node 1", 1, 1000)}
LOOK_PS = 500_000
BAD = 1 << RecvStatus.BAD_CRC | 1 << RecvStatus.BAD_SIZE


async def run(lab: Lab) -> None:
    """Run the scenario."""
    came: list[int] = []
    await lab.all([lab.spawn(_send(lab), "sender"), lab.spawn(_receive(lab, came), "receiver")])
    lab.check("arrived packets", sorted(came) == list(range(lab.option("packets"))), f"arrived packets: {came}")
    lab.metric("passed", sum(any(later < number for later in came[at:]) for at, number in enumerate(came)))
    lab.metric("ways", len(_ways(lab)))


def _ways(lab: Lab) -> tuple[bytes, ...]:
    cluster = lab.plan.cluster
    return cluster.routes.ways(*cluster.names[:2])


async def _until(lab: Lab, nic: Any, bit: int) -> None:
    while not await nic.read(SpReg.STATUS) >> bit & 1:
        await lab.kernel.sleep(LOOK_PS, "the next look at STATUS")


async def _send(lab: Lab) -> None:
    nic: Any = lab.running.nics[0]
    ways = _ways(lab)
    for number in range(lab.option("packets")):
        packet = SpPacket(ways[number % len(ways)], 0, 1, (number, ~number & 0xFFFFFFFF), b"")
        await _until(lab, nic, SpStatus.SEND_FREE)
        for index, word in enumerate((*packet.header.words(), *packet.via)):
            nic.write(SpReg.SEND0 + 4 * index, word)
        nic.write(SpReg.SEND_START, 0)


async def _receive(lab: Lab, came: list[int]) -> None:
    nic: Any = lab.running.nics[1]
    for _ in range(lab.option("packets")):
        await _until(lab, nic, SpStatus.ARRIVED)
        status = await nic.read(SpReg.RECV_STATUS)
        number, inverse = [await nic.read(register) for register in (SpReg.RECV4, SpReg.RECV5)]
        lab.check("damaged packets", not status & BAD and number ^ inverse == 0xFFFFFFFF, f"packet {number} is damaged")
        came.append(number)
        nic.write(SpReg.RECV_NEXT, 0)
        await _until(lab, nic, SpStatus.LEFT_IDLE)
