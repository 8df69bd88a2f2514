"""LAPI's data and counters: all data arrive at their offset in any order of packets; counters follow the manual.

Strategy: tasks on a board with two routes a pair, on the machine. One route is slow, so that packets overtake each
other and the second packet of a message its first. All bytes are read back from the target's memory.
"""

from __future__ import annotations

import pytest

from firmware.lapi.host import Lapi, Place, Query, Rmw
from firmware.lapi.host.header import MOST
from pymodels.topology import End
from tests.unit.lapi.lapi_bench import Buffers, Tasks, pattern

SECOND_WAY = End("chip1", 7)
"""Link of the second route into the chip of host 1."""
SIZES = (0, 1, 3, 4, 100, MOST - 4, MOST, MOST + 1, 5000, 40_000)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_a_put_stores_its_bytes_and_increments_three_counters(size: int, late: bool) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    if late:
        tasks.machine.faults.delay_into(SECOND_WAY, 50_000_000)
    data = pattern(size)

    async def program(lapi: Lapi) -> None:
        org, tgt, cmpl = (memory.counter(lapi.me, number) for number in range(3))
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], data)
            await lapi.Put(1, size, memory.here[1], memory.out[0], memory.counter(1, 1), org, cmpl)
            await lapi.Waitcntr(org, 1)
            lapi.process.store_bytes(memory.out[0], bytes(size))  # it may be changed now
            assert await lapi.Waitcntr(cmpl, 1) == 0
        else:
            await lapi.Waitcntr(tgt, 1)
            assert lapi.process.load_bytes(memory.here[1], size) == data
        await lapi.Gfence()

    tasks.all(program)
    assert tasks.lapis[0].outgoing.resent == 0


@pytest.mark.parametrize("late", [False, True])
def test_a_get_fetches_bytes_and_increments_a_counter_at_either_end(late: bool) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    if late:
        tasks.machine.faults.delay_into(SECOND_WAY, 50_000_000)
    tasks.lapis[1].process.store_bytes(memory.out[1], pattern(40_000))
    tasks.lapis[0].process.store_bytes(memory.out[0], pattern(40_000, 9))

    async def program(lapi: Lapi) -> None:
        other = 1 - lapi.me
        counters = memory.counter(other, 0), memory.counter(lapi.me, 1)
        for size in SIZES:
            await lapi.Get(other, size, memory.out[other], memory.here[lapi.me], *counters)
            await lapi.Waitcntr(counters[1], 1)
            assert lapi.process.load_bytes(memory.here[lapi.me], size) == pattern(40_000, 9 * lapi.me)[:size]
        await lapi.Waitcntr(memory.counter(lapi.me, 0), len(SIZES))
        await lapi.Gfence()

    tasks.all(program)


@pytest.mark.parametrize("late", [False, True])
def test_a_header_handler_returns_the_destination_and_a_completion_handler_runs_after_the_data(late: bool) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    if late:  # the first packet of every other message comes last
        tasks.machine.faults.delay_into(SECOND_WAY, 50_000_000)
    came: list[tuple[bytes, bytes]] = []

    async def head(source: int, user: bytes, size: int) -> Place:
        slot = user[0]
        return Place(memory.here[1] + 8192 * slot if size else 0, done, (source, user, size, slot))

    async def done(lapi: Lapi, argument: tuple[int, bytes, int, int]) -> None:
        source, user, size, slot = argument
        assert lapi.memory.word(memory.counter(1, 0)) == len(came), "the counter rises behind the completion handler"
        assert source == 0
        came.append((user, lapi.process.load_bytes(memory.here[1] + 8192 * slot, size)))

    handlers = [lapi.handler(head) for lapi in tasks.lapis]
    sizes = (0, 1, 900, 3000, 8000, 100, 2000)
    users = [bytes([slot]) + b"user header " * slot for slot in range(len(sizes))]

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            for slot, size in enumerate(sizes):
                lapi.process.store_bytes(memory.out[0] + 8192 * slot, pattern(size, slot))
                await lapi.Amsend(
                    1,
                    handlers[1],
                    users[slot],
                    len(users[slot]),
                    memory.out[0] + 8192 * slot,
                    size,
                    memory.counter(1, 0),
                    0,
                    memory.counter(0, 1),
                )
            await lapi.Waitcntr(memory.counter(0, 1), len(sizes))
        else:
            await lapi.Waitcntr(memory.counter(1, 0), len(sizes))

    tasks.all(program)
    assert sorted(came) == sorted((users[slot], pattern(size, slot)) for slot, size in enumerate(sizes))


def test_waitcntr_subtracts_only_the_awaited_value() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    counter = memory.counter(0, 0)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Setcntr(counter, 7)
            assert await lapi.Waitcntr(counter, 5) == 2
            assert await lapi.Getcntr(counter) == 2
            assert await lapi.Waitcntr(counter, -3) == 5

    tasks.all(program)


def test_concurrent_rmw_of_eight_tasks_sum_correctly() -> None:
    tasks = Tasks(8)
    memory = Buffers(tasks)
    word = memory.here[3]
    seen: list[int] = []

    async def program(lapi: Lapi) -> None:
        prev, counter = memory.here[lapi.me] + 64, memory.counter(lapi.me, 0)
        for number in range(5):
            await lapi.Rmw(Rmw.FETCH_AND_ADD, 3, word, 10 * lapi.me + number, prev, counter)
            await lapi.Waitcntr(counter, 1)
            seen.append(lapi.memory.word(prev))
        await lapi.Gfence()

    tasks.all(program)
    total = sum(10 * task + number for task in range(8) for number in range(5))
    assert tasks.lapis[3].memory.word(word) == total
    assert len(set(seen)) >= 35, "each has seen a sum of its own, but for zeros that were added"


def test_rmw_applies_its_operation_and_returns_the_old_word() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    word, prev, counter = memory.here[1], memory.here[0], memory.counter(0, 0)
    rows: list[tuple[Rmw, int | tuple[int, int], int]] = [
        (Rmw.SWAP, -5, -5),
        (Rmw.FETCH_AND_ADD, 15, 10),
        (Rmw.FETCH_AND_OR, 5, 15),
        (Rmw.COMPARE_AND_SWAP, (14, 1), 15),
        (Rmw.COMPARE_AND_SWAP, (15, -1), -1),
        (Rmw.COMPARE_AND_SWAP, (-1, 4), 4),
    ]

    async def program(lapi: Lapi) -> None:
        old = 0
        for operation, value, new in rows if lapi.me == 0 else []:
            await lapi.Rmw(operation, 1, word, value, prev, counter)
            await lapi.Waitcntr(counter, 1)
            assert (lapi.memory.word(prev), tasks.lapis[1].memory.word(word)) == (old, new)
            old = new
        await lapi.Gfence()

    tasks.all(program)


def test_all_data_have_arrived_when_gfence_returns_at_any_task() -> None:
    tasks = Tasks(5)
    memory = Buffers(tasks)

    async def program(lapi: Lapi) -> None:
        lapi.process.store_bytes(memory.out[lapi.me], pattern(3000, lapi.me))
        for far in range(5):  # to itself as well
            await lapi.Put(far, 3000, memory.here[far] + 4096 * lapi.me, memory.out[lapi.me])
        await lapi.Gfence()
        for source in range(5):
            assert lapi.process.load_bytes(memory.here[lapi.me] + 4096 * source, 3000) == pattern(3000, source)

    tasks.all(program)


def test_address_init_returns_the_addresses_of_all_tasks() -> None:
    tasks = Tasks(5)

    async def program(lapi: Lapi) -> list[list[int]]:
        return [await lapi.Address_init(100 * lapi.me + turn) for turn in range(2)]

    assert tasks.all(program) == 5 * [[[100 * task + turn for task in range(5)] for turn in range(2)]]


def test_in_interrupt_mode_a_computing_task_serves_requests() -> None:
    tasks = Tasks(interrupt_set=1)
    memory = Buffers(tasks)
    ends: list[int] = []

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Get(1, 3000, memory.out[1], memory.here[0], 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        else:
            await lapi.process.compute(20_000_000)
        ends.append(lapi.me)

    tasks.all(program)
    assert ends == [0, 1]


def test_without_interrupts_a_computing_task_serves_no_requests() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    ends: list[int] = []

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Get(1, 3000, memory.out[1], memory.here[0], 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        else:
            await lapi.process.compute(3_000_000)
            ends.append(1)
            await lapi.Gfence()
        ends.append(0)
        if lapi.me == 0:
            await lapi.Gfence()

    tasks.all(program)
    assert ends[:2] == [1, 0]


def test_the_environment_is_read_and_changed() -> None:
    tasks = Tasks()

    async def program(lapi: Lapi) -> list[int]:
        await lapi.Senv(Query.ACK_PACKETS, 5)
        return [await lapi.Qenv(query) for query in Query]

    assert tasks.all(program)[1] == [1, 2, MOST, (1 << 31) - 1, 1, 1000, 0, 5]
