"""Hang reports of VIA: posted descriptors, missing acknowledgements, missing room.

Strategy: two connected processes hang in three ways. The acknowledgement of a reliable message is lost, or a receiver
waits for a message that is not sent. Or more is posted than the NIC's send queue holds while its link is stopped. The
reported waits are compared.
"""

from __future__ import annotations

from firmware.via.formats import Reliability
from tests.unit.via.via_bench import Pair, pair

STILL_US = 300


def waits(p: Pair) -> list[str]:
    """Return the waits some time from now."""
    p.machine.run(p.machine.kernel.now / 1e6 + STILL_US)
    return p.machine.kernel.waiting()


def test_a_missing_acknowledgement_is_reported_by_the_waiting_nic() -> None:
    p = pair(reliability=Reliability.DELIVERY)
    faults = p.machine.faults
    faults.drop(1, 0, faults.passed(1, 0))

    async def send() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 64)]))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 64)]))

    p.machine.finish(send())
    told = waits(p)
    assert f"NIC 0 waits for acknowledgements of node 1 for 1 messages of VI {p.mine.number}" in told
    peer = f"VI {p.mine.number} (connected, peer at node 1)"
    assert f"host {p.machine.names[0]} waits for the end of 1 send posted on {peer}" in told
    assert not any(line.startswith("NIC 1 waits for acknowledgements") for line in told)


def test_receives_without_messages_are_reported() -> None:
    p = pair()

    async def receive() -> None:
        for number in range(2):
            await p.mine.post_receive(p.here.descriptor(number).receive([p.here.part(0, 64)]))

    p.machine.finish(receive())
    peer = f"VI {p.mine.number} (connected, peer at node 1)"
    assert f"host {p.machine.names[0]} waits for the end of 2 receives posted on {peer}" in waits(p)


def test_descriptors_without_room_are_reported_with_the_holder() -> None:
    p = pair(send_words=64, outstanding=64)

    async def send() -> None:
        for number in range(40):
            await p.mine.post_send(p.here.descriptor(number).send([p.here.part(0, 4096)]))

    p.machine.kernel.spawn(send(), "sender")
    seen: list[str] = []
    for _ in range(100):
        p.machine.run(p.machine.kernel.now / 1e6 + 20)
        seen += [str(wait) for wait in p.machine.kernel.waits_held()]
    room = [line for line in seen if "room in the send queue" in line]
    assert room
    assert all(
        line.startswith(f"host {p.machine.names[0]} waits for room in the send queue for ")
        and line.endswith("descriptors, held by NIC 0")
        for line in room
    )
    assert not any("room in the send queue" in line for line in waits(p)), "when all is sent there is room"
