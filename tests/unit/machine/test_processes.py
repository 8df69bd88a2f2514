"""Processes: access rights, frames of their pages, and scheduling of their threads.

Strategy: processes of one host of the pure-Python machine load, store, poll and ring doorbells like a library, and each
error text is compared. Physical memory is compared byte by byte with the stores through page tables, at addresses and
sizes drawn by hypothesis. Threads record the times of their execution; costs are constant, so that times are sums of
known durations.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodels.host import PAGE, Moves, Process, ProtectionFault
from pymodels.host.scheduler import QUANTUM_PS
from pymodels.machine import Machine, ModelHost, Timing

COST = 100_000
"""Cost of every path, in ps."""
SWITCH = Timing().context_switch


def host_with(seed: int = 1, size: int = 64 << 20) -> ModelHost:
    return Machine(2, seed=seed, host_bytes=size).host(0)


def rejected(process: Process, *, what: str, address: int) -> AbstractContextManager[Any]:
    return pytest.raises(ProtectionFault, match=f"^{process.who}: protection fault: {what} at {address:#x}: ")


@settings(max_examples=40)
@given(start=st.integers(0, 3 * PAGE - 1), size=st.integers(1, 3 * PAGE), fill=st.integers(1, 255))
def test_stores_land_in_the_frames_of_their_pages_and_nowhere_else(start: int, size: int, fill: int) -> None:
    host = host_with(size=1 << 20)
    mine, other = host.process(), host.process()
    va, there = mine.allocate(6 * PAGE), other.allocate(6 * PAGE)
    data = bytes((fill + i) % 251 + 1 for i in range(size))
    mine.store_bytes(va + start, data)
    assert mine.load_bytes(va + start, size) == data
    pieces = mine.pieces(va + start, size)
    assert b"".join(host.load_bytes(at, part) for at, part in pieces) == data
    assert host.memory.data[:].count(data[:1]) == data.count(data[:1])
    assert other.load_bytes(there, 6 * PAGE) == bytes(6 * PAGE)


def test_frames_are_scattered_by_seed_and_the_same_for_the_same_seed() -> None:
    frames = [tuple(host_with(seed).process().host.frames.take(64)) for seed in (1, 1, 2)]
    assert frames[0] == frames[1] != frames[2]
    assert len(set(frames[0])) == 64 and all(frame % PAGE == 0 for frame in frames[0])
    assert sum(b == a + PAGE for a, b in zip(frames[0], frames[0][1:], strict=False)) < 8


def test_the_same_virtual_address_is_other_memory_in_another_process() -> None:
    host = host_with()
    a, b = host.process("a"), host.process("b")
    va = a.allocate(PAGE)
    assert b.allocate(PAGE) == va
    a.store_words(va, (1, 2))
    assert b.load_words(va, 2) == (0, 0) and a.load_words(va, 2) == (1, 2)


def test_an_unmapped_access_is_rejected_before_any_byte_is_written() -> None:
    process = host_with().process("app")
    va = process.allocate(2 * PAGE)
    end = va + 2 * PAGE
    with rejected(process, what="store of 12 bytes", address=end):
        process.store_bytes(end - 8, b"abcdefghijkl")
    assert process.load_words(end - 8, 2) == (0, 0)
    with rejected(process, what="load of 4 bytes", address=0):
        process.load_words(0, 1)
    with rejected(process, what="translation", address=end):
        process.pieces(va, 2 * PAGE + 1)


def test_a_process_reaches_only_the_pages_of_the_nic_that_are_mapped_for_it() -> None:
    machine = Machine(2)
    a, b = machine.host(0).process("a"), machine.host(0).process("b")
    bell, status = a.map_nic(3), a.map_nic(4, writable=False)
    machine.finish(a.pio_write(bell + 8, b"\0\0\0\7"))
    machine.run()
    assert machine.nic(0).load(3 * PAGE + 8) == 7
    assert machine.finish(a.pio_read(bell + 8)) == [7]
    with rejected(b, what="PIO store of 4 bytes", address=bell):
        machine.finish(b.pio_write(bell, bytes(4)))
    with rejected(a, what="PIO store of 8 bytes", address=bell + PAGE):
        machine.finish(a.pio_write(bell + PAGE - 4, bytes(8)))
    with pytest.raises(ProtectionFault, match="the page is read-only"):
        machine.finish(a.pio_write(status, bytes(4)))
    with pytest.raises(ProtectionFault, match="a device, not memory"):
        a.load_words(bell, 1)
    a.unmap(bell)
    with rejected(a, what="PIO load", address=bell):
        machine.finish(a.pio_read(bell))


def test_pinned_pages_keep_their_frames_until_the_last_unpin() -> None:
    process = host_with().process()
    va = process.allocate(3 * PAGE)
    frames = process.pin(va + 100, 2 * PAGE)
    assert frames == [process.pieces(va + PAGE * i, 1)[0][0] for i in range(3)]
    assert process.pin(va, PAGE) == frames[:1]
    process.unpin(va + 100, 2 * PAGE)
    with pytest.raises(ProtectionFault, match="the page is pinned"):
        process.free(va, PAGE)
    process.unpin(va, PAGE)
    process.free(va, 3 * PAGE)
    with pytest.raises(ProtectionFault):
        process.pin(va, 1)


def test_freed_frames_are_reused_and_zeroed() -> None:
    host = host_with(size=2 << 20)
    first, second = host.process(), host.process()
    va = first.allocate(400 * PAGE)
    first.store_bytes(va, b"secret" * 1000)
    with pytest.raises(MemoryError):
        second.allocate(400 * PAGE)
    first.free(va, 400 * PAGE)
    there = second.allocate(400 * PAGE)
    assert second.load_bytes(there, 400 * PAGE) == bytes(400 * PAGE)


def test_half_a_gigabyte_is_mapped_and_only_touched_pages_use_memory() -> None:
    process = host_with(size=512 << 20).process()
    va = process.allocate(256 << 20)
    for at in (va, va + (128 << 20) - 2, va + (256 << 20) - 4):
        process.store_bytes(at, b"\1\2\3\4")
    assert process.load_bytes(va + (128 << 20) - 2, 4) == b"\1\2\3\4"
    assert len(process.pin(va, 256 << 20)) == 65536


def test_thread_keeps_the_cpu_until_it_waits_and_the_next_is_charged_the_switch() -> None:
    machine = Machine(1)
    host = machine.host(0)
    a, b = host.process("a"), host.process("b")
    seen: list[tuple[str, int]] = []

    async def compute(process: Process, times: int) -> None:
        for _ in range(times):
            await process.spend("work")
            seen.append((process.name, machine.kernel.now - 1))

    machine.finish(compute(a, 3), compute(b, 2))
    assert seen[:3] == [("a", COST), ("a", 2 * COST), ("a", 3 * COST)]
    assert seen[3:] == [("b", 4 * COST + SWITCH), ("b", 5 * COST + SWITCH)]
    assert host.scheduler.switches == 1


def test_a_computing_thread_yields_at_the_end_of_its_quantum() -> None:
    machine = Machine(1)
    host = machine.host(0)
    a, b = host.process("a"), host.process("b")
    long = QUANTUM_PS // COST
    order: list[str] = []

    async def compute(process: Process) -> None:
        for _ in range(3):
            await process.spend("work", long)
            order.append(process.name)

    machine.finish(compute(a), compute(b))
    assert order == ["a", "b"] * 3 and host.scheduler.switches == 5


def test_a_polling_thread_yields_and_notices_the_word_when_it_runs_again() -> None:
    machine = Machine(1)
    host = machine.host(0)
    a, b = host.process("a"), host.process("b")
    va = a.allocate(PAGE)
    times: dict[str, int] = {}

    async def poll() -> None:
        assert await a.poll([(va, 0)], "look") == 0
        times["a"] = machine.kernel.now

    async def compute() -> None:
        await b.spend("work", 10)
        a.store_words(va, (1,))
        await b.spend("work", 10)
        times["b"] = machine.kernel.now

    machine.finish(poll(), compute())
    assert times["b"] - 1 == SWITCH + 20 * COST
    assert times["b"] + SWITCH <= times["a"] <= times["b"] + SWITCH + 2 * COST


@pytest.mark.parametrize("busy", [0, 10])
def test_a_polling_thread_continues_when_another_thread_moves_the_word(busy: int) -> None:
    """Move the word while the thread spins, or before it begins because the CPU is busy."""
    machine = Machine(1)
    host = machine.host(0)
    process = host.process()
    va, moves = process.allocate(PAGE), Moves()
    ended = 0

    async def poll() -> None:
        nonlocal ended
        await process.poll([(va, 0)], "look", moves)
        ended = machine.kernel.now

    async def move() -> None:
        await process.spend("work", busy or 1)
        if not busy:
            await host.sleep(20 * COST)
        moves.moved()

    machine.finish(move(), poll())
    assert ended


def test_blocked_thread_uses_no_cpu_and_resumes_with_a_context_switch() -> None:
    machine = Machine(1)
    host = machine.host(0)
    process = host.process()
    signal = host.event("the end")
    woken = 0

    async def waits() -> None:
        nonlocal woken
        await process.spend("work")
        await process.block(signal)
        woken = machine.kernel.now

    async def wakes() -> None:
        await host.sleep(50 * COST)
        signal.set()

    machine.finish(waits(), wakes())
    assert woken - 1 == 50 * COST + SWITCH
    assert host.cpu_ps == COST + SWITCH


def test_polling_counts_as_use_of_the_cpu() -> None:
    machine = Machine(1)
    host = machine.host(0)
    process = host.process()
    va = process.allocate(PAGE)

    async def store() -> None:
        await host.sleep(30 * COST)
        process.store_words(va, (1,))

    machine.finish(process.poll([(va, 0)], "look"), store())
    assert host.cpu_ps == machine.kernel.now - 1
