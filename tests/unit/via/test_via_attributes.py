"""Attributes that a process queries and sets (VipQuery..., VipSet..., VipResizeCQ, VipErrorCallback).

Strategy: queries must return what was created. A change must take effect: a tag that no longer matches, a right that
the peer has lost, a message that has become too long. A completion queue is enlarged and reduced between completions,
each of which must be reported exactly once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firmware.via.formats import VIS, Reliability, Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.host.common.attributes import MemoryAttributes, ViAttributes
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import join, user
from tests.unit.via.via_bench import Pair, pair, pattern, start

DONE = Status.DONE | Status.RECEIVE


async def exchange(p: Pair, size: int) -> tuple[Status, Status]:
    """Send a message and return the statuses of its two descriptors."""
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, size)]))
    await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, size)]))
    return (await p.mine.poll_send()).status, (await p.yours.poll_receive()).status


def test_query_returns_the_attributes_of_a_nic() -> None:
    p = pair(vis=20, queues=5, transfer=8192, packet=512)
    (found,) = p.machine.finish(p.here.nic.query())
    assert (found.node, found.nodes, found.vis, found.queues) == (0, 2, 19, 5)
    assert (found.transfer, found.mtu, found.register_bytes) == (8192, 512, 0)
    assert Reliability.RECEPTION in found.reliability and found.rdma_read


def test_query_returns_the_registrable_bytes_of_a_nic_with_tables() -> None:
    p = pair(preset="hwvia", vis=20, table_words=1024)
    (found,) = p.machine.finish(p.here.nic.query())
    assert found.register_bytes == 1024 * 4096


def test_counters_of_nic_and_kernel_can_be_queried() -> None:
    p = pair()

    async def run() -> tuple[dict[str, int], dict[str, int]]:
        before = await p.there.nic.query_counters()
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 100)]))
        await p.mine.poll_send()
        await p.machine.host(0).sleep(100_000_000)
        return before, await p.there.nic.query_counters()

    ((before, after),) = p.machine.finish(run())
    assert after["no_descriptor"] == before["no_descriptor"] + 1
    assert after["bad_crc"] == before["bad_crc"] == 0


def test_query_returns_state_and_empty_queues_of_a_vi() -> None:
    p = pair(reliability=Reliability.DELIVERY)

    async def run() -> list[Any]:
        found = [await p.yours.query()]
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 4)]))
        found.append(await p.yours.query())
        await p.yours.disconnect()
        return [*found, await p.yours.query()]

    ((fresh, posted, over),) = p.machine.finish(run())
    assert fresh.attributes == ViAttributes(p.there.tag, Reliability.DELIVERY, 1 << 16)
    assert (fresh.state, fresh.sends_empty, fresh.receives_empty) == (State.CONNECTED, True, True)
    assert (posted.sends_empty, posted.receives_empty) == (True, False)
    assert over.state is State.CLOSED


@pytest.mark.parametrize("preset", ["firmvia", "hwvia"])
def test_attributes_of_a_vi_can_be_set_only_while_unconnected(preset: str) -> None:
    p = pair(preset=preset, vis=20)

    async def run() -> tuple[Status, Status]:
        attributes = (await p.mine.query()).attributes
        with pytest.raises(VipError) as refused:
            await p.mine.set_attributes(attributes)
        assert refused.value.result is Result.INVALID_STATE
        await p.mine.disconnect()
        await p.machine.host(0).sleep(200_000_000)
        await p.yours.disconnect()
        for vi, owner in ((p.mine, p.here), (p.yours, p.there)):
            await vi.set_attributes(ViAttributes(owner.tag, Reliability.RECEPTION, 1000))
        with pytest.raises(VipError) as refused:
            await p.mine.set_attributes(replace(attributes, tag=99))
        assert refused.value.result is Result.INVALID_PTAG
        await join(p.here, p.mine, p.there, p.yours, 1)
        assert (await exchange(p, 1000))[0] == Status.DONE
        await p.mine.post_send(p.here.descriptor(1).send([p.here.part(0, 1001)]))
        return (await p.mine.poll_send()).status, await _reliable(p)

    ((too_long, level),) = p.machine.finish(run())
    assert too_long == Status.DONE | Status.LENGTH_ERROR
    assert level == Status.DONE | Status.REMOTE_DESCRIPTOR, "a reliable one is told that nobody has posted a receive"


async def _reliable(p: Pair) -> Status:
    """Return the status of a send without a receive."""
    await p.mine.post_send(p.here.descriptor(2).send([p.here.part(0, 8)]))
    return (await p.mine.poll_send()).status


@pytest.mark.parametrize("rdma", ["buffer", "table"])
@pytest.mark.parametrize("who", ["vi", "memory"])
def test_rdma_writes_need_the_rights_of_vi_and_memory(rdma: str, who: str) -> None:
    p = pair(reliability=Reliability.RECEPTION, rdma=rdma)

    async def write() -> Status:
        descriptor = p.here.descriptor(3).rdma_write([p.here.part(0, 64)], p.there.base + 4096, p.there.handle)
        await p.mine.post_send(descriptor)
        return (await p.mine.poll_send()).status

    async def run() -> list[Status]:
        found = [await write()]
        if who == "memory":
            attributes = await p.there.nic.query_memory(p.there.handle)
            assert attributes == MemoryAttributes(p.there.tag, rdma_write=True)
            await p.there.nic.set_memory(p.there.handle, replace(attributes, rdma_write=False))
        else:
            await p.mine.disconnect()
            await p.machine.host(0).sleep(200_000_000)
            await p.yours.disconnect()
            await p.yours.set_attributes(replace((await p.yours.query()).attributes, rdma_write=False))
            await join(p.here, p.mine, p.there, p.yours, 1)
        return [*found, await write()]

    p.here.write(0, pattern(64))
    (found,) = p.machine.finish(run())
    assert found == [Status.DONE | Status.WRITE, Status.DONE | Status.WRITE | Status.RDMA_PROTECTION]
    assert p.there.read(4096, 64) == pattern(64)


@pytest.mark.parametrize("preset", ["firmvia", "bvia2"])
def test_memory_under_another_tag_cannot_be_used(preset: str) -> None:
    p = pair(preset=preset, vis=20)

    async def run() -> Status:
        tag = p.here.nic.create_ptag()
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 10)]))
        with pytest.raises(VipError) as refused:
            await p.here.nic.set_memory(p.there.handle + 77, MemoryAttributes(tag))
        assert refused.value.result is Result.INVALID_PARAMETER
        await p.here.nic.set_memory(p.here.handle, MemoryAttributes(tag))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 10)]))
        return (await p.mine.poll_send()).status

    assert p.machine.finish(run()) == [Status.DONE | Status.PROTECTION_ERROR]


def test_memory_in_use_keeps_its_attributes() -> None:
    p = pair()

    async def run() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 10)]))
        with pytest.raises(VipError) as refused:
            await p.there.nic.set_memory(p.there.handle, MemoryAttributes(p.there.tag))
        assert refused.value.result is Result.ERROR_RESOURCE
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 10)]))
        assert (await p.yours.poll_receive()).status == DONE

    p.machine.finish(run())


def test_error_handlers_are_called_for_broken_connections() -> None:
    p = pair(reliability=Reliability.DELIVERY)
    told: list[Vi] = []
    p.here.nic.on_error(told.append)
    p.there.nic.on_error(told.append)

    async def run() -> None:
        await _reliable(p)
        await p.machine.host(0).sleep(100_000_000)

    p.machine.finish(run())
    assert set(told) == {p.mine, p.yours} and len(told) == 2


@pytest.mark.parametrize("completion", ["cq1", "cq2"])
@pytest.mark.parametrize("sizes", [(4, 64), (64, 4), (8, 8)])
def test_resizing_a_completion_queue_loses_no_completion(completion: str, sizes: tuple[int, int]) -> None:
    machine = Machine(2)
    vias = start(machine, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    told: list[int] = []

    async def run() -> None:
        queue = await far.nic.create_cq(sizes[0])
        mine = await near.nic.create_vi(near.tag)
        yours = await far.nic.create_vi(far.tag, receive_cq=queue)
        await join(near, mine, far, yours, 1)
        for turn in range(6):
            for i in range(4):
                await yours.post_receive(far.descriptor(i).receive([far.part(64 * i, 64)]))
            for i in range(4):
                near.write(0, pattern(8, 4 * turn + i))
                await mine.post_send(near.descriptor(i).send([near.part(0, 8)]))
                await mine.poll_send()
                if i == turn % 4:
                    await queue.resize(sizes[1 - turn % 2])
            for _ in range(4):
                vi, is_receive = await queue.poll()
                assert vi is yours and is_receive
                assert (await yours.receive_done()) is not None
                told.append(turn)
            await machine.host(1).sleep(50_000_000)
            assert await queue.done() is None

    machine.finish(run())
    assert told == [turn for turn in range(6) for _ in range(4)]


def test_a_completion_queue_has_no_more_entries_than_a_page() -> None:
    machine = Machine(2)
    vias = start(machine, completion="cq1")
    (far,) = machine.finish(user(vias[1]))

    async def run() -> None:
        queue = await far.nic.create_cq(8)
        with pytest.raises(VipError) as refused:
            await queue.resize(1025)
        assert refused.value.result is Result.INVALID_PARAMETER

    machine.finish(run())


@pytest.mark.parametrize(("vis", "remedy"), [(3, "destroy one, or raise via.vis, at most 128"), (VIS, "destroy one")])
def test_processes_can_create_all_vis_but_that_of_the_kernel_agents(vis: int, remedy: str) -> None:
    p = pair(vis=vis)

    async def run() -> None:
        here = await p.here.nic.query()
        assert here.vis == vis - 1
        for _ in range(here.vis - len([p.mine])):
            await p.here.nic.create_vi(p.here.tag)
        with pytest.raises(VipError) as refused:
            await p.here.nic.create_vi(p.here.tag)
        assert refused.value.result is Result.ERROR_RESOURCE
        there = f"all {vis - 1} VIs for processes are in use (VI 0 is for kernel agents)"
        assert str(refused.value) == f"creating a VI: {there}: out of resources; {remedy}"

    p.machine.finish(run())
