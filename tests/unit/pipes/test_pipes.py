"""Pipes: every byte arrives once and in order, over routes that reorder and links that lose and damage packets.

Strategy: streams of many write and read sizes between hosts on a board of SP chips. The bytes read are compared with
those written. Faults of each kind, and all together, may cost only time and retransmissions. A full pipe or window
makes the writer wait, and the hang report names the node. Positions pass 2^32.
"""

from __future__ import annotations

import pytest

from firmware.pipes.host.header import WRAP
from pymodels.machine import MachineError
from pymodels.topology import End
from pymodels.trace import TraceEvent
from tests.unit.pipes.pipes_bench import Pair, pattern

SECOND_WAY = End("chip1", 7)
SIZES = (1, 100, 1000, 1008, 1009, 5000, 70_000)


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_a_stream_arrives_as_written(size: int, direct: bool) -> None:
    pair, data = Pair(chips=0), pattern(90_000 if size > 20 else 60)
    assert pair.run(pair.write(0, 1, data, size, direct), pair.read(1, 0, len(data)))[1] == data
    assert pair.pipes[0].resent == 0


def test_streams_of_both_directions_and_several_nodes_are_independent() -> None:
    pair, data = Pair(nodes=4, chips=4), [pattern(20_000, salt) for salt in range(4)]
    ways = [(a, b) for a in range(4) for b in range(4) if a != b]
    reads = [pair.read(target, source, 20_000) for source, target in ways]
    read = pair.run(*reads, *(pair.write(source, target, data[source], 3000) for source, target in ways))
    assert read[: len(ways)] == [data[source] for source, _ in ways]


@pytest.mark.parametrize("direct", [False, True])
def test_a_slow_route_does_not_reorder_a_stream(direct: bool) -> None:
    pair, data = Pair(), pattern(60_000)
    pair.machine.faults.delay_into(SECOND_WAY, 60_000_000)
    assert pair.run(pair.write(0, 1, data, 4000, direct), pair.read(1, 0, len(data)))[1] == data
    assert pair.pipes[0].resent == pair.pipes[1].doubled == 0


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize(("loss", "damage", "doubled"), [(0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
def test_lost_damaged_or_duplicated_packets_are_delivered_once(
    loss: float, damage: float, doubled: float, direct: bool
) -> None:
    pair, data = Pair(), pattern(60_000)
    pair.machine.faults.lose(loss, damage, doubled=doubled)
    assert pair.run(pair.write(0, 1, data, 4000, direct), pair.read(1, 0, len(data)))[1] == data
    assert (pair.pipes[0].resent > 0) == (not doubled)


@pytest.mark.parametrize("seed", range(6))
def test_all_faults_at_once_in_both_directions_are_recovered(seed: int) -> None:
    pair, one, other = Pair(timeout_us=200), pattern(40_000, 1), pattern(40_000, 2)
    pair.machine.faults.lose(0.05, 0.05, seed, reordered=0.1, doubled=0.05, most_ps=300_000_000)
    pair.machine.faults.delay_into(SECOND_WAY, 30_000_000)
    done = pair.run(
        pair.write(0, 1, one, 3000, direct=bool(seed % 2)),
        pair.write(1, 0, other, 700),
        pair.read(1, 0, len(one), 10_000),
        pair.read(0, 1, len(other), 64),
    )
    assert done[2:] == [one, other]


@pytest.mark.parametrize("begin", [WRAP - 30_000, 3 * WRAP - 1])
def test_positions_wrap_around_32_bits(begin: int) -> None:
    pair, data = Pair(chips=0, begin=begin), pattern(150_000)
    pair.machine.faults.drop(0, 1, 40)
    assert pair.run(pair.write(0, 1, data, 9000), pair.read(1, 0, len(data)))[1] == data


def test_only_the_lost_packet_is_retransmitted() -> None:
    pair, data = Pair(chips=0), pattern(30_000)
    pair.machine.faults.drop(0, 1, 3)
    assert pair.run(pair.write(0, 1, data, 30_000), pair.read(1, 0, len(data)))[1] == data
    assert (pair.pipes[0].resent, pair.pipes[1].doubled) == (1, 0)


def test_retransmissions_to_a_silent_node_back_off() -> None:
    pair, far = Pair(chips=0), 1

    async def sends() -> None:
        await pair.pipes[0].write(far, b"before")
        await pair.pipes[0].flush()
        again = pair.pipes[0].resent
        assert 4 <= again <= 8, "1, 3, 7, 15, 31, 63 ms"
        await pair.pipes[0].write(far, b"after")
        pair.machine.faults.drop(0, far, pair.machine.faults.passed(0, far))
        begun = pair.machine.kernel.now
        await pair.pipes[0].flush()
        assert pair.machine.kernel.now - begun < 5_000_000_000, "it has answered, so the time-out is the usual one"

    async def computes() -> None:
        await pair.machine.host(far).sleep(70_000_000_000)
        await pair.pipes[far].read(0, len(b"beforeafter"))
        await pair.pipes[far].finish()

    pair.run(sends(), computes())


def test_a_writer_that_only_writes_sees_that_its_packets_are_acknowledged() -> None:
    pair, parts = Pair(chips=0), 80
    host = pair.machine.host(0)

    async def writes() -> None:
        for _ in range(parts):
            await pair.pipes[0].write(1, b"ten bytes.")
            await host.sleep(100_000_000)

    async def reads() -> int:
        await pair.pipes[1].read(0, 10 * parts)
        return pair.machine.kernel.now

    assert pair.run(reads(), writes())[0] < 100_000_000 * parts


def test_a_lost_acknowledgement_costs_one_duplicate_packet() -> None:
    pair, data = Pair(chips=0), pattern(500)
    pair.machine.faults.drop(1, 0, 0)
    assert pair.run(pair.write(0, 1, data, 500), pair.read(1, 0, len(data)))[1] == data
    assert pair.pipes[0].resent == pair.pipes[1].doubled == 1


def test_acknowledgements_are_sent_with_reverse_data_or_for_half_a_window() -> None:
    pair, data = Pair(chips=0), pattern(32 * 1008)
    pair.run(pair.pipes[0].write(1, data), pair.read(1, 0, len(data)))
    alone = [row[4] for row in pair.machine.trace.of_event(TraceEvent.NIC_SEND_START) if row[4] == 16]
    assert len(alone) == 2

    async def echo(me: int) -> None:
        for _ in range(10):
            if me == 0:
                await pair.pipes[0].write(1, b"there")
            assert await pair.pipes[me].read(1 - me, 5) == b"there"
            if me == 1:
                await pair.pipes[1].write(0, b"there")

    pair.run(echo(0), echo(1))
    again = [row[4] for row in pair.machine.trace.of_event(TraceEvent.NIC_SEND_START) if row[4] == 16]
    assert len(again) == 2


def test_tasks_that_wait_at_the_same_time_acknowledge_once() -> None:
    pair = Pair(chips=0)

    async def waits() -> None:
        await pair.pipes[1].wait(lambda: False, 2_000_000_000)

    pair.run(pair.pipes[0].write(1, b"there"), *(waits() for _ in range(5)))
    assert [row[4] for row in pair.machine.trace.of_event(TraceEvent.NIC_SEND_START)] == [21, 16]


def test_the_hang_report_names_the_reader_that_a_writer_waits_for() -> None:
    pair = Pair(chips=0)

    async def polls() -> None:
        await pair.pipes[1].wait(lambda: False)

    with pytest.raises(MachineError, match="host host0 waits for room in the pipe to host1, held by host host1"):
        pair.run(pair.pipes[0].write(1, pattern(200_000)), polls(), within_us=20_000)
    assert pair.pipes[1].readable(0) == 1 << 16
    assert pair.pipes[0].resent == 0


def test_the_hang_report_names_a_full_window_and_missing_bytes() -> None:
    pair = Pair(chips=0)
    pair.machine.faults.lose(1.0)
    with pytest.raises(MachineError) as error:
        pair.run(pair.pipes[0].write(1, pattern(60_000), direct=True), pair.pipes[1].read(0, 7), within_us=5_000)
    assert "host host0 waits for the window of the pipe to host1, held by host host1" in str(error.value)
    assert "host host1 waits for 7 bytes of the pipe from host0, held by host host0" in str(error.value)


def test_a_reader_that_starts_late_loses_no_bytes() -> None:
    pair, data = Pair(chips=0), pattern(200_000)

    async def late() -> bytes:
        await pair.machine.host(1).sleep(5_000_000_000)
        return await pair.read(1, 0, len(data))

    assert pair.run(pair.write(0, 1, data, 10_000), late())[1] == data


@pytest.mark.parametrize(("direct", "copies"), [(False, [10, 20]), (True, [10, 0])])
def test_direct_bytes_are_copied_once_on_each_side_and_others_twice(direct: bool, copies: list[int]) -> None:
    pair, data, came = Pair(chips=0), pattern(10 * 1008), bytearray()

    async def take(node: int, view: memoryview) -> None:
        came.extend(view)

    async def all_of_it() -> None:
        await pair.pipes[1].wait(lambda: len(came) == len(data))
        await pair.pipes[1].finish()

    pair.pipes[1].on_bytes(take)
    pair.run(pair.write(0, 1, data, len(data), direct), all_of_it())
    assert came == data
    trace = pair.machine.trace
    charged = [row[4] for row in trace.of_event(TraceEvent.SPEND_START)]
    assert [charged.count(trace.path(f"host:{path}")) for path in ("hal_copy", "pipes_copy")] == copies


def test_with_interrupts_a_stream_arrives_while_its_reader_computes() -> None:
    pair, data = Pair(chips=0), pattern(60_000)

    async def computes() -> int:
        await pair.machine.host(1).compute(3_000_000)
        return pair.pipes[1].readable(0)

    pair.run(pair.bench.hals[1].interrupts(True))
    assert pair.run(computes(), pair.write(0, 1, data, 5000))[0] == 60_000
    assert pair.run(pair.pipes[1].read(0, 60_000)) == [data]


@pytest.mark.parametrize("node", [0, 1])
def test_a_bit_flipped_in_the_memory_of_a_pipe_is_read(node: int) -> None:
    pair, data = Pair(chips=0), pattern(500)
    if node == 0:
        pair.machine.faults.drop(0, 1, 0)  # it is sent again out of the pipe

    async def flip() -> None:
        await pair.machine.kernel.sleep(300_000_000, "the bytes stand in the pipe")
        memory = pair.machine.host(node).memory
        at = memory.data.rfind(data)  # HAL's copy is at lower addresses
        memory.write(at + 77, bytes([data[77] ^ 1]))

    async def late() -> bytes:
        await pair.pipes[1].wait(lambda: pair.pipes[1].readable(0) == 500)
        await pair.pipes[1].wait(lambda: False, 2_000_000_000)
        return await pair.read(1, 0, 500)

    read = pair.run(pair.write(0, 1, data, 500), late(), flip())[1]
    assert [at for at in range(500) if read[at] != data[at]] == [77]


def test_a_packet_acknowledged_just_before_its_retransmission_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = Pair(timeout_us=100)
    pipe = pair.pipes[0]
    out, spend = pipe._peers[1].outgoing, pipe.host.spend

    async def meanwhile(path: str, count: int = 1) -> None:
        await spend(path, count)
        if path == "pipes_again":
            out.answered(out.sent, out.room)

    monkeypatch.setattr(pipe.host, "spend", meanwhile)
    pair.machine.faults.drop(0, 1, pair.machine.faults.passed(0, 1))

    async def program() -> None:
        await pipe.write(1, pattern(500), direct=True)
        await pipe.flush()

    pair.run(program())
    assert (out.come, out.resent) == (out.written, 0)
