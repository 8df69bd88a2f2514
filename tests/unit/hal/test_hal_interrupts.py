"""HAL's interrupt mode: the interrupt routine hands over packets that arrive while no task polls.

Strategy: a host that never polls receives packets at many intervals, and must get them all in order; without interrupts
it gets none. The number of interrupts follows from the delay of the interrupt routine, which is CPU time of the host. A
task that waits for packets polls, and interrupts are enabled again afterwards.
"""

from __future__ import annotations

import pytest

from firmware.hal.host.interface import Packet
from tests.unit.hal.hal_bench import Bench, numbered

APART_PS = 20_000_000
"""Interval between two packets: shorter than the routine's default delay, longer than a packet takes."""


async def spread(bench: Bench, packets: list[bytes], apart: int = APART_PS) -> None:
    """Send packets from host 0 to host 1 at an interval."""
    for packet in packets:
        await bench.hals[0].send(1, 3, b"", packet)
        await bench.machine.host(0).sleep(apart)


def settle(bench: Bench) -> None:
    """Run until the machine is idle."""
    bench.machine.run(bench.machine.kernel.now / 1e6 + 1000)


def test_a_host_that_does_not_poll_receives_packets_only_with_interrupts() -> None:
    for on, expected in ((False, 0), (True, 5)):
        bench = Bench(chips=0)
        bench.run(bench.hals[1].interrupts(on))
        bench.run(spread(bench, numbered(5)))
        settle(bench)
        assert len(bench.came[1]) == expected and (bench.hals[1].interrupted > 0) == on


@pytest.mark.parametrize(("delay", "interrupts"), [(0, 5), (35, 1)])
def test_the_interrupt_routine_waits_for_further_packets(delay: int, interrupts: int) -> None:
    bench = Bench(chips=0, interrupt_delay_us=delay)
    bench.run(bench.hals[1].interrupts(True))
    bench.run(spread(bench, numbered(5)))
    settle(bench)
    assert bench.bodies(1) == numbered(5) and bench.hals[1].interrupted == interrupts


def test_a_layer_sets_the_delay_of_the_interrupt_routine() -> None:
    bench = Bench(chips=0)
    bench.run(bench.hals[1].interrupts(True, 0))
    bench.run(spread(bench, numbered(5)))
    settle(bench)
    assert bench.bodies(1) == numbered(5) and bench.hals[1].interrupted == 5


def test_the_delay_of_the_interrupt_routine_is_cpu_time_and_restarts_with_each_packet() -> None:
    bench = Bench(chips=0, interrupt_delay_us=50)
    host = bench.machine.host(1)
    bench.run(bench.hals[1].interrupts(True))
    begun = host.cpu_ps
    bench.run(spread(bench, numbered(3)))
    settle(bench)
    least = 2 * APART_PS + 50_000_000 - bench.machine.timing.interrupt_most
    assert least < host.cpu_ps - begun < 2 * APART_PS + 60_000_000


@pytest.mark.parametrize("apart", range(1_000_000, 30_000_000, 3_700_000))
def test_no_packet_is_missed_that_arrives_at_the_end_of_the_interrupt_routine(apart: int) -> None:
    bench = Bench(chips=0, interrupt_delay_us=1)
    bench.run(bench.hals[1].interrupts(True))
    bench.run(spread(bench, numbered(40), apart))
    settle(bench)
    assert bench.bodies(1) == numbered(40)


@pytest.mark.parametrize("size", [8, 1000])
def test_no_packet_is_missed_that_arrives_while_the_host_enables_interrupts(size: int) -> None:
    forgotten = []
    for after in range(0, 25_000_000, 250_000):
        bench = Bench(chips=0)
        bench.run(spread(bench, numbered(1, size), 0), switch_on(bench, after))
        settle(bench)
        if bench.bodies(1) != numbered(1, size):
            forgotten.append(after)
    assert forgotten == []


async def switch_on(bench: Bench, after: int) -> None:
    """Enable interrupts of host 1 after `after` ps."""
    await bench.machine.host(1).sleep(after)
    await bench.hals[1].interrupts(True)


def test_a_waiting_task_polls_and_leaves_interrupts_enabled() -> None:
    bench = Bench(chips=0)
    hal = bench.hals[1]
    bench.run(hal.interrupts(True))
    bench.run(bench.until(1, 20), spread(bench, numbered(20)))
    assert hal.interrupted <= 1
    before = hal.interrupted
    bench.run(bench.give(0, 1, [b"nobody waits"]))
    settle(bench)
    assert len(bench.came[1]) == 21 and hal.interrupted == before + 1


def test_a_packet_of_the_interrupt_routine_ends_the_wait_of_a_computing_task() -> None:
    bench = Bench(chips=0)
    host = bench.machine.host(1)
    bench.run(bench.hals[1].interrupts(True))

    async def computes() -> int:
        await host.compute(50_000)
        return len(bench.came[1])

    assert bench.run(computes(), bench.give(0, 1, numbered(3)))[0] == 3


def test_interrupts_can_be_switched_off_again() -> None:
    bench = Bench(chips=0)
    bench.run(bench.hals[1].interrupts(True))
    bench.run(bench.hals[1].interrupts(False))
    bench.run(bench.give(0, 1, numbered(3)))
    settle(bench)
    assert bench.came[1] == [] and bench.run(bench.hals[1].poll()) == [3]


def test_an_interrupt_during_packet_handlers_leaves_interrupts_enabled() -> None:
    bench = Bench(chips=0)
    sender, hal, host = bench.hals[0], bench.hals[1], bench.machine.host(1)
    came: list[bytes] = []

    async def slow(packet: Packet) -> None:
        came.append(bytes(packet.view))
        await host.sleep(60_000_000)

    async def sends() -> None:
        for packet, rest_us in ((b"before interrupts are on", 40), (b"while that is handled", 300), (b"later", 0)):
            await sender.send(1, 5, packet)
            await bench.machine.host(0).sleep(rest_us * 1_000_000)

    async def switches() -> None:
        await host.sleep(30_000_000)
        await hal.interrupts(True)

    hal.on_packet(5, slow)
    bench.run(sends(), switches())
    settle(bench)
    assert came[-1] == b"later"


def test_an_interrupt_during_a_poll_leaves_interrupts_enabled() -> None:
    bench = Bench(chips=0)
    hal, host = bench.hals[1], bench.machine.host(1)

    async def slow(packet: Packet) -> None:
        await host.sleep(60_000_000)

    async def polls() -> None:
        await hal.interrupts(True)
        await bench.hals[0].send(1, 5, b"handled slowly")
        while not await hal.poll():
            await host.sleep(100_000)

    hal.on_packet(5, slow)
    bench.run(polls())
    bench.run(bench.give(0, 1, [b"nobody polls"]))
    settle(bench)
    assert len(bench.came[1]) == 1 and hal.interrupted == 2
