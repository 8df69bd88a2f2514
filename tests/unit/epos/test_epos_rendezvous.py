"""Rendezvous of EPOS: long messages go directly into posted buffers, with any pages, and nowhere else.

Strategy: a receiver posts before, after, or long after the request. Buffers are scattered by seed, with guard bytes
around every piece, and the network loses requests and grants. Copies are counted at the DMA of both cards, on the
cable, and by the CPU. Each misuse has its own error.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.epos.host import EposError, MemoryRange
from firmware.epos.nic.words import Word
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import drawn, each_nic

SIZES = (4096, 20_000, 65_536, 4097)
GUARD = b"\xa5" * 64


def scattered(bench: Bench, node: int, size: int, seed: int) -> tuple[list[MemoryRange], Any]:
    """Return pieces of one frame each in random order with guard bytes between, and a check that the guards are
    unchanged.
    """
    host, mtu = bench.machine.host(node), bench.hosts[node].options.mtu
    count = -(-size // mtu)
    memory = host.allocate(len(GUARD) + count * (mtu + len(GUARD)))
    places = [len(GUARD) + at * (mtu + len(GUARD)) for at in range(count)]
    gaps = [0, *(place + mtu for place in places)]
    for at in gaps:
        memory.view[at : at + len(GUARD)] = GUARD
    random.Random(seed).shuffle(places)
    pieces = [MemoryRange(memory.address + place, mtu) for place in places]
    pieces[-1] = MemoryRange(pieces[-1].address, size - (count - 1) * mtu)
    memory.view[places[-1] + pieces[-1].size : places[-1] + mtu] = b"\x5a" * (mtu - pieces[-1].size)

    def untouched() -> bool:
        rest = bytes(memory.view[places[-1] + pieces[-1].size : places[-1] + mtu])
        return all(bytes(memory.view[at : at + len(GUARD)]) == GUARD for at in gaps) and set(rest) <= {0x5A}

    return pieces, untouched


@each_nic
@pytest.mark.parametrize("wait_us", [0, 300])
@pytest.mark.parametrize("seed", range(2))
def test_long_messages_go_only_into_the_posted_buffers(nic: str, wait_us: int, seed: int) -> None:
    bench, sent, rng = Bench(nic=nic, protocols="rendezvous"), drawn(seed, [*SIZES, 64, *SIZES]), random.Random(seed)

    async def takes() -> list[bytes]:
        far, got = bench.hosts[1], []
        for data in sent:
            if len(data) < 4096:
                got.append((await far.receive()).data)
                continue
            await far.host.sleep(rng.randrange(wait_us * 1_000_000 + 1), "other work")
            pieces, untouched = scattered(bench, 1, -(-len(data) // 4) * 4, seed)
            await far.post(0, pieces)
            got.append((await far.receive()).data)
            there = b"".join(far.host.load_bytes(piece.address, piece.size) for piece in pieces)
            assert there[: len(data)] == data and untouched()
        return got

    _, got = bench.run(bench.give(0, 1, sent), takes())
    assert [data[: len(want)] for data, want in zip(got, sent, strict=True)] == sent


def test_payload_of_a_long_message_is_moved_three_times_without_the_cpu() -> None:
    bench, size = Bench(protocols="rendezvous"), 57_344
    memory = bench.machine.host(1).allocate(size)

    async def takes() -> Any:
        await bench.hosts[1].post(0, MemoryRange(memory.address, size))
        return await bench.hosts[1].receive()

    (_, got) = bench.run(bench.give(0, 1, drawn(3, [size])), takes())
    rows = bench.machine.trace.records
    dma = sum(abs(row[5]) for row in rows if row[2] == TraceEvent.DMA_DONE)
    assert got.data == bytes(memory.view) == drawn(3, [size])[0]
    assert dma == 2 * size and bench.machine.host(1).copied_bytes == bench.machine.host(0).copied_bytes == 0


@pytest.mark.parametrize("protocols", ["rendezvous+reliability", "rendezvous+reliability+flow+multicast"])
@pytest.mark.parametrize("seed", range(3))
def test_requests_grants_and_frames_may_be_lost_with_reliability(protocols: str, seed: int) -> None:
    bench, sent, rng = Bench(protocols=protocols, timeout_us=60), drawn(seed, [4096, 64, 9000] * 4), random.Random(seed)
    for number in range(50):
        if rng.random() < 0.4:
            bench.machine.faults.drop(*rng.choice([(0, 1), (1, 0)]), number)
    memory = bench.machine.host(1).allocate(9000)

    async def takes() -> list[bytes]:
        got = []
        for data in sent:
            if len(data) >= 4096:
                await bench.hosts[1].post(0, MemoryRange(memory.address, len(data)))
            got.append((await bench.hosts[1].receive()).data)
        return got

    assert bench.run(bench.give(0, 1, sent), takes())[1] == sent


def test_a_multicast_waits_for_a_buffer_of_each_node() -> None:
    bench, (data,) = Bench(4, protocols="multicast+rendezvous"), drawn(4, [10_000])

    async def takes(node: int) -> bytes:
        await bench.hosts[node].host.sleep(100_000_000 * node, "other work")
        await bench.hosts[node].post(0, MemoryRange(bench.machine.host(node).allocate(10_000).address, 10_000))
        return (await bench.hosts[node].receive()).data

    _, *got = bench.run(bench.hosts[0].multicast([1, 2, 3], data), *(takes(node) for node in (1, 2, 3)))
    assert got == [data] * 3


def test_message_longer_than_the_posted_buffer_is_rejected_and_the_buffer_stays_posted() -> None:
    bench, (data,) = Bench(protocols="rendezvous"), drawn(5, [4096])

    async def takes() -> bytes:
        await bench.hosts[1].post(0, MemoryRange(bench.machine.host(1).allocate(5000).address, 5000))
        return (await bench.hosts[1].receive()).data

    async def sends() -> None:
        with pytest.raises(
            EposError, match="5001 bytes to node 1: the posted buffer has 5000 bytes; post a larger buffer"
        ):
            await bench.hosts[0].send(1, bytes(5001))
        await bench.hosts[0].send(1, data)

    assert bench.run(sends(), takes())[1] == data


def test_frame_beyond_the_posted_buffer_is_rejected_by_the_nic() -> None:
    """Enlarge the grant in the sender's library."""
    bench = Bench(protocols="rendezvous")
    side = bench.hosts[0].protocols["rendezvous"]
    pieces, untouched = scattered(bench, 1, 8192, 1)

    async def sends() -> None:
        await bench.hosts[1].post(0, pieces)
        side._direct = True
        bench.hosts[0].outgoing.hooks["message"] = ()
        await bench.hosts[0].send(1, bytes(16_384))
        await bench.hosts[0].left()

    bench.run(sends())
    bench.run(bench.machine.host(1).sleep(100_000_000, "its arrival"))
    assert untouched() and bench.word(1, Word.REFUSED) == 2


@pytest.mark.parametrize(
    ("source", "sizes", "said"),
    [
        (1, [4096], r"a buffer for node 1: unknown node; give one of \[0\]"),
        (0, [], r"pieces of \[\] bytes; give multiples of 4096"),
        (0, [100, 4096], r"pieces of \[100, 4096\] bytes; give multiples of 4096"),
        (0, [65_536, 4096], "69632 bytes; give at most 65536"),
    ],
)
def test_each_misuse_of_a_buffer_raises_its_error(source: int, sizes: list[int], said: str) -> None:
    bench = Bench(protocols="rendezvous")
    pieces = [MemoryRange(4096, size) for size in sizes]
    with pytest.raises(EposError, match=said):
        bench.run(bench.hosts[1].post(source, pieces))


def test_only_one_buffer_for_each_node_can_be_posted() -> None:
    bench = Bench(protocols="rendezvous")
    piece = MemoryRange(bench.machine.host(1).allocate(4096).address, 4096)
    bench.run(bench.hosts[1].post(0, piece))
    with pytest.raises(EposError, match="another buffer is posted; receive its message first"):
        bench.run(bench.hosts[1].post(0, piece))
    bench = Bench()
    with pytest.raises(EposError, match="node 0: the composition is the baseline alone; compose rendezvous in"):
        bench.run(bench.hosts[1].post(0, piece))
