"""Protocols of EPOS: each composition does what its protocols promise.

Strategy: every set of protocols transfers the same messages in both directions, over networks that lose and damage
frames and control frames by seed. With reliability each message arrives once, complete and in order. With flow control
no frame is held in the Receive Ring, however slow its reader is. Multicasts reach each node once. Contradictory
compositions are rejected.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.epos.host import EposError
from firmware.epos.nic.protocols.reliability import WORDS
from firmware.epos.nic.words import Word
from firmware.epos.options import SETS as COMPILED
from firmware.layers import check_options, composition
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import LATE_PS, drawn, each_nic

SETS = ["", *("+".join(one) for one in COMPILED)]
SIZES = (0, 4, 300, 5000)


@each_nic
@pytest.mark.parametrize("protocols", SETS)
def test_every_set_moves_messages_both_ways_at_once(nic: str, protocols: str) -> None:
    bench = Bench(nic=nic, protocols=protocols, rendezvous_from=1 << 16)
    sent = [drawn(1, SIZES * 2), drawn(2, SIZES * 2)]

    async def host(me: int) -> list[bytes]:
        await bench.give(me, 1 - me, sent[me])
        return [message.data for message in await bench.take(me, len(sent[me]))]

    assert bench.run(host(0), host(1)) == [sent[1], sent[0]]


# ---- reliability


@pytest.mark.parametrize("protocols", ["reliability", "reliability+flow"])
@pytest.mark.parametrize("seed", range(3))
def test_lost_and_damaged_frames_are_delivered_exactly_once_and_in_order(protocols: str, seed: int) -> None:
    bench, rng, sent = Bench(protocols=protocols, timeout_us=50), random.Random(seed), drawn(seed, SIZES * 5)
    faults = bench.machine.faults
    for number in range(60):
        way = rng.choice([(0, 1), (1, 0)])
        if rng.random() < 0.3:
            faults.drop(*way, number)
        elif rng.random() < 0.3:
            faults.corrupt(*way, number, rng.randrange(4, 12))
    _, got = bench.run(bench.give(0, 1, sent), bench.take(1, len(sent)))
    assert [message.data for message in got] == sent
    assert bench.hosts[0].protocols["reliability"].resent > 0


def frames_of(bench: Bench, node: int) -> list[int]:
    """Return the first words of the frames that a NIC has given to its send engine."""
    records = bench.machine.trace.records
    return [row[3] for row in records if (row[2], row[1] // 16) == (TraceEvent.NIC_SEND_START, node)]


def test_only_the_frame_with_a_lost_acknowledgement_is_retransmitted() -> None:
    bench, sent = Bench(protocols="reliability"), drawn(7, [64] * 5)
    bench.machine.faults.drop(1, 0, 2)
    _, got = bench.run(bench.give(0, 1, sent), bench.take(1, 5))
    assert [message.data for message in got] == sent
    numbers = [key & 0xFFFF for key in frames_of(bench, 0)]
    assert numbers == [0, 1, 2, 2, 3, 4]
    assert bench.machine.nic(1).load(Word.BAD) == 0


def test_acknowledged_frame_is_in_host_memory() -> None:
    """Hold the fifth message in the Receive Ring, and receive it again meanwhile."""
    bench, sent = Bench(protocols="reliability", timeout_us=40), drawn(12, [4096] * 5)
    far, at = bench.hosts[1], bench.hosts[0].place.peer_address("reliability", 1, WORDS) + 4

    async def acknowledged() -> bytes:
        while bench.word(0, at) != 5:
            await bench.machine.kernel.sleep(50_000, "the next look")
        return bench.machine.host(1).load_bytes(far._memory.address + far.place.staging(0, 4), 4096)

    async def late() -> list[Any]:
        await far.host.sleep(LATE_PS, "other work")
        return await bench.take(1, 5)

    _, there, got = bench.run(bench.give(0, 1, sent), acknowledged(), late())
    assert there == sent[4] and [message.data for message in got] == sent
    assert bench.hosts[0].protocols["reliability"].resent > 8, "more copies than the ring has room for"


def test_without_reliability_a_lost_message_is_lost() -> None:
    bench = Bench()
    bench.machine.faults.drop(0, 1, 0)
    _, got = bench.run(bench.give(0, 1, [b"lost", b"came"]), bench.take(1, 1))
    assert got[0].data == b"came"


# ---- flow control


@pytest.mark.parametrize(("protocols", "held"), [("", True), ("flow", False), ("reliability+flow", False)])
def test_with_credits_no_frame_waits_for_a_late_reader(protocols: str, held: bool) -> None:
    bench, sent = Bench(protocols=protocols), drawn(8, [4096] * 20)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 20)

    _, got = bench.run(bench.give(0, 1, sent), late())
    assert [message.data for message in got] == sent
    assert (bench.word(1, Word.HELD) > 0) is held
    if not held:
        assert bench.hosts[0].protocols["flow"].waited > 0


def test_piggybacked_credit_is_never_ahead_of_the_receivers_nic() -> None:
    """Copy one message, of which only the host knows, and report it to the sender in an answer."""
    bench = Bench(protocols="flow")
    bench.run(bench.give(0, 1, [b"one"]), bench.take(1, 1))
    bench.run(bench.give(1, 0, [b"answer"]), bench.take(0, 1))

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 4)

    bench.run(bench.give(0, 1, [bytes(64)] * 4), late())
    assert bench.word(1, Word.HELD) == 0


def test_missing_credits_of_one_receiver_do_not_block_another() -> None:
    bench = Bench(3, protocols="flow")

    async def sends() -> int:
        for _ in range(4):
            await bench.hosts[0].send(1, bytes(64))
        await bench.hosts[0].send(2, b"past it")
        return bench.machine.kernel.now

    _, got = bench.run(sends(), bench.take(2, 1))
    assert got[0].data == b"past it"


def test_credit_damaged_on_the_cable_is_dropped() -> None:
    """Let the receiver's NIC send nothing but credits; the next one includes the count of the damaged one."""
    bench, sent = Bench(protocols="flow"), drawn(13, [64] * 12)
    bench.machine.faults.corrupt(1, 0, 1, 10)
    _, got = bench.run(bench.give(0, 1, sent), bench.take(1, 12))
    assert [message.data for message in got] == sent and bench.word(0, Word.BAD) == 1
    assert bench.word(1, Word.HELD) == 0


def test_host_uses_the_credit_in_nic_memory() -> None:
    """Add a bit to the credit: the host sends a message without a slot, and its frame is held."""
    bench, sent = Bench(protocols="flow"), drawn(14, [64] * 8)
    bench.machine.nic(0).store(bench.hosts[0].place.peer_address("flow", 1, 1), 4)

    async def late() -> list[Any]:
        await bench.hosts[1].host.sleep(LATE_PS, "other work")
        return await bench.take(1, 8)

    _, got = bench.run(bench.give(0, 1, sent), late())
    assert [message.data for message in got] == sent and bench.word(1, Word.HELD) > 0


# ---- multicast


@pytest.mark.parametrize("protocols", [one for one in SETS if "multicast" in one])
@pytest.mark.parametrize("who", ["nic", "loop"])
def test_a_multicast_reaches_each_of_its_nodes_once(protocols: str, who: str) -> None:
    bench = Bench(5, protocols=protocols, multicast=who, rendezvous_from=1 << 16)
    sent = drawn(9, [64, 5000, 0] * 3)

    async def sends() -> None:
        for data in sent:
            await bench.hosts[0].multicast([1, 3, 4], data)
        await bench.hosts[0].send(2, b"alone")

    _, *got = bench.run(sends(), *(bench.take(node, len(sent)) for node in (1, 3, 4)), bench.take(2, 1))
    assert [[message.data for message in one] for one in got] == [sent, sent, sent, [b"alone"]]


def test_the_nic_repeats_a_multicast_of_which_the_host_stores_one_copy() -> None:
    stores = {}
    for who in ("nic", "loop"):
        bench = Bench(5, protocols="multicast", multicast=who)
        before = len(bench.machine.trace.records)
        bench.run(bench.hosts[0].multicast([1, 2, 3, 4], bytes(256)), *(bench.take(node, 1) for node in range(1, 5)))
        host = bench.machine.host(0)._unit
        stores[who] = sum(
            second
            for _, unit, event, _, _, second, _ in bench.machine.trace.records[before:]
            if event == TraceEvent.PIO_WRITE and unit == host
        )
    assert stores["loop"] == 4 * stores["nic"] == 4 * (16 + 256 + 4)


def test_multicast_lost_to_one_node_is_retransmitted_only_to_it() -> None:
    bench = Bench(4, protocols="multicast+reliability")
    bench.machine.faults.drop(0, 2, 0)
    bench.run(bench.hosts[0].multicast([1, 2, 3], b"once"), *(bench.take(node, 1) for node in (1, 2, 3)))
    assert len(frames_of(bench, 0)) == 4
    assert bench.hosts[0].protocols["reliability"].resent == 1


# ---- rejected arguments and compositions


def test_multicast_without_the_protocol_is_rejected() -> None:
    bench = Bench(3)
    with pytest.raises(EposError, match="the composition is the baseline alone; compose multicast in"):
        bench.run(bench.hosts[0].multicast([1, 2], b""))


def test_frames_of_another_composition_are_counted_and_named() -> None:
    bench = Bench(protocols="flow")
    bench.hosts[0].place.identity = 0
    bench.run(bench.hosts[0].send(1, b"foreign"))
    bench.run(bench.machine.host(1).sleep(50_000_000, "its arrival"))
    assert (bench.word(1, Word.FOREIGN), bench.word(1, Word.FOREIGN_IS)) == (1, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"protocols": "relaibility"}, "unknown word: epos.protocols is 'relaibility'; did you mean 'reliability'"),
        ({"protocols": "flow", "overtake": 1}, "option overtake: flow needs frames in order"),
        ({"protocols": "flow", "staging": "overwrite"}, "with flow control no slot is overwritten"),
        ({"protocols": "flow", "dynamic": 1}, "it is defined for the baseline only"),
    ],
)
def test_contradictory_composition_is_rejected(given: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        check_options("epos", given, 2, 1 << 20, nic_kind("lanai9").card(1 << 20))


def test_order_of_protocol_names_has_no_effect() -> None:
    assert composition("epos", {"protocols": "reliability+flow"}) == composition(
        "epos", {"protocols": "flow+reliability"}
    )
