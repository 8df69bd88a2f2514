"""LAPI over unreliable links and routes that reorder: each byte arrives once, and no packet is sent needlessly.

Strategy: tasks on a board with two routes a pair, on the machine. Links lose and damage packets and acknowledgements,
sequence numbers wrap, one route is slow; acknowledgements are counted; one task sends more than HAL keeps buffers for.
"""

from __future__ import annotations

import pytest

from firmware.lapi.host import Lapi, Rmw
from firmware.lapi.host.header import MOST
from firmware.lapi.host.link import WINDOW
from pymodels.topology import End
from tests.unit.lapi.lapi_bench import Buffers, Tasks, pattern


@pytest.mark.parametrize("fenced", [True, False])
def test_a_fence_orders_two_puts_to_one_address_over_a_slow_route(fenced: bool) -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    tasks.machine.faults.delay_into(End("chip1", 6), 200_000_000)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], b"old.new.")
            await lapi.Put(1, 4, memory.here[1], memory.out[0])
            if fenced:
                await lapi.Fence()
            await lapi.Put(1, 4, memory.here[1], memory.out[0] + 4)
        await lapi.Gfence()

    tasks.all(program)
    assert tasks.lapis[1].process.load_bytes(memory.here[1], 4) == (b"new." if fenced else b"old.")


def test_more_packets_than_hal_keeps_buffers_for_all_arrive() -> None:
    tasks = Tasks(4)
    memory = Buffers(tasks)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], pattern(40_000))
            for far in (1, 2, 3):
                await lapi.Put(far, 40_000, memory.here[far], memory.out[0], 0, 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 3)
        else:
            await lapi.Waitcntr(memory.counter(lapi.me, 1), 1)
        if lapi.me == 0:
            assert lapi.outgoing.questions > 0
            for far in (1, 2, 3):
                await lapi.Put(far, 0, 0, memory.out[0], memory.counter(far, 1))
        await lapi.Gfence()

    tasks.all(program)
    assert all(lapi.process.load_bytes(memory.here[lapi.me], 40_000) == pattern(40_000) for lapi in tasks.lapis[1:])
    assert tasks.lapis[0].outgoing.resent == 0


@pytest.mark.parametrize("begin", [0, (1 << 32) - 7])
def test_faulty_links_cost_only_retransmissions(begin: int) -> None:
    tasks = Tasks(begin=begin)
    memory = Buffers(tasks)
    faults = tasks.machine.faults
    for number in (0, 3, 4, 11, 30, 31, 38):
        faults.drop(0, 1, faults.passed(0, 1) + number)
    for number in (0, 1):
        faults.drop(1, 0, faults.passed(1, 0) + number)
    faults.corrupt(0, 1, faults.passed(0, 1) + 8, 60)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            lapi.process.store_bytes(memory.out[0], pattern(40_000))
            for at in range(0, 40_000, 10_000):
                await lapi.Put(1, 10_000, memory.here[1] + at, memory.out[0] + at, memory.counter(1, 0))
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 4)
            assert await lapi.Getcntr(memory.counter(1, 0)) == 0
        await lapi.Gfence()
        await lapi.Term()

    tasks.all(program)
    assert tasks.lapis[1].process.load_bytes(memory.here[1], 40_000) == pattern(40_000)
    assert tasks.lapis[0].outgoing.resent == 8


def test_a_stream_always_has_packets_in_transit() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    outgoing = tasks.lapis[0].outgoing
    sending, left = outgoing.peers[1].sending, list[int]()
    acknowledged = sending.acknowledged

    def counted(expected: int, beyond: int) -> list[int]:
        done = acknowledged(expected, beyond)
        if outgoing.peers[1].messages:
            left.append(len(sending.kept))
        return done

    sending.acknowledged = counted  # type: ignore[method-assign]

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Put(1, 64 * MOST, memory.here[1], memory.out[0], 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 1)
        await lapi.Gfence()

    tasks.all(program)
    assert left and min(left) >= WINDOW // 4


@pytest.mark.parametrize("packets", [1, 10, 30])
def test_one_acknowledgement_covers_the_configured_number_of_packets(packets: int) -> None:
    tasks = Tasks(ack_packets=packets)
    memory = Buffers(tasks)
    begun = tasks.bench.hals[1].sent

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Put(1, 60 * MOST, memory.here[1], memory.out[0], memory.counter(1, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 0)
        else:
            await lapi.Waitcntr(memory.counter(1, 0), 1)
            asked = tasks.bench.hals[1].sent - begun - 60 // packets
            assert 0 <= asked <= 1, "once more where half of the window is out before so many have come"
        await lapi.Gfence()

    tasks.all(program)


def test_duplicate_packets_are_processed_once() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)
    tasks.machine.faults.delay_into(End("chip1", 7), 2_500_000_000)  # every other one is sent again meanwhile

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            for _ in range(4):
                await lapi.Rmw(Rmw.FETCH_AND_ADD, 1, memory.here[1], 1, 0, memory.counter(0, 0))
            await lapi.Waitcntr(memory.counter(0, 0), 4)
        else:
            await lapi.hal.wait(lambda: False, lapi.host.now + 4_000_000_000)
        await lapi.Gfence()

    tasks.all(program)
    assert tasks.lapis[0].outgoing.resent >= 2
    assert tasks.lapis[1].memory.word(memory.here[1]) == 4 and tasks.lapis[0].memory.word(memory.counter(0, 0)) == 0


def test_requests_to_a_silent_task_back_off() -> None:
    tasks = Tasks()
    memory = Buffers(tasks)

    async def program(lapi: Lapi) -> None:
        if lapi.me == 0:
            await lapi.Put(1, 8, memory.here[1], memory.out[0])
            before = lapi.outgoing.questions
            await lapi.Fence()
            assert 4 <= lapi.outgoing.questions - before <= 9
        else:
            await lapi.host.sleep(70_000_000_000)
        await lapi.Gfence()

    tasks.all(program)


def test_a_reply_lost_while_its_sender_computes_is_retransmitted() -> None:
    tasks = Tasks(interrupt_set=1, timeout_us=100)
    one, other = tasks.lapis
    room, data = one.process.allocate(4096), other.process.allocate(4096)
    other.process.store_bytes(data, pattern(1000))

    async def get() -> None:
        await one.Get(1, 1000, data, room, org_cntr=room + 4000)
        await one.Waitcntr(room + 4000, 1)

    tasks.machine.faults.drop(1, 0, tasks.machine.faults.passed(1, 0))
    tasks.run(get())
    assert one.process.load_bytes(room, 1000) == pattern(1000)
    assert other.outgoing.resent
