"""HAL's interrupt mode: packets that come while nobody polls are handed over by the service routine.

Strategy: a host that never polls is sent packets at many distances, and must have them all, in order; without
interrupts it has none. How often it is interrupted follows from the delay in which the routine waits for more; that
wait is CPU time of the host. A task that waits for packets takes them itself, and leaves interrupts on behind it.
"""

from __future__ import annotations

import pytest

from firmware.hal.host.interface import Packet
from tests.unit.hal.hal_bench import Bench, numbered

APART_PS = 20_000_000
"""Between two packets: less than the usual delay of the service routine, more than a packet takes."""


async def spread(bench: Bench, packets: list[bytes], apart: int = APART_PS) -> None:
    """Send packets from host 0 to host 1, so far apart."""
    for packet in packets:
        await bench.hals[0].send(1, 3, b"", packet)
        await bench.machine.host(0).sleep(apart)


def settle(bench: Bench) -> None:
    """Until nothing is left to happen."""
    bench.machine.run(bench.machine.kernel.now / 1e6 + 1000)


def test_a_host_that_does_not_poll_has_packets_only_with_interrupts() -> None:
    for on, expected in ((False, 0), (True, 5)):
        bench = Bench(chips=0)
        bench.run(bench.hals[1].interrupts(on))
        bench.run(spread(bench, numbered(5)))
        settle(bench)
        assert len(bench.came[1]) == expected and (bench.hals[1].interrupted > 0) == on


@pytest.mark.parametrize(("delay", "interrupts"), [(0, 5), (35, 1)])
def test_the_routine_waits_for_further_packets(delay: int, interrupts: int) -> None:
    bench = Bench(chips=0, interrupt_delay_us=delay)
    bench.run(bench.hals[1].interrupts(True))
    bench.run(spread(bench, numbered(5)))
    settle(bench)
    assert bench.bodies(1) == numbered(5) and bench.hals[1].interrupted == interrupts


def test_a_layer_says_how_long_the_routine_waits() -> None:
    bench = Bench(chips=0)
    bench.run(bench.hals[1].interrupts(True, 0))
    bench.run(spread(bench, numbered(5)))
    settle(bench)
    assert bench.bodies(1) == numbered(5) and bench.hals[1].interrupted == 5


def test_the_wait_of_the_routine_is_time_of_the_cpu_and_begins_anew_with_each_packet() -> None:
    bench = Bench(chips=0, interrupt_delay_us=50)
    host = bench.machine.host(1)
    bench.run(bench.hals[1].interrupts(True))
    begun = host.cpu_ps
    bench.run(spread(bench, numbered(3)))
    settle(bench)
    assert 2 * APART_PS + 40_000_000 < host.cpu_ps - begun < 2 * APART_PS + 60_000_000


@pytest.mark.parametrize("apart", range(1_000_000, 30_000_000, 3_700_000))
def test_no_packet_is_forgotten_however_they_meet_the_end_of_the_routine(apart: int) -> None:
    bench = Bench(chips=0, interrupt_delay_us=1)
    bench.run(bench.hals[1].interrupts(True))
    bench.run(spread(bench, numbered(40), apart))
    settle(bench)
    assert bench.bodies(1) == numbered(40)


@pytest.mark.parametrize("size", [8, 1000])
def test_no_packet_is_forgotten_that_comes_as_the_host_asks_for_interrupts(size: int) -> None:
    forgotten = []
    for after in range(0, 25_000_000, 250_000):
        bench = Bench(chips=0)
        bench.run(spread(bench, numbered(1, size), 0), switch_on(bench, after))
        settle(bench)
        if bench.bodies(1) != numbered(1, size):
            forgotten.append(after)
    assert forgotten == []


async def switch_on(bench: Bench, after: int) -> None:
    """Interrupts of host 1, after so many picoseconds."""
    await bench.machine.host(1).sleep(after)
    await bench.hals[1].interrupts(True)


def test_a_task_that_waits_takes_packets_itself_and_leaves_interrupts_on() -> None:
    bench = Bench(chips=0)
    hal = bench.hals[1]
    bench.run(hal.interrupts(True))
    bench.run(bench.until(1, 20), spread(bench, numbered(20)))
    assert hal.interrupted <= 1
    before = hal.interrupted
    bench.run(bench.give(0, 1, [b"nobody waits"]))
    settle(bench)
    assert len(bench.came[1]) == 21 and hal.interrupted == before + 1


def test_what_the_routine_hands_over_ends_the_wait_of_a_task_for_something_else() -> None:
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


def test_an_interrupt_that_meets_the_packets_before_it_leaves_interrupts_on() -> None:
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


def test_a_poll_that_an_interrupt_meets_leaves_interrupts_on() -> None:
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
