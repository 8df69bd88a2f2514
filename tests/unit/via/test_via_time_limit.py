"""Time limit of reliable sends: it counts sent and unacknowledged messages on the NIC, without a process's words.

Strategy: many long messages wait for much longer than the limit before they are sent, on one VI or on two. Descriptors
are posted again, on the other queue, or their statuses are forged: none of this may break a healthy connection. Then an
acknowledgement is lost, on every preset: the connection breaks when the limit is over, and its peer is notified.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Field, Reliability, Status
from firmware.via.nic.layout import State
from tb.studies.via._via import User, connect
from tests.unit.via.via_bench import Pair, pair

PRESETS = pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
LEVELS = pytest.mark.parametrize("level", [Reliability.DELIVERY, Reliability.RECEPTION])
LONG = 65536


@PRESETS
@LEVELS
def test_messages_that_wait_long_for_their_turn_do_not_break_a_connection(preset: str, level: Reliability) -> None:
    p, count, limit_us = pair(preset=preset, vis=6, reliability=level, timeout_us=1200), 8, 1200
    ((second, other),) = p.machine.finish(connect(p.here, p.there, 1, reliability=level))

    async def run() -> list[Status]:
        for i in range(count):
            for vi in (p.yours, other):
                await vi.post_receive(p.there.descriptor(i + count * (vi is other)).receive([p.there.part(0, LONG)]))
        for i in range(count):
            for vi in (p.mine, second):
                await vi.post_send(p.here.descriptor(i + count * (vi is second)).send([p.here.part(0, LONG)]))
        return [(await vi.poll_send()).status for _ in range(count) for vi in (p.mine, second)]

    begun = p.machine.kernel.now
    (statuses,) = p.machine.finish(run())
    assert statuses == [Status.DONE] * 2 * count
    assert (p.machine.kernel.now - begun) / 1e6 > 3 * limit_us, "the last ones were posted long before"
    assert p.mine.state is p.yours.state is second.state is State.CONNECTED


@PRESETS
def test_reusing_a_send_descriptor_as_a_receive_breaks_no_connection(preset: str) -> None:
    p = pair(preset=preset, vis=6, reliability=Reliability.DELIVERY, timeout_us=300)

    async def run() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 64)]))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 64)]))
        await p.mine.poll_send()
        await p.mine.post_receive(p.here.descriptor(0).receive([p.here.part(0, 64)]))
        await p.machine.host(0).sleep(3_000_000_000)

    p.machine.finish(run())
    assert p.mine.state is p.yours.state is State.CONNECTED


async def lost_answer(p: Pair, forge: bool) -> None:
    """Send a message whose acknowledgement is lost; with `forge` its process writes the status itself."""
    faults = p.machine.faults
    faults.drop(1, 0, faults.passed(1, 0))
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 64)]))
    descriptor = p.here.descriptor(0).send([p.here.part(0, 64)])
    await p.mine.post_send(descriptor)
    if forge:
        await p.machine.host(0).sleep(50_000_000)
        p.here.process.store_words(descriptor.va + Field.STATUS, (1,))
    await p.machine.host(0).sleep(400_000_000)
    assert p.mine.state is State.CONNECTED
    await p.machine.host(0).sleep(400_000_000)


@PRESETS
@LEVELS
@pytest.mark.parametrize("forge", [False, True])
def test_a_connection_without_acknowledgements_breaks_and_its_peer_is_notified(
    preset: str, level: Reliability, forge: bool
) -> None:
    p = pair(preset=preset, vis=6, reliability=level, timeout_us=500)
    told: list[str] = []
    p.mine.on_error(lambda: told.append("mine"))
    p.yours.on_error(lambda: told.append("yours"))
    p.machine.finish(lost_answer(p, forge))
    assert p.mine.state is p.yours.state is State.ERROR
    assert sorted(told) == ["mine", "yours"]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_the_peer_is_notified_of_the_end_with_lost_notices(lost: int) -> None:
    p = pair()
    for i in range(lost):
        p.machine.faults.drop(0, 1, p.machine.faults.passed(0, 1) + i)
    p.machine.finish(p.mine.disconnect())
    p.machine.run(p.machine.kernel.now / 1e6 + 1000)
    assert (p.mine.state, p.yours.state) == (State.CLOSED, State.ERROR)


def test_notices_to_a_silent_peer_end_after_the_tries() -> None:
    p = pair()
    for i in range(200):
        p.machine.faults.drop(0, 1, p.machine.faults.passed(0, 1) + i)
    p.machine.finish(p.mine.disconnect())
    p.machine.run(p.machine.kernel.now / 1e6 + 50_000)
    assert p.machine.kernel.next_alarm() is None, "nothing is left to happen"


def test_the_peer_is_notified_when_garbage_breaks_a_connection() -> None:
    p = pair(preset="bvia2", vis=6)

    async def run(me: User) -> None:
        poster = p.mine.sends.poster
        await me.process.pio_write(poster.pair, (0xFFFF).to_bytes(4, "big"))  # type: ignore[attr-defined]
        await p.machine.host(0).sleep(500_000_000)

    p.machine.finish(run(p.here))
    assert p.mine.state is p.yours.state is State.ERROR
