"""Handles of destroyed VIs: a call has no effect on the VI that has the number now.

Strategy: a VI is destroyed, and its number given to another process at once. Then every call is made with the old
handle, and the new owner must be unaffected. Waiting calls are overtaken by a destroy in another thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User, connect, user
from tests.unit.via.via_bench import message, pair, refused, start

PRESETS = pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])


async def result_of(call: Awaitable[Any]) -> Result | None:
    """Return the result code of a call, or None if it succeeds."""
    try:
        await call
    except VipError as error:
        return error.result
    return None


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
def test_calls_on_a_destroyed_vi_do_not_affect_the_next_vi_of_its_number(preset: str) -> None:
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


def test_a_server_cannot_accept_with_a_destroyed_vi() -> None:
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
    """Destroy during a connection request: before it or not at all, without effect on the number's next VI."""
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


def test_one_of_two_concurrent_destroys_or_disconnects_succeeds() -> None:
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


def test_waits_at_a_destroyed_vi_or_queue_return() -> None:
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
