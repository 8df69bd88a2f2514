"""Packets whose CRC-8 is not where firmware reads it: a cable has added or lost characters, and the data end with 0.

Strategy: the machine's receive engine reports another ORUN for chosen packets, as it does for such a packet. GRIM with
its time-out must drop them and get them again, and so must VIA with `exact=1` reject them. Without it VIA accepts them,
which shows that no other check detects them.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from pymodels.machine import Machine
from pymodels.registers import Isr
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.test_grim_loss import LAST_ANSWERS_US
from tests.unit.via.test_via_reliability import received, receives, sends
from tests.unit.via.via_bench import pair, pattern

RECV = 1 << Isr.RECV


def tell_another_length(monkeypatch: pytest.MonkeyPatch, machine: Machine, node: int, more: int) -> None:
    """Report `more` bytes in the last word of the next packet of a node."""
    engine: Any = machine.nics[node].receive
    plain, left = engine._raise_isr, [more << Isr.ORUN1]

    def told(bits: int, cleared: int) -> None:
        plain(bits - left.pop() if bits & RECV and left else bits, cleared)

    monkeypatch.setattr(engine, "_raise_isr", told)


@pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
@pytest.mark.parametrize("more", [1, 2, 3])
def test_grim_with_a_time_out_drops_packets_without_whole_words(
    monkeypatch: pytest.MonkeyPatch, more: int, nic: str
) -> None:
    kind = type("Kind", (Bench,), {"nic": nic})
    bench = kind(2, 1, True, True, timeout_us=200)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.wait_for(lambda: len(got) == 3)
            return
        await library.host.sleep(100_000_000)
        tell_another_length(monkeypatch, bench.machine, 1, more)
        for i in range(3):
            await library.send(library.get_dest_id(1), number, i, payload=bytes(64))

    bench.run(node)
    bench.settle(LAST_ANSWERS_US)
    assert got == [0, 1, 2]
    assert bench.total(Counter.BAD_CRC) == bench.total(Counter.TIMEOUTS) == 1


@pytest.mark.parametrize("exact", [0, 1])
def test_via_rejects_packets_without_whole_words_only_with_option_exact(
    monkeypatch: pytest.MonkeyPatch, exact: int
) -> None:
    p = pair(exact=exact)
    p.machine.finish(receives(p, 2))
    tell_another_length(monkeypatch, p.machine, 1, 1)
    p.machine.finish(received(p, 2 - exact), sends(p, 100, 200))
    (counters,) = p.machine.finish(p.there.nic.query_counters())
    assert counters["bad_crc"] == exact
    assert p.there.read(0, 100) == (pattern(200, 1)[:100] if exact else pattern(100))
