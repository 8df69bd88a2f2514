"""Destruction of a VI and its completion queue while the NIC holds descriptors: no other process is affected.

Strategy: a process posts more than the NIC can send, writes statuses into the descriptors, takes them back, and
destroys VI and completion queue. The NIC then handles the remaining descriptors. The freed frame of the queue must stay
unchanged. Another process that gets both numbers must receive nothing, and its connection must work.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from firmware.via.formats import Field, Reliability, Status
from firmware.via.host import Vi
from firmware.via.host.library.completion_queue import CompletionQueue
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.layout import State
from firmware.via.nic.user_pages import NEW_HANDLE, POINTER, Pair
from pymodels.host.pages import PAGE
from pymodels.machine import Machine
from tb.studies.via._via import User, connect, join, user
from tests.unit.via.via_bench import Pair as Hosts
from tests.unit.via.via_bench import pair, pattern

PATTERN = bytes(range(1, 129)) * (PAGE // 128)
LEVELS = pytest.mark.parametrize("level", list(Reliability))
PRESETS = pytest.mark.parametrize("preset", ["bvia2", "bvia2 prefetch", "hwvia", "hwvia ahead"])


def prepared(preset: str) -> Hosts:
    """Return two hosts with user-level doorbells and completion queues written by the NIC."""
    name, *descriptors = preset.split()
    return pair(Machine(2), preset=name, completion="cq1", vis=8, descriptors="".join(descriptors))


async def queued(owner: User, level: Reliability) -> tuple[CompletionQueue, Vi]:
    """Create a VI with a completion queue."""
    queue = await owner.nic.create_cq(256)
    return queue, await owner.nic.create_vi(owner.tag, reliability=level, send_cq=queue, receive_cq=queue)


async def give_up(p: Hosts, owner: User, level: Reliability, before: Callable[[], None]) -> None:
    """Post, forge, destroy; `before` is called before the queue's memory is freed."""
    queue, mine = await queued(owner, level)
    yours = await p.there.nic.create_vi(p.there.tag, reliability=level)
    await join(owner, mine, p.there, yours, 1)
    places = [owner.descriptor(i) for i in range(12)]
    for place in places[:6]:
        await mine.post_receive(place.receive([owner.part(0, 64)]))
    for place in places[6 : 8 if owner.nic.options.doorbell == "d1_word" else 12]:
        await mine.post_send(place.send([owner.part(0, 1 << 16)]))
    await p.machine.host(0).sleep(20_000_000)
    await mine.disconnect()
    late = [owner.descriptor(i) for i in range(20, 23)]
    for place in late:
        await mine.post_receive(place.receive([owner.part(0, 64)]))
    for place in places + late:
        owner.process.store_words(place.va + Field.STATUS, (1,))
    for work in (mine.sends, mine.receives):
        while len(work):
            await work.done()
    await mine.destroy()
    before()
    await queue.destroy()
    if yours.state is not State.CLOSED:
        await yours.disconnect()


@LEVELS
@PRESETS
def test_the_memory_of_a_destroyed_completion_queue_is_not_written(preset: str, level: Reliability) -> None:
    p = prepared(preset)
    host, given_up = p.machine.host(0), list[int]()

    def before() -> None:
        host.frames.give_back = take  # type: ignore[method-assign]

    def take(frames: list[int]) -> None:
        for frame in frames:
            host.store_bytes(frame, PATTERN)
        given_up.extend(frames)

    async def run() -> None:
        await give_up(p, await user(p.vias[0]), level, before)

    p.machine.finish(run())
    p.machine.run(p.machine.kernel.now / 1e6 + 20_000)
    assert given_up
    assert all(host.load_bytes(frame, PAGE) == PATTERN for frame in given_up)


@LEVELS
@PRESETS
def test_the_next_owner_of_both_numbers_gets_no_completion(preset: str, level: Reliability) -> None:
    p = prepared(preset)

    async def run() -> tuple[list[Status], bytes]:
        hostile, victim = await user(p.vias[0]), await user(p.vias[0])
        await give_up(p, hostile, level, lambda: None)
        queue, mine = await queued(victim, Reliability.RECEPTION)
        yours = await p.there.nic.create_vi(p.there.tag, reliability=Reliability.RECEPTION)
        await join(victim, mine, p.there, yours, 1)
        await mine.post_receive(victim.descriptor(0).receive([victim.part(0, 100)]))
        await p.machine.host(0).sleep(20_000_000_000)
        assert await queue.done() is None
        assert mine.state is State.CONNECTED
        p.there.write(0, pattern(100))
        await yours.post_send(p.there.descriptor(0).send([p.there.part(0, 100)]))
        statuses = [(await mine.poll_receive()).status, (await yours.poll_send()).status]
        assert await queue.done() == (mine, True)
        return statuses, victim.read(0, 100)

    received = Status.DONE | Status.RECEIVE
    assert p.machine.finish(run()) == [([received, Status.DONE], pattern(100))]


@PRESETS
def test_unacknowledged_sends_of_a_destroyed_vi_are_forgotten(preset: str) -> None:
    """Let a late acknowledgement arrive and the time limit expire: neither refers to the destroyed VI."""
    p = prepared(preset)

    async def run() -> State:
        hostile = await user(p.vias[0])
        mine, yours = await connect(hostile, p.there, 1, reliability=Reliability.DELIVERY)
        place = hostile.descriptor(0)
        p.machine.faults.delay(1, 0, p.machine.faults.passed(1, 0), 3_000_000_000)
        await yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 100)]))
        await mine.post_send(place.send([hostile.part(0, 100)]))
        await p.machine.host(0).sleep(30_000_000)
        hostile.process.store_words(place.va + Field.STATUS, (1,))
        await mine.sends.done()
        await mine.disconnect()
        await mine.destroy()
        victim = await user(p.vias[0])
        fresh, _ = await connect(victim, p.there, 1, reliability=Reliability.DELIVERY)
        await p.machine.host(0).sleep(20_000_000_000)
        return fresh.state

    assert p.machine.finish(run()) == [State.CONNECTED]


def test_the_doorbell_of_a_destroyed_vi_has_no_effect() -> None:
    """Ring the doorbell of a destroyed VI, which is in the same page as that of another VI."""
    p = prepared("bvia2")

    async def run() -> None:
        hostile = await user(p.vias[0])
        queue, mine = await queued(hostile, Reliability.UNRELIABLE)
        await hostile.nic.create_vi(hostile.tag)
        poster = mine.sends.poster
        assert isinstance(poster, ByProcess)
        pointer = hostile.descriptor(0).send([hostile.part(0, 64)]).va | POINTER | NEW_HANDLE
        await hostile.process.pio_write(poster.ring, struct.pack(">2I", pointer, hostile.place_handle))
        await mine.destroy()
        await queue.destroy()
        await hostile.process.pio_write(poster.pair + Pair.SEND_TAIL, struct.pack(">I", 2))
        await p.machine.host(0).sleep(100_000_000)
        assert hostile.descriptor(0).status == Status(0)

    p.machine.finish(run())
