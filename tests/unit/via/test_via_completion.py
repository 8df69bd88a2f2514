"""Completion queues, waits and notify handlers.

Strategy: the same traffic is taken from completion queues of both kinds, by polling, sleeping and notify handlers.
Every completion must be reported once, in the order of each queue. A sleeping process must leave the CPU free, wake by
the NIC's interrupt, and never miss one that occurs while it falls asleep.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Status
from firmware.via.host import Descriptor, Result, Vi, VipError
from firmware.via.host.common.work_queues import RECEIVED, SENT
from firmware.via.host.library.completion_queue import CompletionQueue
from pymodels.machine import Machine
from tb.studies.via._via import User, join, user
from tests.unit.via.via_bench import Pair, pair, pattern, start

KINDS = pytest.mark.parametrize("completion", ["cq1", "cq2"])
BY = pytest.mark.parametrize("by", ["done", "poll", "wait"])


async def take(queue: CompletionQueue, by: str) -> tuple[Vi, bool]:
    """Return the next completion, by polling, waiting or a handler."""
    if by == "poll":
        return await queue.poll()
    if by == "wait":
        return await queue.wait()
    while (found := await queue.done()) is None:
        pass
    return found


async def make(near: User, far: User, entries: int = 64) -> tuple[CompletionQueue, list[Vi], list[Vi]]:
    """Create three connections whose receives at the far side, and whose first send queue, complete in one queue."""
    queue = await far.nic.create_cq(entries)
    mine, yours = [], []
    for _ in range(3):
        mine.append(await near.nic.create_vi(near.tag))
        yours.append(await far.nic.create_vi(far.tag, send_cq=queue, receive_cq=queue))
        await join(near, mine[-1], far, yours[-1], 1)
    return queue, mine, yours


@KINDS
@BY
def test_every_completion_is_reported_once(completion: str, by: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(make(near, far, entries=32))
    told: list[tuple[int, bool]] = []
    places = [far.descriptor(i) for i in range(40)]

    async def receive() -> None:
        for i in range(30):
            await yours[i % 3].post_receive(places[i].receive([far.part(64 * i, 64)]))
        await yours[0].post_send(places[30].send([far.part(0, 4)]))
        for _ in range(31):
            vi, is_receive = await take(queue, by)
            told.append((vi.number, is_receive))
            done = await (vi.receive_done() if is_receive else vi.send_done())
            assert done is not None

    async def send() -> None:
        await mine[0].post_receive(near.descriptor(50).receive([near.part(0, 4)]))
        await machine.host(0).sleep(700_000_000)
        for i in range(30):
            await mine[i % 3].post_send(near.descriptor(i).send([near.part(64 * i, 64)]))

    machine.finish(receive(), send())
    assert sorted(told) == sorted([(vi.number, True) for vi in yours] * 10 + [(yours[0].number, False)])
    assert machine.finish(queue.done()) == [None]


async def receive_one(p: Pair) -> None:
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 64)]))


async def send_one(p: Pair, after_us: float = 0) -> None:
    await p.machine.host(0).sleep(int(after_us * 1e6))
    p.here.write(0, pattern(64))
    await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 64)]))


def test_a_process_that_waits_sleeps_and_the_interrupt_wakes_it() -> None:
    p = pair()
    p.machine.finish(receive_one(p))
    used, interrupts = p.machine.host(1).cpu_ps, p.vias[1].kernel_agent.interrupts.count
    done, _ = p.machine.finish(p.yours.receive_wait(), send_one(p, after_us=1000))
    assert done.length == 64
    assert p.vias[1].kernel_agent.interrupts.count == interrupts + 1
    assert p.machine.host(1).cpu_ps - used < 20_000_000


@pytest.mark.parametrize("after_us", [x / 4 for x in range(0, 40, 3)])
def test_no_completion_is_missed_while_a_process_falls_asleep(after_us: float) -> None:
    p = pair()
    p.machine.finish(receive_one(p))
    done, _ = p.machine.finish(p.yours.receive_wait(), send_one(p, after_us))
    assert done.length == 64


def test_a_wait_ends_after_its_time_limit() -> None:
    p = pair()
    p.machine.finish(receive_one(p))
    begun = p.machine.kernel.now
    with pytest.raises(VipError) as refused:
        p.machine.finish(p.yours.receive_wait(timeout_us=300))
    assert refused.value.result is Result.TIMEOUT
    assert 300 <= (p.machine.kernel.now - begun) / 1e6 < 320
    done, _ = p.machine.finish(p.yours.receive_wait(), send_one(p))
    assert done.length == 64


def test_a_notify_handler_is_called_once_with_its_descriptor() -> None:
    p = pair()
    called: list[tuple[Vi, Descriptor]] = []
    p.machine.finish(receive_one(p))
    p.yours.receive_notify(lambda vi, descriptor: called.append((vi, descriptor)))
    p.machine.finish(send_one(p, after_us=50))
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    assert [(vi, descriptor.length) for vi, descriptor in called] == [(p.yours, 64)]


@KINDS
def test_a_handler_of_a_completion_queue_is_called_once(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(make(near, far))
    called: list[tuple[int, bool]] = []
    queue.notify(lambda vi, is_receive: called.append((vi.number, is_receive)))

    async def run() -> None:
        for i in range(2):
            await yours[1].post_receive(far.descriptor(i).receive([far.part(64 * i, 64)]))
        for i in range(2):
            await mine[1].post_send(near.descriptor(i).send([near.part(64 * i, 64)]))

    machine.finish(run())
    machine.run(machine.kernel.now / 1e6 + 200)
    assert called == [(yours[1].number, True)]


def test_a_sleeper_at_a_completion_queue_is_woken_by_the_remaining_vis() -> None:
    machine = Machine(2)
    vias = start(machine)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(make(near, far))
    assert yours[1].number == RECEIVED, "numbers of VIs and of sides can be mistaken for each other"

    async def end_and_wait() -> tuple[Vi, bool]:
        await yours[1].disconnect()
        await yours[1].destroy()
        await yours[2].post_receive(far.descriptor(0).receive([far.part(0, 64)]))
        done: tuple[Vi, bool] = await queue.wait()
        return done

    async def send() -> None:
        await machine.host(0).sleep(700_000_000)
        await mine[2].post_send(near.descriptor(0).send([near.part(0, 64)]))

    assert machine.finish(end_and_wait(), send(), within_us=10_000)[0] == (yours[2], True)
    assert queue.wants == [(vi.number, side) for vi in yours[::2] for side in (SENT, RECEIVED)]


def test_a_completion_queue_in_use_is_not_destroyed() -> None:
    machine = Machine(2)
    vias = start(machine)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, _, yours),) = machine.finish(make(near, far))
    with pytest.raises(VipError) as refused:
        machine.finish(queue.destroy())
    assert refused.value.result is Result.ERROR_RESOURCE

    async def end() -> None:
        for vi in yours:
            await vi.disconnect()
            await vi.destroy()
        await queue.destroy()

    machine.finish(end())


@KINDS
@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("count", [3, 4, 5, 7, 8, 9, 13])
def test_an_overrun_of_a_completion_queue_is_reported_once_and_the_queue_continues(
    completion: str, before: int, count: int
) -> None:
    """Overrun a queue of four entries. With work queues that the library polls, nothing can be overrun."""
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(make(near, far, entries=4))
    vi, peer = yours[0], mine[0]

    async def messages(number: int) -> None:
        for i in range(number):
            await vi.post_receive(far.descriptor(i).receive([far.part(64 * i, 64)]))
        for i in range(number):
            await peer.post_send(near.descriptor(i).send([near.part(0, 8)]))
            await peer.poll_send()
        await machine.host(1).sleep(50_000_000)

    async def told(number: int) -> None:
        for _ in range(number):
            assert await queue.done() == (vi, True)
            assert await vi.receive_done() is not None
        assert await queue.done() is None

    async def run() -> None:
        await messages(before)
        await told(before)
        await messages(count)
        if completion == "cq1" and count > 4:
            with pytest.raises(VipError, match="overrun") as overrun:
                await queue.done()
            assert overrun.value.result is Result.ERROR_RESOURCE
            assert await queue.done() is None
            for _ in range(count):
                assert await vi.receive_done() is not None
        else:
            await told(count)
        for _ in range(5):
            await messages(4)
            await told(4)

    machine.finish(run())


@pytest.mark.parametrize("how", ["notify", "wait", "poll"])
def test_two_threads_that_wait_for_a_descriptor_each_get_a_complete_one(how: str) -> None:
    p = pair()
    got: list[tuple[int, Status]] = []

    def take(_: Vi, descriptor: Descriptor) -> None:
        got.append((descriptor.length, descriptor.status))

    async def thread() -> None:
        take(p.yours, await (p.yours.receive_wait() if how == "wait" else p.yours.poll_receive()))

    async def want() -> None:
        for i in range(2):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(64 * i, 64)]))
            if how == "notify":
                p.yours.receive_notify(take)
            else:
                p.there.process.spawn(thread(), "wants a descriptor")

    async def send() -> None:
        for i in range(2):
            await p.machine.host(0).sleep(100_000_000)
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 16 + i)]))
            await p.mine.poll_send()

    p.machine.finish(want(), send())
    p.machine.run(p.machine.kernel.now / 1e6 + 300)
    assert got == [(16, Status.DONE | Status.RECEIVE), (17, Status.DONE | Status.RECEIVE)]


@KINDS
def test_two_threads_that_wait_at_a_completion_queue_each_get_a_completion(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(make(near, far))

    async def receive() -> None:
        await (await queue.wait())[0].receive_wait()

    async def run() -> None:
        for i in range(2):
            await yours[0].post_receive(far.descriptor(i).receive([far.part(64 * i, 64)]))
        threads = [far.process.spawn(receive(), "waits") for _ in range(2)]
        for i in range(2):
            await machine.host(0).sleep(200_000_000)
            await mine[0].post_send(near.descriptor(i).send([near.part(0, 8)]))
        for thread in threads:
            await thread.finished

    machine.finish(run())


def test_a_wait_continues_to_its_time_limit_after_another_thread_took_the_descriptor() -> None:
    p = pair()

    async def wait() -> None:
        with pytest.raises(VipError) as refused:
            await p.yours.receive_wait(timeout_us=500)
        assert refused.value.result is Result.TIMEOUT

    async def two() -> None:
        for i in range(2):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(64 * i, 64)]))

    p.machine.finish(two())
    begun = p.machine.kernel.now
    p.machine.finish(p.yours.receive_wait(), wait(), send_one(p, after_us=100))
    assert 500 <= (p.machine.kernel.now - begun) / 1e6 < 530
