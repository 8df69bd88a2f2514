"""Host of the machine.

Strategy: a host's verbs are used as by a driver, and the card's SRAM shows what arrived, and when. Two tasks compete
for the CPU. Waits are tested by what ends them: DMA, another task, a pause. Error texts are compared.
"""

from __future__ import annotations

import pytest

from pymodels.machine import Machine, MachineError, Timing
from pymodels.registers import Reg
from pymodels.trace import TraceEvent

BASE = 0xE0000000


def test_allocated_memory_is_aligned_zeroed_distinct_and_shared_with_its_view() -> None:
    host = Machine(2).host(0)
    first, second = host.allocate(100, align=64), host.allocate(4096)
    assert first.address >= 4096 and second.address % 4096 == 0 and second.address >= first.address + 100
    assert bytes(first.view) == bytes(100)
    first.view[3] = 7
    assert host.load_words(first.address, 1) == (7,)
    host.store_words(first.address + 96, [0x01020304])
    assert bytes(first.view[96:]) == b"\1\2\3\4"


def test_exhausted_memory_is_reported_with_request_and_rest() -> None:
    host = Machine(2, host_bytes=3 * 4096).host(1)
    host.allocate(4096)
    with pytest.raises(MemoryError, match="host host1: 8192 bytes requested, 4096 left"):
        host.allocate(8192)


def test_stores_arrive_in_program_order_word_by_word() -> None:
    machine = Machine(2)
    host, nic = machine.host(0), machine.nic(0)
    order: list[int] = []

    async def write() -> None:
        await host.pio_write(BASE + 0x100, bytes(range(1, 129)), combine=True)
        await host.pio_write(BASE + 0x200, b"\0\0\0\1")

    machine.kernel.spawn(write(), "write")
    machine.kernel.run_ready()
    while machine.kernel.next_alarm() is not None:
        machine.run(until_us=machine.kernel.now / 1e6 + 0.01)
        order.append(sum(1 for byte in nic.sram.data[0x100:0x180] if byte) + 1000 * nic.load(0x200))
    assert order == sorted(order) and order[-1] == 1128 and len(set(order)) > 3


def test_posted_write_does_not_block_the_cpu_until_it_arrives() -> None:
    machine = Machine(2)
    machine.finish(machine.host(0).pio_write(BASE, b"\0\0\0\7"))
    assert machine.nic(0).load(0) == 0
    machine.run()
    assert machine.nic(0).load(0) == 7


def test_a_read_waits_for_the_writes_before_it() -> None:
    machine = Machine(2, timing=Timing(pio_latency=9_000_000))
    host = machine.host(0)

    async def write_then_read() -> int:
        await host.pio_write(BASE + 64, bytes(256))
        await host.pio_write(BASE + 60, b"\0\0\1\0")
        return await host.pio_read(BASE + 60)

    assert machine.finish(write_then_read()) == [256]


@pytest.mark.parametrize(("size", "copied"), [(12, 12), (13, 16), (16, 16)])
def test_copy_reads_host_memory_in_whole_words(size: int, copied: int) -> None:
    machine = Machine(2)
    buffer = machine.host(0).allocate(64)
    buffer.view[:] = bytes(range(64))
    machine.finish(machine.host(0).pio_copy(BASE + 8, buffer.address + 4, size))
    machine.run()
    assert machine.nic(0).load_bytes(0, 28) == (bytes(8) + bytes(range(4, 4 + copied))).ljust(28, b"\0")


def test_registers_and_sram_are_in_the_cards_region() -> None:
    machine = Machine(2)
    machine.nic(0).write(Reg.SMP, 0x1238)
    assert machine.finish(machine.host(0).pio_read(BASE + 0x804000 + Reg.SMP)) == [0x1238]


@pytest.mark.parametrize(
    ("address", "size", "message"),
    [
        (BASE + 2, 4, "whole aligned words"),
        (BASE, 6, "whole aligned words"),
        (0x1000, 4, "no device on the bus at 0x1000"),
        (BASE + 0xFFFFFC, 8, "no device on the bus"),
    ],
)
def test_unaligned_stores_are_rejected(address: int, size: int, message: str) -> None:
    machine = Machine(2)
    with pytest.raises(MachineError, match=message):
        machine.finish(machine.host(0).pio_write(address, bytes(size)))


def test_addresses_beyond_the_sram_are_not_decoded() -> None:
    machine = Machine(2, sram_bytes=1 << 16)
    machine.kernel.spawn(machine.host(0).pio_write(BASE + 0xFFFC, bytes(8)), "write")
    with pytest.raises(MachineError, match=r"node 0 SRAM: bytes 0x10000 \.\. 0x10004 are outside"):
        machine.run()


def test_one_cpu_serves_one_task_at_a_time() -> None:
    machine = Machine(2, cost=lambda side, path: 1_000_000)
    ends: list[int] = []

    async def task() -> None:
        await machine.host(0).spend("compute", times=3)
        ends.append(machine.kernel.now)

    machine.finish(task(), task())
    assert [end // 1_000_000 for end in ends] == [3, 6]
    traced = [machine.trace.of_event(event) for event in (TraceEvent.SPEND_START, TraceEvent.SPEND_END)]
    assert [[row[0] for row in rows] for rows in traced] == [[1, 1], ends]
    assert {row[4:6] for rows in traced for row in rows} == {(machine.trace.path("host:compute"), 3_000_000)}


def test_poll_returns_the_index_of_the_word_that_changed() -> None:
    machine = Machine(2)
    host = machine.host(0)
    words = host.allocate(64).address
    machine.kernel.at(7_000_000, lambda: host.store_words(words + 8, [5]))
    watches = [(words, 0), (words + 4, 0), (words + 8, 0)]
    assert machine.finish(host.poll(watches, "look")) == [2]
    assert 7_000_000 < machine.kernel.now <= 7_300_001


def test_a_paused_host_continues_after_its_pause() -> None:
    machine = Machine(2)
    host = machine.host(0)
    word = host.allocate(4).address
    host.pause_between(1, 50)
    machine.kernel.at(3_000_000, lambda: host.store_words(word, [1]))
    machine.finish(host.poll([(word, 0)], "look"))
    assert machine.kernel.now == 50_000_001


def test_a_hang_is_reported_with_all_waits() -> None:
    machine = Machine(2)
    word = machine.host(1).allocate(4).address
    who = r"task 0 waits for host host1 polling \(look_flag\)"
    with pytest.raises(MachineError, match=rf"no event is left.*\n.*{who}"):
        machine.finish(machine.host(1).poll([(word, 0)], "look_flag"))


def test_endless_work_ends_at_the_time_limit() -> None:
    machine = Machine(2)

    async def forever() -> None:
        while True:
            await machine.host(0).sleep(1_000_000)

    with pytest.raises(MachineError, match="not finished within 20 us"):
        machine.finish(forever(), within_us=20)


def test_the_same_seed_gives_the_same_interrupt_latencies() -> None:
    lines = [Machine(2, seed=seed).host(0)._interrupts for seed in (1, 1, 2)]
    draws = [[line._draw() for _ in range(9)] for line in lines]
    assert draws[0] == draws[1] != draws[2]
