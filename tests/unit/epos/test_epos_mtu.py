"""MTU adaptation of EPOS: frames become shorter while messages are on their way, and all messages arrive.

Strategy: the bytes of packets are counted on the receiver's cable between marked messages. The MTU is lowered while
frames of the previous message are in flight or held in the Receive Ring. It is also lowered on a network that loses
frames, and by several hosts at once. Only the host that lowers its MTU sends shorter frames. A larger MTU is rejected.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.epos.host import EposError, MemoryRange
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import LATE_PS, drawn, each_nic


def frames(bench: Bench, node: int) -> list[int]:
    """Return the bytes of the packets that a node has received, without those between NICs only."""
    rows = bench.machine.trace.records
    return [row[4] for row in rows if (row[2], row[1] // 16) == (TraceEvent.RX_TAIL, node) and row[4] > 64]


@each_nic
def test_frames_on_the_cable_become_shorter_with_frames_in_flight(nic: str) -> None:
    bench, sent = Bench(nic=nic, protocols="mtu"), drawn(1, [16_384, 16_384, 8192])

    async def sends() -> None:
        near = bench.hosts[0]
        await near.send(1, sent[0])
        await near.lower_mtu(2048)  # the frames of the first message have not all arrived
        await near.send(1, sent[1])
        await near.lower_mtu(1024)
        await near.send(1, sent[2])

    _, got = bench.run(sends(), bench.take(1, 3))
    assert [message.data for message in got] == sent
    bytes_of = [size - size % 1024 for size in frames(bench, 1)]
    assert bytes_of == [4096] * 4 + [2048] * 8 + [1024] * 8


def test_held_frames_of_the_old_mtu_keep_their_positions() -> None:
    """Frames of both MTUs are held in the Receive Ring for a slow reader."""
    bench, sent = Bench(protocols="mtu", receive_frames=64, send_frames=64), drawn(2, [8192] * 8)

    async def sends() -> None:
        await bench.give(0, 1, sent[:6])
        await bench.hosts[0].lower_mtu(1024)
        await bench.give(0, 1, sent[6:])

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 8)

    _, got = bench.run(sends(), late())
    assert [message.data for message in got] == sent


def test_each_host_has_its_own_mtu() -> None:
    bench, sent = Bench(3, protocols="mtu"), drawn(3, [8192] * 2)

    async def host(me: int) -> None:
        if me == 0:
            await bench.hosts[0].lower_mtu(1024)
        await bench.hosts[me].send(2, sent[me])

    *_, got = bench.run(host(0), host(1), bench.take(2, 2))
    assert sorted((message.source, message.data) for message in got) == list(enumerate(sent))
    sizes = sorted(size - size % 1024 for size in frames(bench, 2))
    assert sizes == [1024] * 8 + [4096] * 2


@pytest.mark.parametrize("seed", range(3))
def test_mtu_control_frames_may_be_lost_with_reliability(seed: int) -> None:
    bench, sent, rng = Bench(protocols="mtu+reliability", timeout_us=60), drawn(seed, [5000] * 6), random.Random(seed)
    for number in range(60):
        if rng.random() < 0.3:
            bench.machine.faults.drop(*rng.choice([(0, 1), (1, 0)]), number)

    async def sends() -> None:
        for number, data in enumerate(sent):
            if number in (2, 4):
                await bench.hosts[0].lower_mtu((2048, 1024)[number // 4])
            await bench.hosts[0].send(1, data)

    _, got = bench.run(sends(), bench.take(1, 6))
    assert [message.data for message in got] == sent


def test_short_frames_go_to_the_pages_of_a_posted_buffer() -> None:
    bench, (data,) = Bench(protocols="mtu+rendezvous"), drawn(4, [20_000])
    memory = bench.machine.host(1).allocate(20_000)

    async def sends() -> None:
        await bench.hosts[0].lower_mtu(1024)
        await bench.hosts[0].send(1, data)

    async def takes() -> Any:
        await bench.hosts[1].post(0, MemoryRange(memory.address, 20_000))
        return await bench.hosts[1].receive()

    _, got = bench.run(sends(), takes())
    assert got.data == data == bytes(memory.view)


@pytest.mark.parametrize("mtu", [8192, 3000, 512, 0, -1024, "1024", True])
def test_larger_or_invalid_mtu_is_rejected_without_effect(mtu: Any) -> None:
    bench = Bench(protocols="mtu")
    with pytest.raises(EposError, match="the MTU is 4096, and can only be reduced, at most to epos.least_mtu, 1024"):
        bench.run(bench.hosts[0].lower_mtu(mtu))
    _, got = bench.run(bench.give(0, 1, [bytes(8192)]), bench.take(1, 1))
    assert len(got[0].data) == 8192 and len(frames(bench, 1)) == 2


def test_mtu_change_is_rejected_without_the_protocol_and_with_overtaking() -> None:
    bench = Bench()
    with pytest.raises(EposError, match="an MTU of 1024: the composition is the baseline alone; compose mtu in"):
        bench.run(bench.hosts[0].lower_mtu(1024))
    for given, said in (
        ({"overtake": 1}, "mtu needs frames in order"),
        ({"mtu": 512}, "1024 is greater than the MTU, 512"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options("epos", {"protocols": "mtu", **given}, 2, 1 << 20, nic_kind("lanai9").card(1 << 20))
