"""Remote memory of an FPGA card: windows of its banks, translated and checked by the NI.

Strategy: the machine has no card, so its window on the bus is memory. Every operation moves known bytes between a host
and a window, with sizes that cross segments; all other bytes of the banks stay unchanged. Accesses that begin before a
window, end behind it, or cross its edge with any segment must fail at the caller without a write. A window is closed
during a transfer, and between two.
"""

from __future__ import annotations

import random

import pytest

from firmware.grim.formats import Device, Reference
from firmware.grim.host import GrimError
from firmware.grim.nic.cards import CARD
from firmware.grim.nic.layout import Counter
from pymodels.card.registers import BANK_BYTES, BANKS, REGISTERS
from tests.unit.grim.grim_card_bench import FAR, FILLED, CardBench

BEGIN, SIZE = 3 * BANK_BYTES + 0x1000, 20_000
"""Offset and bytes of the window that most tests open."""
LOCK = BEGIN + SIZE - 4
ELSEWHERE = "is in no open window of the card of VNN 1; give an offset within a window that the card's driver has"
BEYOND = "exceeds its window on the card of VNN 1; give a size that ends within the window"


def word(card: CardBench, offset: int) -> int:
    """Return a word of the card's banks."""
    return int.from_bytes(card.window.banks[offset : offset + 4], "big")


@pytest.mark.parametrize("physical", [False, True])
@pytest.mark.parametrize(("at", "size"), [(0, 1), (4, 4095), (0, 4096), (12, 9001), (0, SIZE - 4)])
def test_write_changes_its_target_in_the_window_and_then_the_lock(physical: bool, at: int, size: int) -> None:
    card = CardBench()
    data = random.Random(size).randbytes(size)

    async def application() -> None:
        address = await card.driver.open_window(BEGIN, SIZE)
        assert address == CARD + BEGIN
        source = await card.source(data)
        send = card.near.send_physical_memory if physical else card.near.send_memory
        await send(FAR, (address if physical else BEGIN) + at, source, size, lock=LOCK, value=0xC0FFEE)

    card.run(application)
    banks = card.window.banks
    assert banks[BEGIN + at : BEGIN + at + size] == data
    assert word(card, LOCK) == 0xC0FFEE
    assert card.window.order[-1] == (LOCK, 4), "the lock is the last write"
    rest = FILLED * REGISTERS
    untouched = (0, BEGIN + at), (BEGIN + at + size, LOCK), (LOCK + 4, REGISTERS)
    assert all(banks[begin:end] == rest[begin:end] for begin, end in untouched)
    assert card.bench.count(1, Counter.REMOTE_WRITES) == -(-size // 4096)


@pytest.mark.parametrize(("at", "size"), [(0, 2), (8, 4096), (4, 13_001), (0, SIZE)])
def test_read_brings_the_banks_bytes_and_then_clears_the_readers_lock(at: int, size: int) -> None:
    card = CardBench()
    data = random.Random(size).randbytes(SIZE)

    async def application() -> bytes:
        near = card.near
        await card.driver.open_window(BEGIN, SIZE)
        card.window.banks[BEGIN : BEGIN + SIZE] = data
        target, lock = await card.source(b"\x11" * (size + 8)), await card.source(b"\x11" * 4)
        await near.fetch_memory(FAR, target, BEGIN + at, size, lock=lock)
        await near.wait_for_lock(lock, 0)
        return near.load_pinned(target, size + 8)

    assert card.run(application) == data[at : at + size] + b"\x11" * 8
    assert not card.touched()


EDGES = [
    (BEGIN - 4, 4, ELSEWHERE),
    (BEGIN - 4, 8, ELSEWHERE),
    (BEGIN - 4096, 8192, ELSEWHERE),
    (BEGIN + SIZE, 4, ELSEWHERE),
    (BEGIN + SIZE - 4, 5, BEYOND),
    (BEGIN, SIZE + 1, BEYOND),
    (BEGIN + SIZE - 4096, 4097, BEYOND),
    (BEGIN + 8192, SIZE, BEYOND),
    (4, 64, ELSEWHERE),
    (BANKS * BANK_BYTES - 4, 4, ELSEWHERE),
]


@pytest.mark.parametrize("kind", ["write", "physical", "read"])
@pytest.mark.parametrize(("at", "size", "told"), EDGES)
def test_access_outside_of_the_window_fails_at_the_caller_without_a_write(
    kind: str, at: int, size: int, told: str
) -> None:
    card = CardBench()

    async def application() -> str:
        near = card.near
        await card.driver.open_window(BEGIN, SIZE)
        source = await card.source(b"\xee" * (size + 64))
        calls = {
            "write": lambda: near.send_memory(FAR, at, source, size),
            "physical": lambda: near.send_physical_memory(FAR, CARD + at, source, size),
            "read": lambda: near.fetch_memory(FAR, source, at, size),
        }
        error = await card.error_of(calls[kind]())
        assert near.load_pinned(source, size) == b"\xee" * size
        await near.send_memory(FAR, BEGIN, source, 4)  # the queue continues
        return error

    error = card.run(application)
    assert told in error and hex(CARD * (kind == "physical") + at) in error
    assert card.window.order == [(BEGIN, 4)]


@pytest.mark.parametrize("address", [CARD - 4, CARD + BANKS * BANK_BYTES, 0x1000])
def test_physical_write_to_a_card_names_an_address_of_its_banks(address: int) -> None:
    card = CardBench()

    async def application() -> str:
        await card.driver.open_window(BEGIN, SIZE)
        return await card.error_of(card.near.send_physical_memory(FAR, address, await card.source(bytes(8)), 8))

    assert f"address: {address:#x} {ELSEWHERE}" in card.run(application)
    assert not card.touched()


@pytest.mark.parametrize("lock", [BEGIN - 4, BEGIN + SIZE, 8])
def test_lock_outside_of_the_window_fails_before_a_byte_is_written(lock: int) -> None:
    card = CardBench()

    async def application() -> str:
        await card.driver.open_window(BEGIN, SIZE)
        source = await card.source(bytes(9000))
        return await card.error_of(card.near.send_memory(FAR, BEGIN, source, 9000, lock=lock, value=1))

    assert "lock: the card of VNN 1 has no open window at the lock of the transfer at" in card.run(application)
    assert not card.touched()


def test_transfer_across_two_adjacent_windows_fails_and_each_takes_its_own() -> None:
    card = CardBench()

    async def application() -> str:
        await card.driver.open_window(BEGIN, 4096)
        await card.driver.open_window(BEGIN + 4096, 4096)
        source = await card.source(b"\x01" * 8192)
        error = await card.error_of(card.near.send_memory(FAR, BEGIN + 4000, source, 100))
        assert not card.touched()
        await card.near.send_memory(FAR, BEGIN, source, 4096, lock=BEGIN + 8188, value=7)
        await card.near.send_memory(FAR, BEGIN + 4096, source, 4000)
        return error

    assert BEYOND in card.run(application)
    assert card.window.banks[BEGIN : BEGIN + 8096] == b"\x01" * 8096
    assert word(card, BEGIN + 8188) == 7


@pytest.mark.parametrize("wait_us", range(20, 112, 6))
def test_window_closed_during_a_transfer_is_not_written_afterwards(wait_us: int) -> None:
    card = CardBench()
    size = 16_384
    closed: list[int] = []

    async def application() -> str:
        await card.driver.open_window(BEGIN, SIZE)
        source = await card.source(b"\xee" * size)

        async def close() -> None:
            await card.far.host.sleep(wait_us * 1_000_000)
            await card.driver.close_window(BEGIN)
            closed.append(len(card.window.order))

        closing = card.bench.machine.kernel.spawn(close(), "closing")
        await card.near.send_memory(FAR, BEGIN, source, size, lock=LOCK, value=1)
        await card.near.host.sleep(400_000_000)
        await closing.finished
        try:
            await card.near.poll()
            await card.near.poll()
        except GrimError as error:
            return str(error)
        return ""

    error = card.run(application)
    written = sum(size for _, size in card.window.order)
    assert len(card.window.order) == closed[0], "no write after the driver's close has returned"
    assert bool(error) == (written < size + 4), f"{written} bytes and {error!r}"
    assert not error or ELSEWHERE in error
    assert (word(card, LOCK) == 1) == (not error), "the lock is set only by a whole transfer"


def test_closed_window_can_be_opened_elsewhere() -> None:
    card = CardBench()

    async def application() -> str:
        for _ in range(5):
            await card.driver.open_window(BEGIN, SIZE)
            await card.driver.close_window(BEGIN)
        await card.driver.open_window(BEGIN + 0x10000, SIZE)
        source = await card.source(b"\x02" * 64)
        error = await card.error_of(card.near.send_memory(FAR, BEGIN, source, 64))
        await card.near.send_memory(FAR, BEGIN + 0x10000, source, 64)
        return error

    assert ELSEWHERE in card.run(application)
    assert card.window.order == [(BEGIN + 0x10000, 64)]


def test_message_overtakes_no_write_and_writes_stay_in_order() -> None:
    card = CardBench()

    async def application() -> None:
        near = card.near
        await card.driver.open_window(BEGIN, SIZE)
        for number in range(20):
            source = await card.source(bytes([number]) * 5000)
            await near.send_memory(FAR, BEGIN, source, 5000)

    card.run(application)
    assert [at for at, _ in card.window.order].count(BEGIN) == 20
    assert card.window.banks[BEGIN : BEGIN + 5000] == bytes([19]) * 5000


WRONG = [
    ((BEGIN + 2, 8), "offset: 0x601002 is not a multiple of 4"),
    ((-4, 8), "offset: -0x4 is not a multiple of 4 in the card's 0x800000 bytes"),
    ((BANKS * BANK_BYTES, 8), "offset: 0x800000 is not"),
    ((BEGIN, 0), "number of bytes: 0 from offset 0x601000; give 1 to 2093056"),
    ((BEGIN, 2 << 20), "number of bytes: 2097152 from offset 0x601000"),
    ((0x1000, 64), "overlap the incoming queue of bank 0, 0x0 .. 0x200000"),
    ((BANK_BYTES - 4, 64), "overlap the incoming queue of bank 0"),
    ((2 * BANK_BYTES + 0x7FFFC, 8), "overlap the results of circuits, 0x400000 .. 0x480000"),
    ((BEGIN + 64, 64), "overlap an open window, 0x601000 .. 0x601040"),
]


@pytest.mark.parametrize(("given", "told"), WRONG[:-1])
def test_invalid_window_is_rejected_by_its_driver(given: tuple[int, int], told: str) -> None:
    card = CardBench()

    async def application() -> None:
        with pytest.raises(GrimError, match=told.replace("(", r"\(")):
            await card.driver.open_window(*given)

    card.run(application)


def test_overlapping_fifth_and_unknown_windows_are_rejected() -> None:
    card = CardBench()

    async def application() -> None:
        for number in range(4):
            await card.driver.open_window(BEGIN + 0x1000 * number, 0x1000)
        with pytest.raises(GrimError, match="overlap an open window, 0x602000 .. 0x603000"):
            await card.driver.open_window(BEGIN + 0x1FFC, 4)
        with pytest.raises(GrimError, match="^offset: 4 windows are open; close one of them first"):
            await card.driver.open_window(BEGIN + 0x8000, 4)
        with pytest.raises(GrimError, match="^offset: no open window begins at 0x601004; open windows begin at: 0x601"):
            await card.driver.close_window(BEGIN + 4)

    card.run(application)


def test_queue_of_a_smaller_ring_leaves_the_rest_of_its_bank_to_windows() -> None:
    card = CardBench(card_queue_bytes=1 << 17)

    async def application() -> None:
        with pytest.raises(GrimError, match="overlap the incoming queue of bank 1, 0x200000 .. 0x220000"):
            await card.driver.open_window(BANK_BYTES + (1 << 17) - 4, 8)
        await card.driver.open_window(BANK_BYTES + (1 << 17), 64)
        await card.near.send_memory(FAR, BANK_BYTES + (1 << 17), await card.source(b"\x07" * 64), 64)

    card.run(application)
    assert card.window.order == [(BANK_BYTES + (1 << 17), 64)]


def test_offset_behind_the_banks_is_rejected_at_once() -> None:
    card = CardBench()

    async def application() -> None:
        source = await card.source(bytes(64))
        with pytest.raises(GrimError, match="^number of bytes: 64 from target 0x7fffe0 exceeds the card's banks"):
            await card.near.send_memory(FAR, BANKS * BANK_BYTES - 32, source, 64)
        with pytest.raises(GrimError, match="^number of bytes: 8 from source 0x800000 exceeds the card's banks"):
            await card.near.fetch_memory(FAR, source, BANKS * BANK_BYTES, 8)

    card.run(application)


def test_window_is_opened_only_after_enable() -> None:
    card = CardBench()
    for call in (card.driver.open_window(BEGIN, 4), card.driver.close_window(BEGIN)):
        with pytest.raises(GrimError, match="^grim_enable: has not completed"):
            card.bench.machine.finish(call)


def test_card_without_windows_rejects_every_access() -> None:
    card = CardBench()

    async def application() -> str:
        return await card.error_of(card.near.send_memory(FAR, BEGIN, await card.source(bytes(4)), 4))

    assert ELSEWHERE in card.run(application)


def test_host_of_the_card_keeps_its_own_remote_memory() -> None:
    card = CardBench()

    async def application() -> bytes:
        near, far = card.near, card.far
        target = await far.malloc_pinned(64)
        await card.driver.open_window(BEGIN, SIZE)
        host = Reference(1, Device.HOST, 0).pack()
        await near.send_memory(host, target, await card.source(b"\x09" * 64), 64)
        error = await card.error_of(near.send_memory(host, BEGIN, await card.source(bytes(64)), 64))
        assert error.startswith(f"address: {BEGIN:#x} is not in pinned memory of VNN 1")
        return far.load_pinned(target, 64)

    assert card.run(application) == b"\x09" * 64
    assert not card.touched()
