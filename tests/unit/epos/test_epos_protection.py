"""Protection of EPOS: a process cannot reach rings, queues or memory of another one, whatever it writes.

Strategy: two hosts with two processes each exchange messages in each composition that has protection. Then a process
writes invalid words into its own pages and doorbells, which are all that it can access. The card rejects and counts
them, and messages of the other process arrive complete. A header that is changed after the card's check is sent as
checked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from firmware.epos.host import Epos, EposError, MemoryRange, Message
from firmware.epos.nic.layout import PAGE, Place
from firmware.epos.nic.words import ROUTE, Word, bell
from firmware.epos.options import SETS, Options
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.registers import Block, Pci, Reg
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import LATE_PS, drawn

SIZES = (0, 4, 300, 5000)
GUARDED = ["+".join(one) for one in SETS if "protection" in one]
LONG = 200_000_000


def processes(nodes: int = 2, **options: Any) -> tuple[Bench, list[Epos]]:
    """Return hosts of two processes each, and the processes in the order of their addresses."""
    bench = Bench(nodes, **{"protocols": "protection", "processes": 2, **options})
    found = [one for host in bench.hosts for one in host.processes]
    assert [one.me for one in found] == list(range(2 * nodes))
    return bench, found


async def give(one: Epos, to: int, messages: Sequence[bytes | MemoryRange]) -> None:
    """Send messages."""
    for data in messages:
        await one.send(to, data)


async def take(one: Epos, count: int) -> list[Message]:
    """Receive `count` messages."""
    return [await one.receive() for _ in range(count)]


async def store(one: Epos, address: int, *words: int) -> None:
    """Store words into a process's own pages of the card."""
    begin = one.place.sent - Word.SENT
    assert begin <= address and address + 4 * len(words) <= begin + one.place.stride
    await one.host.pio_write(one.host.nic_base + address, b"".join(word.to_bytes(4, "big") for word in words))


async def ring(one: Epos, word: int, page: int | None = None) -> None:
    """Ring a doorbell of a process, by default on its own page."""
    number = one.me % 2 if page is None else page
    await one.host.pio_write(one.host.nic_base + Pci.DOORBELL + 4096 * number, word.to_bytes(4, "big"))


def settled(bench: Bench, *calls: Any) -> list[Any]:
    """Run calls, and wait until all their effects are over."""
    return bench.run(*calls, bench.machine.host(0).sleep(LONG, "its effect"))


# ---- compositions with protection


@pytest.mark.parametrize("protocols", GUARDED)
def test_each_process_has_its_own_messages(protocols: str) -> None:
    bench, (a, b, c, d) = processes(protocols=protocols, rendezvous_from=1 << 16)
    sent = {(one.me, other.me): drawn(10 * one.me + other.me, SIZES) for one in (a, b) for other in (c, d)}

    async def both(one: Epos) -> None:
        for first, second in zip(sent[one.me, 2], sent[one.me, 3], strict=True):
            await one.send(2, first)
            await one.send(3, second)

    *_, to_c, to_d = bench.run(both(a), both(b), take(c, 2 * len(SIZES)), take(d, 2 * len(SIZES)))
    for me, came in ((2, to_c), (3, to_d)):
        for source in (0, 1):
            assert [message.data for message in came if message.source == source] == sent[source, me]


def test_a_process_is_given_whole_pages_of_its_own() -> None:
    options = Options.from_values({"protocols": "protection", "processes": 4}).on(True)
    begins = [Place(options, 8, process).sent - Word.SENT for process in range(4)]
    stride = Place(options, 8).stride
    assert not stride % PAGE and begins == [begins[0] + stride * process for process in range(4)]
    assert not begins[0] % PAGE and begins[0] >= Place(options, 8).receive + 8 * Place(options, 8).receive_bytes


def test_bytes_in_the_room_of_a_process_are_sent_without_a_copy() -> None:
    bench, (_, b, c, _) = processes()
    data = drawn(1, [5000])[0]
    b.host.store_bytes(b.room.address, data)
    _, (message,) = bench.run(b.send(2, MemoryRange(b.room.address, 5000)), take(c, 1))
    assert (message.source, message.data) == (1, data)


def test_process_that_does_not_read_does_not_block_another() -> None:
    bench, (a, b, c, d) = processes()

    async def late() -> int:
        await b.host.sleep(LONG // 10, "the flood")
        await b.send(2, b"past it")
        assert (await c.receive()).data == b"past it"
        return bench.machine.kernel.now

    *_, came = bench.run(give(a, 3, [bytes(4096)] * 20), late())
    assert came < LATE_PS and bench.word(1, Word.REFUSED) > 0
    assert len(bench.run(take(d, 4))[0]) == 4


def test_rejected_frames_are_retransmitted_with_reliability() -> None:
    bench, (a, _, _, d) = processes(protocols="reliability+protection", timeout_us=60)
    sent = drawn(4, [4096] * 12)

    async def late() -> list[bytes]:
        await d.host.sleep(LATE_PS, "other work")
        return [message.data for message in await take(d, 12)]

    assert bench.run(give(a, 3, sent), late())[1] == sent


# ---- rejected accesses


def test_memory_of_another_process_cannot_be_sent() -> None:
    bench, (a, b, c, _) = processes()
    a.host.store_bytes(a.room.address, b"secret!!" * 64)
    with pytest.raises(EposError, match="not in the memory of the process"):
        bench.run(b.send(2, MemoryRange(a.room.address, 512)))
    place, size = b.place, b.place.header_bytes + 512

    async def forged() -> None:
        await store(b, place.slot(0), 0x06000000, place.identity << 24, 1 << 30 | 1 << 24 | 512, 0)
        await store(b, place.requests + Block.CSUM, 0, 512, 0, 0, a.room.address)
        await ring(b, bell(2, True, 0, size))

    settled(bench, forged())
    assert bench.word(0, Word.REFUSED) == 1 and bench.word(0, place.sent) == 1, "refused, and done with"
    assert bench.word(0, a.place.sent) == 0
    _, (message,) = bench.run(b.send(2, b"after it"), take(c, 1))
    assert (message.source, message.data) == (1, b"after it")


@pytest.mark.parametrize(
    ("which", "word"),
    [
        (0, 0x06010000),
        (0, 0x07000000),
        (1, 0xFF000000),
        (2, 1 << 30 | 0 << 24 | 8),
        (2, 1 << 30 | 1 << 24 | 64),
    ],
)
def test_frame_with_a_forged_header_is_not_sent(which: int, word: int) -> None:
    """Forge one field in each case: node, packet type, composition, process, size."""
    bench, (_, b, c, _) = processes()
    place = b.place

    async def forged() -> None:
        header = [0x06000000, place.identity << 24, 1 << 30 | 1 << 24 | 8, 0]
        header[which] = word
        await store(b, place.slot(0), *header, 1, 2)
        await ring(b, bell(2, False, 0, place.header_bytes + 8))

    settled(bench, forged())
    assert (bench.word(0, Word.REFUSED), bench.word(0, place.sent)) == (1, 1)
    assert bench.run(c.poll()) == [None]


def test_header_changed_after_its_check_leaves_unchanged() -> None:
    bench, (_, b, c, _) = processes()
    nic, original = bench.machine.nic(0), bench.machine.nic(0).write

    def write(register: Any, value: int) -> None:
        original(register, value)
        if register in (Reg.SML, Reg.SMLT):
            nic.store_words(b.place.slot(0) - ROUTE, [0xFFFFFFFF] * (2 + b.place.header))

    nic.write = write  # type: ignore[method-assign]
    _, (message,) = bench.run(b.send(2, b"as it was"), take(c, 1))
    assert (message.source, message.data) == (1, b"as it was")


@pytest.mark.parametrize("page", [2, 5])
def test_doorbell_of_an_unknown_process_is_counted(page: int) -> None:
    bench, (a, *_) = processes()
    settled(bench, ring(a, bell(2, False, 0, a.place.header_bytes), page))
    assert bench.word(0, Word.EMPTY) == 1


def test_a_posted_page_of_another_process_is_not_written() -> None:
    bench, (a, _, c, d) = processes(protocols="rendezvous+protection", rendezvous_from=1024)
    with pytest.raises(EposError, match="not in the memory of the process"):
        bench.run(d.post(0, c.room))
    secret = drawn(6, [4096])[0]
    c.host.store_bytes(c.room.address, secret)

    async def forged() -> None:
        await d.post(0, MemoryRange(d.room.address, 4096))
        await store(d, d.place.peer_address("rendezvous", 0, 3 + d.place.pages) + 12, c.room.address)

    settled(bench, forged(), give(a, 3, [bytes(2000)]))
    assert bench.word(1, Word.REFUSED) == 1
    assert c.host.load_bytes(c.room.address, 4096) == secret


@pytest.mark.parametrize("seed", range(6))
def test_random_words_and_doorbells_of_a_process_do_not_affect_others(seed: int) -> None:
    """Let a process write at random to its own pages and doorbells; exactly the others' messages must arrive, complete
    and in order.
    """
    rng = random.Random(seed)
    bench, (a, b, c, d) = processes(protocols=rng.choice(["protection", "flow+protection", "reliability+protection"]))
    secret = drawn(seed, [4096])[0]
    for one in (a, c):
        one.host.store_bytes(one.room.address, secret)
    begin, place = b.place.sent - Word.SENT, b.place

    async def wild() -> None:
        for _ in range(60):
            at = rng.choice([begin, place.requests, place.slot(rng.randrange(8)) - ROUTE]) + 4 * rng.randrange(12)
            word = rng.choice([rng.getrandbits(32), a.room.address, place.identity << 24, 0x06000000, 1 << 30 | 8])
            await store(b, at, word)
            size = place.header_bytes + rng.choice([0, 8, 300, 4096, -4, 1 << 15])
            slot = rng.choice([rng.randrange(8), rng.randrange(100)])  # those of protocols make NICs talk
            await ring(b, bell(rng.randrange(6), rng.random() < 0.5, slot, size & 0xFFFF))

    sent = drawn(seed + 50, [64, 3000, 4096, 0] * 4)
    *_, came = settled(bench, wild(), give(a, 2, sent), take(c, len(sent)))[:3]
    assert [message.data for message in came if message.source == 0] == sent
    for one in (a, c):
        assert one.host.load_bytes(one.room.address, 4096) == secret
    assert d.place.stride


# ---- invalid compositions


@pytest.mark.parametrize(
    ("given", "nic", "said"),
    [
        ({"processes": 2}, "lanai9", "several processes need the `protection` protocol"),
        ({"protocols": "protection", "processes": 3}, "lanai9", "3 is not a power of two"),
        (
            {"protocols": "protection", "activate": "host"},
            "lanai9",
            "a process that can start a chain can start every chain",
        ),
        ({"protocols": "protection"}, "lanai4", "protection needs doorbells"),
        ({"protocols": "protection", "notify": "word"}, "lanai9", "protection needs doorbells"),
    ],
)
def test_options_without_isolation_of_processes_are_rejected(given: Any, nic: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        check_options("epos", given, 2, 1 << 21, nic_kind(nic).card(1 << 21))


def test_more_processes_than_headers_can_name_are_rejected() -> None:
    with pytest.raises(OptionError, match="16 nodes, 128 processes: headers have room for 64"):
        check_options(
            "epos", {"protocols": "protection", "processes": 8}, 16, 1 << 21, nic_kind("lanai9").card(1 << 21)
        )
