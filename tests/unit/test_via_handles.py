"""Every handle has a life of its own: a call on one that is no more acts on nothing, whoever has its number now.

Strategy: a VI, a completion queue or registered memory is destroyed, and its number given to another process at once;
then every call is made with the old handle, and what the new owner has must go on as if nothing had been called. Calls
that wait are overtaken by a destroy in another thread. What nobody uses any more costs nothing, and what was refused
leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.host.via import Result, Vi, VipError
from firmware.nic.via.layout import State
from pymodels.formats.via import Reliability, Status
from pymodels.machine import Machine
from tb.studies._via import User, connect, join, user
from tests.unit.via_bench import pair, pattern, start

PRESETS = pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
KINDS = pytest.mark.parametrize("completion", ["cq1", "cq2"])


async def refused(call: Awaitable[Any], result: Result = Result.INVALID_PARAMETER) -> None:
    """It must be."""
    with pytest.raises(VipError) as error:
        await call
    assert error.value.result is result


async def result_of(call: Awaitable[Any]) -> Result | None:
    """How it ends."""
    try:
        await call
    except VipError as error:
        return error.result
    return None


async def message(here: User, mine: Vi, there: User, yours: Vi, size: int = 100) -> None:
    """One goes through as it is."""
    here.write(0, pattern(size))
    await yours.post_receive(there.descriptor(0).receive([there.part(0, size)]))
    await mine.post_send(here.descriptor(1).send([here.part(0, size)]))
    assert (await mine.poll_send()).status == Status.DONE
    assert (await yours.poll_receive()).status == Status.DONE | Status.RECEIVE
    assert there.read(0, size) == pattern(size)


CALLS: dict[str, Callable[[User, Vi], Awaitable[Any]]] = {
    "post_send": lambda me, vi: vi.post_send(me.descriptor(0).send([me.part(0, 10)])),
    "post_receive": lambda me, vi: vi.post_receive(me.descriptor(0).receive([me.part(0, 10)])),
    "send_done": lambda _, vi: vi.send_done(),
    "receive_done": lambda _, vi: vi.receive_done(),
    "poll_send": lambda _, vi: vi.poll_send(),
    "poll_receive": lambda _, vi: vi.poll_receive(),
    "send_wait": lambda _, vi: vi.send_wait(10),
    "receive_wait": lambda _, vi: vi.receive_wait(10),
    "query": lambda _, vi: vi.query(),
    "connect_request": lambda _, vi: vi.connect_request(1, 7, 100),
    "connect_peer_request": lambda _, vi: vi.connect_peer_request(1, 7, 100),
    "connect_peer_done": lambda _, vi: vi.connect_peer_done(),
    "connect_peer_wait": lambda _, vi: vi.connect_peer_wait(),
    "disconnect": lambda _, vi: vi.disconnect(),
    "destroy": lambda _, vi: vi.destroy(),
}


@PRESETS
def test_calls_on_a_destroyed_vi_touch_nothing_of_whoever_has_its_number(preset: str) -> None:
    machine = Machine(2)
    vias = start(machine, preset=preset, vis=6)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def run() -> None:
        old = await here.nic.create_vi(here.tag)
        attributes = (await old.query()).attributes
        await old.destroy()
        other = await user(vias[0])
        mine, yours = await connect(other, there, 1, reliability=Reliability.RECEPTION)
        assert mine.number == old.number
        for call in CALLS.values():
            await refused(call(here, old))
        await refused(old.set_attributes(attributes))
        for notify in (old.send_notify, old.receive_notify):
            with pytest.raises(VipError):
                notify(lambda *_: None)
        await message(other, mine, there, yours)
        assert mine.state is yours.state is State.CONNECTED

    machine.finish(run())


def test_a_server_does_not_accept_by_a_vi_that_is_destroyed() -> None:
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def serve() -> None:
        connection = await there.nic.connect_wait(7, 5000)
        old = await there.nic.create_vi(there.tag)
        await old.destroy()
        other = await user(vias[1])
        new = await other.nic.create_vi(other.tag)
        await refused(there.nic.connect_accept(connection, old))
        await refused(there.nic.connect_accept(connection, new))
        assert (new.number, new.state) == (old.number, State.CLOSED)
        await there.nic.connect_accept(connection, await there.nic.create_vi(there.tag))

    async def ask() -> None:
        await (await here.nic.create_vi(here.tag)).connect_request(1, 7, 5000)

    machine.finish(serve(), ask())


@pytest.mark.parametrize("delay_us", [0, 1, 2, 3, 5, 8, 12, 20, 40])
def test_a_vi_is_not_destroyed_while_another_thread_connects_it(delay_us: int) -> None:
    """It is destroyed before, or not at all; never does the connection come to the next VI of its number."""
    machine = Machine(2)
    vias = start(machine)
    here, there = machine.finish(user(vias[0]), user(vias[1]))
    (mine,) = machine.finish(here.nic.create_vi(here.tag))
    (yours,) = machine.finish(there.nic.create_vi(there.tag))

    async def destroy() -> Vi | None:
        await machine.host(1).sleep(delay_us * 1_000_000)
        end = await result_of(yours.destroy())
        if end is not None:
            assert end is Result.INVALID_STATE
            return None
        other = await user(vias[1])
        return await other.nic.create_vi(other.tag)

    async def serve() -> None:
        connection = await there.nic.connect_wait(7, 5000)
        task = there.process.spawn(destroy(), "destroys")
        try:
            await there.nic.connect_accept(connection, yours)
        except VipError:
            new = await task.finished
            assert new is not None and new.number == yours.number
            await machine.host(1).sleep(500_000_000)
            assert new.state is State.CLOSED
            await there.nic.connect_reject(connection)

    async def ask() -> None:
        assert await result_of(mine.connect_request(1, 7, 2000)) in (None, Result.REJECT)

    machine.finish(serve(), ask())


def test_of_two_threads_that_destroy_or_disconnect_one_does() -> None:
    p = pair()

    async def two(*calls: Awaitable[Any]) -> list[Result | None]:
        results: list[Result | None] = []

        async def one(call: Awaitable[Any]) -> None:
            results.append(await result_of(call))

        for task in [p.here.process.spawn(one(call), "a thread") for call in calls]:
            await task.finished
        return results

    async def run() -> None:
        ends = await two(p.mine.disconnect(), p.mine.disconnect())
        assert sorted(ends, key=str) == sorted([None, Result.INVALID_STATE], key=str)
        ends = await two(p.mine.destroy(), p.mine.destroy())
        assert None in ends and set(ends) <= {None, Result.INVALID_STATE, Result.INVALID_PARAMETER}
        assert len({(await p.here.nic.create_vi(p.here.tag)).number for _ in range(3)}) == 3

    p.machine.finish(run())


def test_threads_that_wait_at_a_vi_or_queue_that_is_destroyed_come_back() -> None:
    p = pair()
    ends: list[Result | Status] = []

    async def wait() -> None:
        try:
            ends.append((await p.yours.receive_wait()).status)
        except VipError as error:
            ends.append(error.result)

    async def run() -> None:
        queue = await p.there.nic.create_cq(4)
        at_queue = p.there.process.spawn(refused(queue.wait()), "waits")
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 10)]))
        waits = [p.there.process.spawn(wait(), "waits") for _ in range(2)]
        await p.machine.host(0).sleep(50_000_000)
        await p.yours.disconnect()
        await p.machine.host(0).sleep(50_000_000)
        await p.yours.destroy()
        await queue.destroy()
        for task in [*waits, at_queue]:
            await task.finished

    p.machine.finish(run())
    assert ends == [Status.DONE | Status.RECEIVE | Status.FLUSHED, Result.INVALID_PARAMETER]


@KINDS
def test_a_completion_queue_is_destroyed_once_and_is_its_own_process_s(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    here, there, other = machine.finish(user(vias[0]), user(vias[1]), user(vias[0]))

    async def run() -> None:
        old = await here.nic.create_cq(8)
        await old.destroy()
        new = await other.nic.create_cq(8)
        assert new.number == old.number
        await refused(old.destroy())
        for call in (old.done(), old.poll(), old.wait(10), old.resize(4), here.nic.create_vi(here.tag, send_cq=old)):
            await refused(call)
        await refused(here.nic.create_vi(here.tag, receive_cq=new))
        third = await here.nic.create_cq(8)
        assert third.number != new.number
        mine = await other.nic.create_vi(other.tag, send_cq=new)
        yours = await there.nic.create_vi(there.tag)
        await join(other, mine, there, yours, 1)
        await mine.post_send(other.descriptor(1).send([other.part(0, 10)]))
        assert await new.poll() == (mine, False)

    machine.finish(run())


def test_a_completion_queue_that_a_vi_is_being_made_for_is_not_destroyed() -> None:
    machine = Machine(2)
    (via, _) = start(machine, preset="bvia2", vis=4)
    (here,) = machine.finish(user(via))

    async def run() -> None:
        queue = await here.nic.create_cq(8)
        making = here.process.spawn(here.nic.create_vi(here.tag, send_cq=queue), "makes a VI")
        await machine.host(0).sleep(1_000_000)
        await refused(queue.destroy(), Result.ERROR_RESOURCE)
        await (await making.finished).destroy()
        await queue.destroy()

    machine.finish(run())


def test_a_vi_that_could_not_be_made_leaves_its_completion_queue_free() -> None:
    machine = Machine(2)
    (via, _) = start(machine, vis=2)
    (here,) = machine.finish(user(via))

    async def run() -> None:
        queue = await here.nic.create_cq(8)
        vi = await here.nic.create_vi(here.tag)
        await refused(here.nic.create_vi(here.tag, send_cq=queue, receive_cq=queue), Result.ERROR_RESOURCE)
        await queue.destroy()
        await vi.destroy()

    machine.finish(run())


@KINDS
def test_what_a_destroyed_vi_left_in_a_completion_queue_is_not_its_successors(completion: str) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    here, there = machine.finish(user(vias[0]), user(vias[1]))

    async def run() -> None:
        queue = await here.nic.create_cq(8)
        for _ in range(2):
            mine = await here.nic.create_vi(here.tag, send_cq=queue)
            yours = await there.nic.create_vi(there.tag)
            await join(here, mine, there, yours, 1)
            await message(here, mine, there, yours)
            await mine.disconnect()
            await mine.destroy()
        assert await queue.done() is None

    machine.finish(run())


def test_looking_at_a_completion_queue_of_the_library_costs_nothing_for_destroyed_vis() -> None:
    machine = Machine(2)
    (via, _) = start(machine, completion="cq2")
    (here,) = machine.finish(user(via))

    async def run() -> list[int]:
        queue, took = await here.nic.create_cq(8), []
        for _ in range(3):
            vi = await here.nic.create_vi(here.tag, send_cq=queue)
            begun = machine.kernel.now
            assert await queue.done() is None
            took.append(machine.kernel.now - begun)
            await vi.destroy()
        return took

    (took,) = machine.finish(run())
    assert took[0] == took[1] == took[2]


def test_a_closed_nic_does_nothing_and_what_is_left_keeps_it_open() -> None:
    machine = Machine(2)
    (via, _) = start(machine)

    async def run() -> None:
        nic = await via.open()
        tag, va = nic.create_ptag(), nic.process.allocate(4096)
        handle = await nic.register_memory(va, 4096, tag)
        attributes = await nic.query_memory(handle)
        await refused(nic.close(), Result.ERROR_RESOURCE)
        await nic.deregister_memory(handle)
        queue = await nic.create_cq(4)
        await refused(nic.close(), Result.ERROR_RESOURCE)
        await queue.destroy()
        await nic.close()
        for call in (
            nic.close(),
            nic.query(),
            nic.query_counters(),
            nic.register_memory(va, 4096, tag),
            nic.deregister_memory(handle),
            nic.query_memory(handle),
            nic.set_memory(handle, attributes),
            nic.create_vi(tag),
            nic.create_cq(4),
            nic.connect_wait(7, 10),
        ):
            await refused(call)
        for act in (nic.create_ptag, lambda: nic.on_error(lambda _: None), lambda: nic.descriptor(va, handle)):
            with pytest.raises(VipError):
                act()

    machine.finish(run())


@pytest.mark.parametrize("preset", ["hwvia", "bvia2"])
def test_a_registration_that_is_refused_leaves_nothing(preset: str) -> None:
    """The NIC's memory has room for a table of 256 pages in all (at2), or the range has no memory at its end."""
    machine = Machine(2)
    (via, _) = start(machine, preset=preset, vis=4, table_words=256, regions=16)

    async def run() -> None:
        nic = await via.open()
        tag, pages = nic.create_ptag(), 300
        va = nic.process.allocate(4096 * pages)
        for _ in range(20):
            if preset == "hwvia":
                await refused(nic.register_memory(va, 4096 * pages, tag), Result.ERROR_RESOURCE)
            else:
                await refused(nic.register_memory(va + 4096, 4096 * pages, tag))
        await nic.register_memory(va, 4096 * 100, tag)
        nic.process.free(va + 4096 * 100, 4096 * (pages - 100))  # nothing is pinned there

    machine.finish(run())


def test_memory_handles_stay_words_and_are_not_used_again_at_once() -> None:
    machine = Machine(2)
    (via, _) = start(machine)

    async def run() -> None:
        nic = await via.open()
        tag, va = nic.create_ptag(), nic.process.allocate(4096)
        via.kernel.registry._serial = (1 << 20) - 4
        handles = [await nic.register_memory(va, 4096, tag) for _ in range(8)]
        assert len(set(handles)) == 8 and all(0 < handle < 1 << 32 for handle in handles)
        for handle in handles:
            await nic.deregister_memory(handle)

    machine.finish(run())


@pytest.mark.parametrize("who", ["process", "peer", "nic"])
def test_a_break_is_told_once_and_ones_own_disconnect_never(who: str) -> None:
    p = pair(reliability=Reliability.DELIVERY)
    told: list[str] = []
    p.mine.on_error(lambda: told.append("mine"))
    p.yours.on_error(lambda: told.append("yours"))

    async def run() -> None:
        if who == "nic":  # a send without a receive: both NICs break it
            await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 10)]))
            await p.mine.poll_send()
            await p.machine.host(0).sleep(100_000_000)
        await (p.mine if who != "peer" else p.yours).disconnect()
        await p.machine.host(0).sleep(300_000_000)
        await (p.yours if who != "peer" else p.mine).disconnect()
        await p.machine.host(0).sleep(300_000_000)

    p.machine.finish(run())
    assert sorted(told) == {"process": ["yours"], "peer": ["mine"], "nic": ["mine", "yours"]}[who]
