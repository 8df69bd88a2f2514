"""Completion of descriptors that the kernel rejects, and of those posted while a connection breaks.

Strategy: invalid descriptors are mixed with valid ones, and receives wait at the host when their connection ends, with
both kinds of completion queues and without. Each must be reported once, in the order of posting, and sleeping threads
must wake. A rejected receive completes when no earlier one is left: at once, or with the next message.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.host.library.completion_queue import CompletionQueue
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User, join, user
from tests.unit.via.via_bench import pair, start

KINDS = pytest.mark.parametrize("completion", ["cq1", "cq2"])
RECEIVED = Status.DONE | Status.RECEIVE


async def made(near: User, far: User, reliability: Reliability) -> tuple[CompletionQueue, Vi, Vi]:
    """Return two connected VIs, and the completion queue of the far VI's work queues."""
    queue = await far.nic.create_cq(256)
    mine = await near.nic.create_vi(near.tag, reliability=reliability)
    yours = await far.nic.create_vi(far.tag, reliability=reliability, send_cq=queue, receive_cq=queue)
    await join(near, mine, far, yours, 1)
    return queue, mine, yours


async def completions(queue: CompletionQueue, count: int) -> list[Status]:
    """Wait for `count` completions, and return their statuses."""
    found = []
    for _ in range(count):
        vi, is_receive = await queue.wait(2000)
        done = await (vi.receive_done() if is_receive else vi.send_done())
        assert done is not None, "it tells of what is done"
        found.append(done.status)
    return found


@KINDS
@pytest.mark.parametrize("level", list(Reliability))
def test_all_descriptors_posted_at_the_end_of_a_connection_are_reported(completion: str, level: Reliability) -> None:
    """Post 40 receives, 12 of which fit into the NIC's queue cache."""
    machine = Machine(2)
    vias = start(machine, completion=completion, receive_words=64)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(made(near, far, level))

    async def run() -> list[Status]:
        for i in range(40):
            await yours.post_receive(far.descriptor(i).receive([far.part(64 * i, 64)]))
        waits = far.process.spawn(completions(queue, 41), "waits")
        await machine.host(0).sleep(50_000_000)
        await mine.disconnect()
        await machine.host(0).sleep(200_000_000)
        assert yours.state is State.ERROR
        await yours.post_receive(far.descriptor(40).receive([far.part(0, 64)]))
        return await waits.finished  # type: ignore[no-any-return]

    assert machine.finish(run()) == [[RECEIVED | Status.FLUSHED] * 41]
    assert machine.finish(queue.done()) == [None]


@KINDS
def test_a_rejected_send_is_reported_in_its_turn(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(made(near, far, Reliability.DELIVERY))

    async def run() -> list[Status]:
        for i in range(5):
            await mine.post_receive(near.descriptor(i).receive([near.part(0, 60000)]))
        waits = far.process.spawn(completions(queue, 5), "waits")
        for i in range(5):
            size = 60000 if i % 2 == 0 else 100000  # longer than it may be
            await yours.post_send(far.descriptor(i).send([far.part(0, size)]))
        return await waits.finished  # type: ignore[no-any-return]

    long = Status.DONE | Status.LENGTH_ERROR
    assert machine.finish(run()) == [[Status.DONE, long, Status.DONE, long, Status.DONE]]


@KINDS
def test_a_rejected_receive_is_reported_at_once_or_with_the_next_message(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(made(near, far, Reliability.RECEPTION))
    refused, done = RECEIVED | Status.LENGTH_ERROR, RECEIVED

    async def run() -> list[Status]:
        found = []
        for turn in ("bad", "good bad good"):
            for i, what in enumerate(turn.split()):
                size = 100 if what == "good" else 100000
                await yours.post_receive(far.descriptor(i).receive([far.part(0, size)]))
            if turn == "bad":
                found += await completions(queue, 1)
        for i in range(2):
            await mine.post_send(near.descriptor(i).send([near.part(0, 50 + i)]))
        return found + await completions(queue, 3)

    assert machine.finish(run()) == [[refused, done, refused, done]]


def test_a_descriptor_outside_of_registered_memory_cannot_be_posted() -> None:
    p = pair()

    async def run() -> None:
        place = p.here.nic.descriptor(p.here.process.allocate(4096), p.here.place_handle).send([])
        with pytest.raises(VipError) as refused:
            await p.mine.post_send(place)
        assert refused.value.result is Result.INVALID_PARAMETER
        assert (await p.mine.query()).sends_empty

    p.machine.finish(run())


@pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
@pytest.mark.parametrize("late_us", [0, 4, 8, 10, 12, 14, 16, 18, 20, 24, 40])
def test_a_receive_that_is_posted_while_a_connection_breaks_is_flushed(preset: str, late_us: int) -> None:
    """Break the connection by a send without a receive, and post the receive before or after the kernel knows."""
    p = pair(preset=preset, vis=6, reliability=Reliability.DELIVERY)

    async def post() -> Status:
        await p.machine.host(1).sleep(late_us * 1_000_000)
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 8)]))
        return (await p.yours.receive_wait(2000)).status

    async def send() -> None:
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 16)]))

    status, _ = p.machine.finish(post(), send())
    assert status & Status.ERRORS in (Status.LENGTH_ERROR, Status.FLUSHED)
