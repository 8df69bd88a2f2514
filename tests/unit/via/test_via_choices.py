"""Design choices of paper 001, 2.2.

Strategy: each choice runs the same short program: messages of many lengths in odd segments, many posted receives,
immediate data, a lost packet, invalid descriptors. Further tests cover user-level doorbells: a page that belongs to one
process, garbage in it, memory deregistered during a message.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from firmware.layers import check_options
from firmware.options import OptionError
from firmware.via.formats import Control, Field, Reliability, Status
from firmware.via.host import Descriptor, Result, VipError
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.layout import Counter, State, Word
from firmware.via.nic.user_pages import Pair as Doorbells
from firmware.via.options import Options
from pymodels.errors import SanlabError
from pymodels.hardware.discover import nic_kind
from pymodels.host import ProtectionFault
from pymodels.machine import Machine
from tests.unit.via.via_bench import Pair, pair, pattern

CHOICES: dict[str, dict[str, str | int]] = {
    "bvia1": {"preset": "bvia1", "transfer": 65536},
    "bvia2": {"preset": "bvia2"},
    "hwvia": {"preset": "hwvia"},
    "rings, own tables, read ahead": {"doorbell": "d1_ring", "translation": "at2", "descriptors": "prefetch"},
    "hardware, own tables, written, read ahead": {"preset": "hwvia", "descriptors": "ahead"},
    "hardware, cached tables, fetched": {"preset": "hwvia", "translation": "at3", "descriptors": "dma"},
    "rings, 2 ways, bursts": {
        "doorbell": "d1_ring",
        "translation": "at3",
        "translation_entries": 8,
        "translation_ways": 2,
        "write_combine": 1,
    },
}
EACH = pytest.mark.parametrize("choice", CHOICES)
DONE, RECEIVED = Status.DONE, Status.DONE | Status.RECEIVE


def made(choice: str, machine: Machine | None = None, **more: Any) -> Pair:
    """Return a connection between NICs with a choice."""
    return pair(machine, vis=8, **{**CHOICES[choice], **more})


async def one_way(p: Pair, size: int, segments: int = 1, immediate: int | None = None) -> Descriptor:
    """Send one message and return the receive descriptor."""
    p.here.write(7, pattern(size))
    step = -(-size // segments)
    parts = [p.here.part(7 + at, min(step, size - at)) for at in range(0, size, step or 1)]
    await p.yours.post_receive(p.there.descriptor(0, 64).receive([p.there.part(4090, size)] if size else []))
    await p.mine.post_send(p.here.descriptor(0, 64).send(parts, immediate))
    received = await p.yours.poll_receive()
    sent = await p.mine.poll_send()
    assert (sent.status, sent.length) == (DONE, size)
    assert (received.status & ~Status.IMMEDIATE, received.length) == (RECEIVED, size)
    assert p.there.read(4090, size) == pattern(size)
    return received


@EACH
def test_messages_arrive(choice: str) -> None:
    p = made(choice)

    async def run() -> None:
        for size, segments in ((0, 1), (1, 1), (8, 2), (9, 1), (1024, 3), (5000, 40), (65536, 1), (300, 60)):
            await one_way(p, size, segments)
        assert (await one_way(p, 100, immediate=77)).immediate == 77
        assert (await one_way(p, 4, immediate=78)).immediate == 78

    p.machine.finish(run())


@EACH
def test_many_receives_ahead_are_used_in_order(choice: str) -> None:
    p = made(choice)
    rng = random.Random(2)
    sizes = [rng.choice((3, 8, 60, 2000)) for _ in range(40)]

    async def receive() -> list[bytes]:
        got = []
        for i in range(20):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(2000 * i, 2000)]))
        for i in range(40):
            done = await p.yours.poll_receive()
            got.append(p.there.read(2000 * (i % 20), done.length))
            await p.yours.post_receive(p.there.descriptor(i % 20).receive([p.there.part(2000 * (i % 20), 2000)]))
        return got

    async def send() -> None:
        await p.machine.host(0).sleep(200_000_000)
        for i, size in enumerate(sizes):
            p.here.write(2000 * (i % 20), pattern(size, i))
            await p.mine.post_send(p.here.descriptor(i % 20).send([p.here.part(2000 * (i % 20), size)]))
            if i % 4 == 3:
                for _ in range(4):
                    await p.mine.poll_send()

    got, _ = p.machine.finish(receive(), send())
    assert got == [pattern(size, i) for i, size in enumerate(sizes)]


@EACH
def test_256_descriptors_wait_in_each_queue(choice: str) -> None:
    """Post sends faster than they are sent, and receives in 16 regions at once."""
    p = made(choice, regions=300)

    async def receive() -> None:
        tag = p.there.tag
        for i in range(256):
            place = p.there.descriptor(i)
            if i % 7 == 6 and i < 105:  # another region than the one before
                va = p.there.process.allocate(64)
                place = p.there.nic.descriptor(va, await p.there.nic.register_memory(va, 64, tag))
            await p.yours.post_receive(place.receive([p.there.part(64 * i, 64)]))
        with pytest.raises(VipError) as refused:
            await p.yours.post_receive(p.there.descriptor(256).receive([]))
        assert refused.value.result is Result.ERROR_RESOURCE

    async def send() -> None:
        for i in range(256):
            p.here.write(64 * i, pattern(64, i))
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(64 * i, 64)]))

    async def take() -> None:
        for _ in range(256):
            assert (await p.yours.poll_receive()).status == RECEIVED

    p.machine.finish(receive())
    p.machine.finish(send(), take())
    assert p.there.read(0, 256 * 64) == b"".join(pattern(64, i) for i in range(256))


@EACH
def test_a_lost_packet_spoils_one_message_or_breaks_the_connection(choice: str) -> None:
    for level in (Reliability.UNRELIABLE, Reliability.RECEPTION):
        p = made(choice, reliability=level, packet=1024)

        async def run(p: Pair = p) -> list[Status]:
            for i in range(2):
                await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(4096 * i, 4096)]))
            await p.machine.host(0).sleep(100_000_000)
            p.machine.faults.drop(0, 1, p.machine.faults.passed(0, 1) + 1)
            for i in range(2):
                p.here.write(4096 * i, pattern(3000, i))
                await p.mine.post_send(p.here.descriptor(i).send([p.here.part(4096 * i, 3000)]))
            statuses = [(await p.mine.poll_send()).status for _ in range(2)]
            return [*statuses, (await p.yours.poll_receive()).status]

        ((first, second, received),) = p.machine.finish(run())
        if level is Reliability.UNRELIABLE:
            assert (first, second, received) == (DONE, DONE, RECEIVED)
            assert p.there.read(0, 3000) == pattern(3000, 1)
        else:
            assert (first, second) == (DONE | Status.TRANSPORT_ERROR, DONE | Status.FLUSHED)
            assert received == RECEIVED | Status.FLUSHED


@EACH
@pytest.mark.parametrize("rdma", ["buffer", "table"])
def test_rdma_writes_arrive_and_wrong_ones_do_not(choice: str, rdma: str) -> None:
    p = made(choice, rdma=rdma, reliability=Reliability.RECEPTION)
    p.here.write(0, pattern(9000))

    async def run() -> list[Status]:
        statuses = []
        for handle in (p.there.handle, p.there.place_handle):
            descriptor = p.here.descriptor(0).rdma_write([p.here.part(0, 9000)], p.there.base + 99, handle)
            await p.mine.post_send(descriptor)
            statuses.append((await p.mine.poll_send()).status)
        return statuses

    write = DONE | Status.WRITE
    assert p.machine.finish(run()) == [[write, write | Status.RDMA_PROTECTION]]
    assert p.there.read(99, 9000) == pattern(9000)


@EACH
def test_wrong_segments_become_statuses(choice: str) -> None:
    p = made(choice)

    async def status(segments: list[tuple[int, int, int]]) -> Status:
        await p.mine.post_send(p.here.descriptor(0).send(segments))
        return (await p.mine.poll_send()).status

    async def run() -> None:
        here = p.here
        assert await status([(here.base, here.handle + 1, 100)]) == DONE | Status.PROTECTION_ERROR
        assert await status([here.part(here.size - 10, 20)]) == DONE | Status.PROTECTION_ERROR
        assert await status([here.part(0, 65536), here.part(0, 9)]) == DONE | Status.LENGTH_ERROR
        here.process.store_bytes(here.descriptor(1).send([]).va + Field.CONTROL + 2, b"\0\x40")
        await p.mine.post_send(here.descriptor(1))
        assert (await p.mine.poll_send()).status == DONE | Status.FORMAT_ERROR
        fenced = p.here.descriptor(2).send([p.here.part(0, 8)])
        p.here.process.store_bytes(fenced.va + Field.CONTROL + 2, bytes([0, Control.FENCE]))
        await p.mine.post_send(fenced)
        assert (await p.mine.poll_send()).status == DONE | Status.FORMAT_ERROR
        await one_way(p, 100)

    p.machine.finish(run())


@EACH
def test_garbage_in_a_page_affects_no_other_process(choice: str) -> None:
    """Overwrite tails, heads and descriptors of one process at random; another connection must continue."""
    p = made(choice)
    rng = random.Random(4)
    q = pair_beside(p)
    sends, receives = poster(p.mine.sends), poster(p.mine.receives)

    async def attack() -> None:
        for _ in range(60):
            words = b"".join(rng.choice((rng.randbytes(4), p.here.base.to_bytes(4, "big"))) for _ in range(4))
            await p.here.process.pio_write(rng.choice((sends.pair, sends.ring, receives.ring)), words)
            tail = rng.choice((1, 2, 8, 14, 300)).to_bytes(4, "big")
            await p.here.process.pio_write(sends.pair + Doorbells.SEND_TAIL, tail)
            await p.machine.host(0).sleep(3_000_000)

    async def others() -> None:
        for size in (10, 5000, 200, 4, 9000):
            await one_way(q, size)

    p.machine.finish(attack(), others())


def poster(queue: Any) -> ByProcess:
    """Return the posting of a work queue."""
    assert isinstance(queue.poster, ByProcess)
    return queue.poster


def pair_beside(p: Pair) -> Pair:
    """Return another connection between the same hosts, of other processes."""
    from tb.studies.via._via import connect, user

    here, there = p.machine.finish(user(p.vias[0], rdma_write=True), user(p.vias[1], rdma_write=True))
    ((mine, yours),) = p.machine.finish(connect(here, there, 1))
    return Pair(p.machine, p.vias, here, there, mine, yours)


@EACH
def test_the_page_of_another_process_cannot_be_written(choice: str) -> None:
    p = made(choice)
    q = pair_beside(p)
    for theirs in (poster(p.mine.sends), poster(p.mine.receives)):
        for at in (theirs.ring, theirs.pair):
            physical = p.here.process.pages.physical(at, 4, "", device=True, write=True)
            assert physical is not None
            mine = [poster(q.mine.sends).ring, poster(q.mine.sends).pair]
            places = [q.here.process.pages.at(one, "").physical for one in mine]
            assert physical // 4096 * 4096 not in places
    with pytest.raises(ProtectionFault):
        p.machine.finish(q.here.process.pio_write(poster(q.mine.sends).pair // 4096 * 4096 + 4096, b"\0\0\0\1"))


@EACH
def test_deregistered_memory_is_not_written_by_a_message_in_flight(choice: str) -> None:
    p = made(choice)
    p.here.write(0, b"\xee" * 65536)

    async def run() -> Status:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 65536)]))
        await p.machine.host(0).sleep(100_000_000)
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 65536)]))
        await p.machine.host(0).sleep(150_000_000)
        await p.there.nic.deregister_memory(p.there.handle)
        p.there.write(0, bytes(65536))
        return (await p.yours.poll_receive()).status

    (status,) = p.machine.finish(run())
    p.machine.run(p.machine.kernel.now / 1e6 + 1000)
    assert status == RECEIVED | Status.PROTECTION_ERROR
    assert p.there.read(0, 65536) == bytes(65536)


def test_a_cache_that_holds_the_pages_misses_once_and_a_small_one_every_time() -> None:
    for entries, least in ((64, 0), (1, 30)):
        p = pair(vis=8, preset="bvia2", translation_entries=entries, translation_ways=1 if entries == 1 else 4)

        async def run(p: Pair = p) -> int:
            await one_way(p, 40_000)
            before = p.machine.nic(0).sram.load(Word.COUNTERS + 4 * Counter.MISSES)
            for _ in range(3):
                await one_way(p, 40_000)
            return p.machine.nic(0).sram.load(Word.COUNTERS + 4 * Counter.MISSES) - before

        (misses,) = p.machine.finish(run())
        assert (misses == 0) if not least else misses >= least


@pytest.mark.parametrize(
    "wrong",
    [
        {"doorbell": "d1_ring"},
        {"translation": "at3"},
        {"descriptors": "dma"},
        {"preset": "hwvia", "translation": "at3", "translation_entries": 10, "translation_ways": 4},
        {"packet": 100},
        {"send_words": 100},
        {"vis": 1},
        {"doorbell": "d3"},
        {"nothing": 1},
    ],
)
def test_incompatible_choices_are_rejected(wrong: dict[str, str | int]) -> None:
    with pytest.raises(OptionError):
        Options.from_values(wrong)


def test_a_vi_broken_by_an_invalid_descriptor_is_reported() -> None:
    """Post a descriptor outside of registered memory, which can have no status: its VI breaks."""
    p = made("hwvia")

    async def run() -> None:
        elsewhere = p.here.process.allocate(4096)
        await p.mine.post_send(p.here.nic.descriptor(elsewhere, p.here.place_handle).send([p.here.part(0, 100)]))
        while p.mine.state is not State.ERROR:
            await p.machine.host(0).sleep(1_000_000)

    p.machine.finish(run())


@pytest.mark.parametrize(
    ("wrong", "nic"),
    [
        ({"preset": "hwvia"}, "lanai4"),
        ({"preset": "hwvia"}, "sp"),
        ({"packet": 2040}, "sp"),
        ({"preset": "bvia2", "vis": 128}, "sp"),
    ],
)
def test_choices_that_a_nic_lacks_are_rejected_before_a_build(wrong: dict[str, str | int], nic: str) -> None:
    with pytest.raises(OptionError):
        check_options("via", wrong, 2, 1 << 19, replace(nic_kind(nic).card(1 << 19), has_doorbells=False))


def test_more_nodes_than_a_header_can_address_are_rejected() -> None:
    card = nic_kind("lanai9").card(1 << 19)
    check_options("via", {}, 128, 1 << 19, card)
    with pytest.raises(SanlabError, match=r"129 hosts: layer 'via' can address 128"):
        check_options("via", {}, 129, 1 << 19, card)
