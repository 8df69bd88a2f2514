"""Active frames of EPOS: bits in the header select the protocols that act at the receiver.

Strategy: reliability is switched off and on between messages, on a network that loses frames. Only messages sent with
it are guaranteed to arrive, and only those are acknowledged. Bits are changed in the Send Ring, and the receiver obeys
them. A protocol outside the composition cannot be activated, by the library or by a forged word.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from firmware.epos.host import EposError
from firmware.epos.nic.pointcuts import identity
from firmware.epos.nic.words import Word
from pymodels.trace import TraceEvent
from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import drawn, each_nic

BOTH = "active+reliability"


def received(bench: Bench, node: int) -> int:
    """Return the number of packets that a NIC has received."""
    return sum((row[2], row[1] // 16) == (TraceEvent.RX_TAIL, node) for row in bench.machine.trace.records)


@each_nic
def test_only_what_is_sent_with_reliability_is_acknowledged(nic: str) -> None:
    bench, sent = Bench(nic=nic, protocols=BOTH), drawn(1, [64] * 6)

    async def sends() -> None:
        for number, data in enumerate(sent):
            bench.hosts[0].activate(*(["reliability"] if number % 3 == 0 else []))
            await bench.hosts[0].send(1, data)

    _, got = bench.run(sends(), bench.take(1, 6))
    assert [message.data for message in got] == sent
    assert received(bench, 0) == 2, "acknowledgements of two messages"


def test_only_lost_frames_sent_with_reliability_are_retransmitted() -> None:
    bench, sent = Bench(protocols=BOTH, timeout_us=40), drawn(2, [64] * 6)
    for number in (0, 2, 3):  # the first message, and its second copy is not; the third, the fourth
        bench.machine.faults.drop(0, 1, number)

    async def sends() -> None:
        for number, data in enumerate(sent):
            bench.hosts[0].activate(*(["reliability"] if number % 2 == 0 else []))
            await bench.hosts[0].send(1, data)

    _, got = bench.run(sends(), bench.take(1, 5))
    assert [message.data for message in got] == [sent[0], *sent[2:]]
    assert bench.hosts[0].protocols["reliability"].resent == 2


def changed(bench: Bench, word: int) -> Any:
    """Replace a header word that is written to the Send Ring, in a `with` statement."""
    nic, original, place = bench.machine.nic(0), bench.machine.nic(0).store_words, bench.hosts[0].place
    at = 4 * place.words["active"]
    slots = {place.slot(slot) - 8: place.slot(slot) + at for slot in range(8)}

    def store(address: int, words: Any) -> None:
        original(address, words)
        if address in slots:
            nic.store(slots[address], word)

    return patch.object(nic, "store_words", store)


def test_receiver_obeys_the_bits_in_the_frame() -> None:
    """Send frames whose bit is cleared: the receiver acknowledges none, and the sender waits until the bit is set
    again.
    """
    bench, (data,) = Bench(protocols=BOTH, timeout_us=40), drawn(3, [64])
    with changed(bench, identity(["active"])):
        sending = bench.machine.host(0).spawn(bench.hosts[0].send(1, data), "the sender")
        bench.run(bench.machine.host(1).sleep(100_000_000, "two time-outs"))
    assert received(bench, 0) == 0 and bench.hosts[0].protocols["reliability"].resent == 2
    place = bench.hosts[0].place
    bench.machine.nic(0).store(place.slot(0) + 4 * place.words["active"], place.identity)
    bench.run(bench.machine.host(1).sleep(60_000_000, "one more"))
    assert received(bench, 0) == 1 and sending.finished.done


def test_frame_for_an_unselected_protocol_is_rejected_and_counted() -> None:
    bench = Bench(protocols="active")
    with changed(bench, identity(["active", "flow"])):
        bench.run(bench.hosts[0].send(1, b"forged"))
        bench.run(bench.hosts[0].left(), bench.machine.host(1).sleep(50_000_000, "its arrival"))
    _, got = bench.run(bench.give(0, 1, [b"after"]), bench.take(1, 1))
    assert got[0].data == b"after" and bench.word(1, Word.REFUSED) == 1


@pytest.mark.parametrize(
    ("protocols", "names", "said"),
    [
        ("active", ["reliability"], "activates 'reliability': the composition is active; give some of"),
        (BOTH, ["flow"], "activates 'flow': the composition is reliability.active; give some of"),
        (BOTH, ["active"], "activates 'active': this protocol always acts"),
        ("", [], "the composition is the baseline alone; compose active in"),
    ],
)
def test_activation_of_an_unselected_protocol_is_rejected(protocols: str, names: list[str], said: str) -> None:
    with pytest.raises(EposError, match=said):
        Bench(protocols=protocols).hosts[0].activate(*names)
