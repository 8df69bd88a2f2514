"""Queue caches, refills and limits.

Strategy: descriptors are posted faster than they are used, into small queue caches, so that most wait at the host and
arrive by refill interrupts. The order of posting must be kept on both sides, for several VIs at once. A packet for an
empty cache whose descriptors wait at the host must wait. The requirements of the paper (001, 3.2.1) are reached: 256
descriptors a queue, 127 VIs beside the kernel agents', 256 MB registered.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Status
from firmware.via.host import Result, VipError
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.layout import Counter, State, Word
from pymodels.machine import Machine, Timing
from tb.studies.via._via import User, connect, user
from tests.unit.via.via_bench import Pair, pair, pattern, start

RECEIVED = Status.DONE | Status.RECEIVE


async def post_receives(p: Pair, count: int, size: int = 64) -> None:
    """Post receives into consecutive places."""
    for i in range(count):
        await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(size * i, size)]))


async def post_sends(p: Pair, count: int, size: int = 64) -> None:
    """Post sends of different bytes."""
    for i in range(count):
        p.here.write(size * i, pattern(size, i))
        await p.mine.post_send(p.here.descriptor(i).send([p.here.part(size * i, size)]))


@pytest.mark.parametrize("low_water", [0, 4])
def test_descriptors_that_wait_for_a_queue_cache_keep_their_order(low_water: int) -> None:
    p = pair(receive_words=64, send_words=64, low_water=low_water)

    async def take() -> list[bytes]:
        for _ in range(120):
            assert (await p.yours.poll_receive()).status == RECEIVED
            assert (await p.mine.poll_send()).status == Status.DONE
        return [p.there.read(1024 * i, 1024) for i in range(120)]

    p.machine.finish(post_receives(p, 120, 1024))
    before = [via.kernel_agent.interrupts.count for via in p.vias]
    _, arrived = p.machine.finish(post_sends(p, 120, 1024), take())
    assert arrived == [pattern(1024, i) for i in range(120)]
    assert all(via.kernel_agent.interrupts.count - count > 2 for via, count in zip(p.vias, before, strict=True))
    stalled = p.machine.nic(1).sram.load(Word.COUNTERS + 4 * Counter.STALLED)
    assert stalled or low_water


def test_a_post_to_a_full_queue_is_rejected() -> None:
    p = pair(outstanding=16)
    p.machine.finish(post_receives(p, 16))
    with pytest.raises(VipError) as refused:
        p.machine.finish(post_receives(p, 1))
    assert refused.value.result is Result.ERROR_RESOURCE
    assert "posting descriptor 17 of a queue: " in str(refused.value), "the library says so, and asks nobody"


def test_256_descriptors_wait_in_a_queue() -> None:
    p = pair()

    async def take() -> None:
        for _ in range(256):
            assert (await p.yours.poll_receive()).status == RECEIVED
            await p.mine.poll_send()

    p.machine.finish(post_receives(p, 256))
    p.machine.finish(post_sends(p, 256), take())
    assert p.there.read(0, 256 * 64) == b"".join(pattern(64, i) for i in range(256))


def test_vis_do_not_mix_their_messages() -> None:
    """Run seven connections between three hosts with small caches at once."""
    machine = Machine(3)
    vias = start(machine, receive_words=64, send_words=64, vis=16)
    users = machine.finish(*(user(via) for via in vias))
    ways = [(0, 1), (1, 0), (0, 2), (2, 1), (0, 1), (1, 2), (0, 2)]

    async def one(number: int, here: User, there: User, node: int) -> None:
        mine, yours = await connect(here, there, node)
        at = 9000 * number

        async def receive() -> None:
            for i in range(20):
                await yours.post_receive(there.descriptor(64 * number + i).receive([there.part(at, 3000)]))
            for i in range(20):
                done = await yours.poll_receive()
                assert there.read(at, done.length) == pattern(3000 - i, number)

        task = there.process.spawn(receive(), "receiver")
        await here.process.host.sleep(400_000_000)  # type: ignore[attr-defined]
        for i in range(20):
            here.write(at, pattern(3000 - i, number))
            await mine.post_send(here.descriptor(64 * number + 32).send([here.part(at, 3000 - i)]))
            await mine.poll_send()
            await here.process.host.sleep(100_000_000)  # type: ignore[attr-defined]
        await task.finished

    async def all_of_them() -> None:
        tasks = []
        for number, (a, b) in enumerate(ways):
            tasks.append(machine.host(a).spawn(one(number, users[a], users[b], b), f"way {number}"))
            await machine.host(a).sleep(500_000_000)
        for task in tasks:
            await task.finished

    machine.finish(all_of_them())


def test_a_host_has_127_vis_and_64_kb_messages_between_the_last_ones() -> None:
    p = pair()

    async def run() -> None:
        for _ in range(125):
            await p.here.nic.create_vi(p.here.tag)
            await p.there.nic.create_vi(p.there.tag)
        mine, yours = await connect(p.here, p.there, 1)
        assert (mine.number, yours.number) == (127, 127)
        p.here.write(0, pattern(65536))
        await yours.post_receive(p.there.descriptor(0).receive([p.there.part(5, 65536)]))
        await mine.post_send(p.here.descriptor(0).send([p.here.part(0, 65536)]))
        assert (await yours.poll_receive()).length == 65536
        assert p.there.read(5, 65536) == pattern(65536)
        with pytest.raises(VipError) as refused:
            await p.here.nic.create_vi(p.here.tag)
        assert refused.value.result is Result.ERROR_RESOURCE

    p.machine.finish(run())


def test_256_mb_can_be_registered_in_more_than_16_regions() -> None:
    machine = Machine(2, host_bytes=300 << 20)
    (via, _) = start(machine)

    async def run() -> None:
        nic = await via.open()
        tag = nic.create_ptag()
        va = nic.process.allocate(256 << 20)
        handles = [await nic.register_memory(va + (i << 23), 1 << 23, tag) for i in range(32)]
        assert len(set(handles)) == 32
        for handle in handles:
            await nic.deregister_memory(handle)

    machine.finish(run())


@pytest.mark.parametrize("preset", ["bvia1", "bvia2"])
def test_a_post_with_a_one_word_doorbell_waits_for_a_long_message(preset: str) -> None:
    """Make each packet wait 50 us for the DMA."""
    p = pair(Machine(2, timing=Timing(dma_start=50_000_000)), preset=preset, vis=8, packet=64, inline=0)
    most = 4096

    async def run() -> list[int]:
        for i in range(4):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(0, most)]))
        begun, waited = p.machine.kernel.now, []
        for i in range(4):
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, most)]))
            waited.append(p.machine.kernel.now - begun)
            begun = p.machine.kernel.now
        for _ in range(4):
            assert (await p.mine.poll_send()).status == Status.DONE
        return waited

    (waited,) = p.machine.finish(run())
    assert max(waited) > 1_000_000_000, "longer than a millisecond"


def test_a_queue_cache_without_progress_is_reported_as_full() -> None:
    """Let the process read a head that the NIC never writes."""
    p = pair(preset="bvia2", vis=8)
    poster = p.mine.sends.poster
    assert isinstance(poster, ByProcess)
    poster._head_at = poster.ring + 512
    post = p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 16)]))
    p.machine.finish(post)
    took = []
    for i in (1, 2):
        begun = p.machine.kernel.now
        with pytest.raises(VipError, match="queue cache is full"):
            p.machine.finish(p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 16)])))
        took.append(p.machine.kernel.now - begun)
    assert took[0] > 50_000_000_000, "long enough for all others"
    assert took[1] < 1_000_000_000, "the second time, nobody waits for it"


def test_sends_that_wait_at_the_host_are_flushed_when_their_connection_ends() -> None:
    """Post more messages of 64 KB than the central queue holds. A rejected one frees its place as a sent one does."""
    p, count = pair(outstanding=128), 96

    async def run() -> list[Status]:
        for i in range(count):
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 1 << 16)]))
        await p.mine.disconnect()
        return [(await p.mine.poll_send()).status for _ in range(count)]

    (statuses,) = p.machine.finish(run(), within_us=100_000)
    assert statuses[-1] == Status.DONE | Status.FLUSHED


def test_many_disconnects_under_a_stream_whose_receives_wait_at_the_host() -> None:
    """Let messages between kernels wait for buffers while the NIC waits for a refill."""
    p = pair(receive_words=64)
    links = [p.machine.finish(connect(p.here, p.there, 1))[0] for _ in range(40)]

    async def take() -> None:
        for _ in range(200):
            assert (await p.yours.poll_receive()).status == RECEIVED

    async def disconnect() -> None:
        await p.machine.host(0).sleep(300_000_000)
        for task in [p.there.process.spawn(yours.disconnect(), "disconnects") for _, yours in links]:
            await task.finished

    p.machine.finish(post_receives(p, 200))
    p.machine.finish(post_sends(p, 200), take(), disconnect())
    p.machine.run(p.machine.kernel.now / 1e6 + 500)
    assert {mine.state for mine, _ in links} == {State.ERROR}
