"""HAL: packets through pinned buffers, several routes, losses, kept buffers.

Strategy: hosts on a board of SP chips with two routes a pair. Packets of many lengths arrive unchanged, each on the
next route; more packets than buffers wait for room. A receiver that does not poll drops packets without a buffer, a
link damages packets, and a slow route reorders them: HAL repairs nothing and counts.
"""

from __future__ import annotations

from collections import Counter

import pytest

from firmware.common.host.payload import MemoryRange
from firmware.hal.host import HostHal
from firmware.hal.host.interface import KEEPABLE, MOST, Packet
from firmware.hal.nic.layout import BUFFERS
from pymodels.machine import MachineError
from pymodels.topology import End
from pymodels.trace import TraceEvent
from tests.unit.hal.hal_bench import PROTOCOL, Bench, numbered

SECOND_WAY = End("chip1", 7)
"""Link of the second route into the chip of host 1."""
SIZES = (1, 3, 4, 8, 9, 16, 100, 255, 1000, MOST - 1, MOST)


@pytest.mark.parametrize("nic", ["sp", "lanai9", "lanai4"])
def test_packets_of_every_length_arrive_unchanged(nic: str) -> None:
    bench = Bench(chips=0, nic=nic)
    packets = [bytes((7 * at + size) & 0xFF for at in range(size)) for size in SIZES]
    bench.run(bench.give(0, 1, packets), bench.give(1, 0, packets), bench.until(0, len(SIZES)), bench.until(1, 11))
    assert bench.came[1] == [(0, packet) for packet in packets]
    assert bench.bodies(0) == packets


def test_header_and_data_form_one_packet_from_bytes_or_host_memory() -> None:
    bench = Bench()
    memory = bench.machine.host(0).allocate(4096)
    memory.view[100:105] = b"there"

    async def give() -> None:
        await bench.hals[0].send(1, PROTOCOL, b"head", b"bytes")
        await bench.hals[0].send(1, PROTOCOL, b"head", MemoryRange(memory.address + 100, 5))
        await bench.hals[0].send(1, PROTOCOL, b"", memoryview(b"no head"))

    bench.run(give(), bench.until(1, 3))
    assert sorted(bench.bodies(1)) == [b"headbytes", b"headthere", b"no head"]


def test_more_packets_than_buffers_wait_for_room() -> None:
    bench = Bench(chips=0)
    packets = numbered(3 * BUFFERS, MOST)
    bench.run(bench.give(0, 1, packets), bench.until(1, len(packets)))
    assert bench.bodies(1) == packets


@pytest.mark.parametrize(("routes", "late"), [(1, False), (2, True), (16, True)])
def test_packets_use_the_routes_of_a_pair_in_turn_and_a_slow_route_reorders_them(routes: int, late: bool) -> None:
    bench = Bench(routes=routes)
    bench.machine.faults.delay_into(SECOND_WAY, 50_000_000)
    packets = numbered(20)
    bench.run(bench.give(0, 1, packets), bench.until(1, 20))
    assert bench.bodies(1) == (packets[::2] + packets[1::2] if late else packets)


def test_packets_without_a_receive_buffer_are_dropped_and_counted() -> None:
    bench = Bench(chips=0)
    hal, packets = bench.hals[1], numbered(BUFFERS + 9)
    bench.run(bench.give(0, 1, packets))
    bench.machine.run(bench.machine.kernel.now / 1e6 + 1000)
    bench.run(hal.poll())
    assert bench.bodies(1) == packets[:BUFFERS]
    assert bench.run(hal.dropped()) == [9]
    bench.run(bench.give(0, 1, [b"there is room again"]), bench.until(1, BUFFERS + 1))


def test_a_damaged_packet_is_dropped_and_counted() -> None:
    bench = Bench(chips=0)
    bench.machine.faults.corrupt(0, 1, 1, 30)
    bench.machine.faults.drop(0, 1, 3)
    bench.run(bench.give(0, 1, numbered(6)), bench.until(1, 4))
    assert [packet[3] for packet in bench.bodies(1)] == [0, 2, 4, 5]
    assert bench.run(bench.hals[1].damaged(), bench.hals[1].dropped()) == [1, 0]


def test_a_kept_buffer_is_sent_again_without_a_copy_and_with_a_new_header() -> None:
    bench = Bench(chips=0)
    hal = bench.hals[0]

    async def give() -> None:
        buffer = await hal.send(1, PROTOCOL, b"1", b"data", keep=True)
        assert hal.keepable == KEEPABLE - 1
        await bench.give(0, 1, numbered(2 * BUFFERS))
        begun = copied(bench)
        await hal.again(buffer)
        await hal.again(buffer, b"2")
        assert copied(bench) == begun
        hal.free(buffer)
        assert hal.keepable == KEEPABLE

    bench.run(give(), bench.until(1, 2 * BUFFERS + 3))
    assert [packet for packet in bench.bodies(1) if packet.endswith(b"data")] == [b"1data", b"1data", b"2data"]


def copied(bench: Bench) -> int:
    """Return how often hosts have copied data."""
    trace = bench.machine.trace
    return sum(row[4] == trace.path("host:hal_copy") for row in trace.of_event(TraceEvent.SPEND_START))


def test_all_send_buffers_become_free_again() -> None:
    bench = Bench(chips=0)
    hal = bench.hals[0]

    async def give() -> None:
        for _ in range(3):
            kept = [await hal.send(1, PROTOCOL, b"kept", keep=True) for _ in range(KEEPABLE)]
            for buffer in kept[::2]:
                await hal.again(buffer)
            for buffer in kept:
                hal.free(buffer)
        await bench.give(0, 1, numbered(BUFFERS))

    count = 3 * (KEEPABLE + KEEPABLE // 2) + BUFFERS
    bench.run(give(), bench.until(1, count))
    assert bench.bodies(1)[-BUFFERS:] == numbered(BUFFERS)


def test_protocols_share_one_hal_and_handlers_may_send() -> None:
    bench = Bench(chips=0)
    answered: Counter[bytes] = Counter()

    async def answer(packet: Packet) -> None:
        await bench.hals[1].send(packet.source, 5, b"answer to ", packet.view)

    async def take(packet: Packet) -> None:
        answered[bytes(packet.view)] += 1

    bench.hals[1].on_packet(4, answer)
    bench.hals[0].on_packet(5, take)

    async def ask(hal: HostHal) -> None:
        for number in range(BUFFERS + 5):
            await hal.send(1, 4, b"%d" % number)
        await bench.give(0, 1, [b"other"])
        await hal.wait(lambda: len(answered) == BUFFERS + 5)

    bench.run(ask(bench.hals[0]), bench.until(1, 1))
    assert set(answered) == {b"answer to %d" % number for number in range(BUFFERS + 5)}


def test_a_packet_of_an_unknown_protocol_is_dropped() -> None:
    bench = Bench(chips=0)

    async def give() -> None:
        await bench.hals[0].send(1, 7, b"whose?")
        await bench.give(0, 1, [b"mine"])

    bench.run(give(), bench.until(1, 1))
    assert bench.bodies(1) == [b"mine"] and bench.hals[1].unclaimed == 1


def test_a_wait_ends_at_its_time_or_when_another_task_makes_its_condition_true() -> None:
    bench = Bench(chips=0)
    hal, flags = bench.hals[0], [False]
    now = bench.machine.kernel.now

    async def change() -> None:
        await bench.machine.host(0).sleep(5_000_000)
        flags[0] = True
        hal.changed()

    assert bench.run(hal.wait(lambda: False, now + 9_000_000), hal.wait(lambda: flags[0]), change()) == [
        False,
        True,
        None,
    ]
    assert now + 9_000_000 <= bench.machine.kernel.now < now + 9_500_000


def test_waiting_costs_no_wake_ups_while_no_packet_arrives() -> None:
    bench = Bench(chips=0)
    now, looks = bench.machine.kernel.now, [0]

    def look() -> bool:
        looks[0] += 1
        return False

    bench.run(bench.hals[0].wait(look, now + 10_000_000_000))
    assert looks[0] == 2


def test_two_tasks_of_a_host_wait_at_the_same_time() -> None:
    bench = Bench(chips=0)
    bench.run(bench.give(0, 1, numbered(5)), bench.until(1, 2), bench.until(1, 5))
    assert bench.bodies(1) == numbered(5)


def test_the_hang_report_names_the_nic_of_a_host_that_waits_for_a_send_buffer() -> None:
    bench = Bench(chips=0)
    bench.machine.faults.delay(0, 1, 0, 10**15)
    with pytest.raises(MachineError, match="host host0 waits for a send buffer, held by NIC 0"):
        bench.run(bench.give(0, 1, numbered(2 * BUFFERS)), within_us=5000)


def test_a_buffer_freed_while_being_sent_again_is_not_reused_before_the_nic_has_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    hal, others, buffer = bench.hals[0], numbered(64), -1
    spend = hal.host.spend

    async def meanwhile(path: str, count: int = 1) -> None:
        await spend(path, count)
        if path == "hal_send":
            monkeypatch.setattr(hal.host, "spend", spend)
            hal.free(buffer)
            for one in others:
                await hal.send(1, PROTOCOL, b"", one)

    async def program() -> None:
        nonlocal buffer
        buffer = await hal.send(1, PROTOCOL, b"head", b"data", keep=True)
        await hal.host.sleep(100_000_000)
        monkeypatch.setattr(hal.host, "spend", meanwhile)
        await hal.again(buffer, b"HEAD")

    bench.run(program(), bench.until(1, 66))
    assert sorted(bench.bodies(1)) == sorted([*others, b"headdata", b"HEADdata"])
    assert hal.keepable == 48
    free, ordered = list(hal._sender._free), set(hal._sender._orders)
    assert sorted({*free, *ordered}) == list(range(BUFFERS)) and len(free) == len(set(free) - ordered)
