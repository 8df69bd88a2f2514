"""Delivery of messages.

Strategy: two hosts on the machine with one connection. Messages of many lengths, cut into segments at odd places, must
arrive byte by byte, in order, with the statuses of the specification. Random traffic is compared with a queue of the
sent messages. Bits flipped in the NIC's memory must arrive flipped, because the bytes pass through the hardware.
"""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from firmware.via.formats import Status
from firmware.via.host import Descriptor
from pymodels.costs.table import PathTable
from pymodels.machine import Machine
from tb.studies.via._via import User
from tests.unit.via.via_bench import Pair, pair, pattern

DONE = Status.DONE
RECEIVED = Status.DONE | Status.RECEIVE
SIZES = (0, 1, 4, 8, 9, 16, 1000, 1024, 1025, 4095, 4096, 5000, 65536)


async def one_way(p: Pair, size: int, at: int = 0, to: int = 0, immediate: int | None = None) -> Descriptor:
    """Send one message by polling, and return the receive descriptor."""
    data = pattern(size, at)
    p.here.write(at, data)
    p.there.write(to, bytes(size + 1))
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(to, size)] if size else []))
    await p.mine.post_send(p.here.descriptor(0).send([p.here.part(at, size)] if size else [], immediate))
    received = await p.yours.poll_receive()
    sent = await p.mine.poll_send()
    assert (sent.status, sent.length) == (DONE, size)
    assert (received.status & ~Status.IMMEDIATE, received.length) == (RECEIVED, size)
    assert p.there.read(to, size + 1) == data + b"\0"
    return received


def test_messages_of_every_length_arrive_at_any_address() -> None:
    p = pair()

    async def all_of_them() -> None:
        for size in SIZES:
            for at, to in ((0, 0), (4093, 1), (17, 4091)):
                await one_way(p, size, at, to)

    p.machine.finish(all_of_them())
    assert p.machine.network.in_flight() == 0


@pytest.mark.parametrize("payload", [64, 1000, 1024, 2032])
def test_a_packet_neither_crosses_a_page_nor_exceeds_the_option(payload: int) -> None:
    """Send 5000 bytes: six packets of 1000, five of 1024 (paper 001, 3.3.3)."""
    p = pair(packet=payload)
    before = p.machine.nic(0).send.packets
    p.machine.finish(one_way(p, 5000))
    assert p.machine.nic(0).send.packets - before == -(-4096 // payload) + -(-904 // payload)


def test_immediate_data_arrive_with_and_without_a_message() -> None:
    p = pair()

    def check(size: int) -> None:
        received = p.machine.finish(one_way(p, size, immediate=0xDEAD0000 + size))[0]
        assert received.immediate == 0xDEAD0000 + size

    for size in (0, 3, 5000):
        check(size)
    assert p.machine.finish(one_way(p, 4))[0].immediate is None


def cut(user: User, size: int, rng: random.Random, at: int = 0) -> list[tuple[int, int, int]]:
    """Return segments of `size` bytes from `at` on, cut at random places."""
    places = sorted({0, size, *(rng.randrange(size + 1) for _ in range(rng.randrange(6)))})
    return [user.part(at + begin, end - begin) for begin, end in pairwise(places)]


def test_random_messages_in_random_segments_arrive_in_order() -> None:
    p = pair()
    rng = random.Random(5)
    sizes = [rng.choice((0, 3, 8, 9, 700, 3000, 9000)) for _ in range(60)]
    received: list[bytes] = []

    async def send() -> None:
        for number, size in enumerate(sizes):
            while len(p.mine.sends) >= 8:
                await p.mine.poll_send()
            slot = number % 8
            p.here.write(9000 * slot, pattern(size, number))
            segments = cut(p.here, size, rng, 9000 * slot)
            await p.mine.post_send(p.here.descriptor(slot, 8).send(segments))
        while len(p.mine.sends):
            assert (await p.mine.poll_send()).status == DONE

    async def receive() -> None:
        def place(slot: int) -> Descriptor:
            return p.there.descriptor(slot, 8).receive(cut(p.there, 9000, rng, 9000 * slot))

        for slot in range(8):
            await p.yours.post_receive(place(slot))
        for number in range(len(sizes)):
            done = await p.yours.poll_receive()
            assert done.status == RECEIVED
            received.append(p.there.read(9000 * (number % 8), done.length))
            await p.yours.post_receive(place(number % 8))

    ready = p.machine.host(1).spawn(receive(), "receiver")
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    p.machine.finish(send(), ready)
    assert received == [pattern(size, number) for number, size in enumerate(sizes)]


def test_any_number_of_segments_can_be_sent_and_received() -> None:
    """Use more entries than a queue cache has words, so that the list follows in parts."""
    p = pair(receive_words=64, send_words=64)
    data = pattern(300)
    p.here.write(0, data)

    async def run() -> Descriptor:
        single = [(300, p.there), (300, p.here)]
        (yours, mine) = ([user.part(2 * i, 1) for i in range(count)] for count, user in single)
        await p.yours.post_receive(p.there.descriptor(0, 300).receive(yours))
        await p.mine.post_send(p.here.descriptor(0, 300).send(mine))
        await p.mine.poll_send()
        return await p.yours.poll_receive()

    p.here.write(0, bytes(one for byte in data for one in (byte, 0)))
    (done,) = p.machine.finish(run())
    assert (done.status, done.length) == (RECEIVED, 300)
    assert p.there.read(0, 600)[::2] == data


def test_a_bit_flipped_in_the_nic_arrives_flipped() -> None:
    """E1: the delivered payload is the one in the NIC's memory."""
    p = pair()
    data = pattern(1024)
    p.here.write(0, data)

    async def run() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 1024)]))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 1024)]))

    p.machine.finish(run())
    sram = p.machine.nic(0).sram.data
    while (at := sram.find(data[100:200])) < 0:
        p.machine.run(p.machine.kernel.now / 1e6 + 0.05)
    sram[at + 50] ^= 0x40
    p.machine.finish(p.yours.poll_receive())
    expected = bytearray(data)
    expected[150] ^= 0x40
    assert p.there.read(0, 1024) == bytes(expected)


def test_every_path_has_a_compiled_cost() -> None:
    tables = {"nic": PathTable.of_nic("via"), "host": PathTable.load("host", "via")}
    machine = Machine(2, cost=lambda side, path: 7_500 * tables[side].cost(path).instructions)
    p = pair(machine)
    machine.finish(one_way(p, 5000))


def test_messages_arrive_on_a_nic_that_moves_whole_words() -> None:
    p = pair(Machine(2, nic="lanai4"))

    async def run() -> Status:
        for size in (0, 4, 8, 64, 5000):
            await one_way(p, size, 8, 4092)
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(2, 64)]))
        return (await p.mine.poll_send()).status

    assert p.machine.finish(run()) == [Status.DONE | Status.FORMAT_ERROR]
