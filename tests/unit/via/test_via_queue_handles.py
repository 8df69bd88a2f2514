"""Handles of completion queues: a destroyed queue reports nothing, and a queue in use is not destroyed.

Strategy: queues and the VIs that use them are destroyed, or their creation fails, and their numbers are reused. Their
completions and costs must not affect the new owners.
"""

from __future__ import annotations

import pytest

from firmware.via.host import Result
from pymodels.machine import Machine
from tb.studies.via._via import join, user
from tests.unit.via.via_bench import message, refused, start

KINDS = pytest.mark.parametrize("completion", ["cq1", "cq2"])


@KINDS
def test_a_completion_queue_can_be_destroyed_only_once_and_by_its_process(completion: str) -> None:
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


def test_a_completion_queue_of_a_vi_being_created_cannot_be_destroyed() -> None:
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


def test_a_failed_creation_of_a_vi_releases_its_completion_queue() -> None:
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
def test_entries_of_a_destroyed_vi_are_not_reported_for_the_next_vi(completion: str) -> None:
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


def test_destroyed_vis_add_no_cost_to_polling_a_completion_queue() -> None:
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
