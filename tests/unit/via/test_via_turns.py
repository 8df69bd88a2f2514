"""Posts of a process during a message of the kernel agent are sent after that message.

Strategy: on each kind of NIC and with each user-level doorbell, a process posts three messages. At many moments
meanwhile the kernel agent sends one. Arriving packets keep the NIC busy, so that it detects the end of a send late. All
messages must complete before the kernel agent sends another one.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Status
from firmware.via.host import Result, Vi
from pymodels.hardware.compiled import kinds_of
from pymodels.machine import Machine
from tb.studies.via._via import User
from tests.unit.via.via_bench import Pair, pair, refused

REPEAT_US, STEP_PS, STEPS = 1000, 600_000, 25
SIZES, INCOMING = (2000, 100, 100), (2000,) * 4
SOON_PS = 500_000_000


async def receives(user: User, vi: Vi, sizes: tuple[int, ...]) -> None:
    """Post receives for messages of these sizes."""
    for number, size in enumerate(sizes):
        await vi.post_receive(user.descriptor(number).receive([user.part(0, size)]))


async def sends(user: User, vi: Vi, sizes: tuple[int, ...]) -> int:
    """Send messages of these sizes, and return the time until all are complete, in ps."""
    host = user.nic.host
    begun = host.now
    for number, size in enumerate(sizes, len(INCOMING)):
        await vi.post_send(user.descriptor(number).send([user.part(0, size)]))
    for _ in sizes:
        assert (await vi.poll_send()).status == Status.DONE
    return host.now - begun


async def both_ways(p: Pair) -> int:
    """Send messages in both directions, and return the time of the near process's, in ps."""
    await receives(p.there, p.yours, SIZES)
    await receives(p.here, p.mine, INCOMING)
    back = p.there.process.spawn(sends(p.there, p.yours, INCOMING), "incoming")
    took = await sends(p.here, p.mine, SIZES)
    await back.finished
    for vi, sizes in ((p.yours, SIZES), (p.mine, INCOMING)):
        for _ in sizes:
            await vi.poll_receive()
    return took


CASES = [
    (nic, doorbell)
    for nic in kinds_of("via")
    for doorbell in ("d1_word", "d1_ring", "hw")
    if doorbell != "hw" or Machine(1, nic=nic).host(0).card.has_doorbells
]


@pytest.mark.parametrize(("nic", "doorbell"), CASES)
def test_a_message_that_waits_for_the_kernel_agents_message_is_sent_after_it(nic: str, doorbell: str) -> None:
    machine = Machine(2, nic=nic)
    host = machine.host(0)
    p = pair(machine, vis=8, doorbell=doorbell, translation="at2", packet=256, connect_us=REPEAT_US)
    (other,) = machine.finish(p.here.nic.create_vi(p.here.tag))

    async def ask(late_ps: int) -> None:
        """Send a connection request without a server."""
        await host.sleep(late_ps)
        await refused(other.connect_request(1, 9, REPEAT_US / 2), Result.TIMEOUT)

    for step in range(STEPS):
        took, _ = machine.finish(both_ways(p), ask(step * STEP_PS))
        assert took < SOON_PS
