"""Who is who, and packets that must not be believed. Strategy: on the wire a flipped bit is refused by CRC and counted,
and a message for an endpoint that the other NI does not know comes back as an ERROR that frees it.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.host.grim import ANY_VNN, Grim, GrimError
from firmware.nic.grim.layout import Counter
from tests.unit.grim_bench import Bench


def nothing(*arguments: Any) -> None:
    """A handler."""


def test_who_is_who() -> None:
    bench = Bench(3)

    async def node(library: Grim, me: int) -> None:
        assert (library.get_my_vnn(), library.get_my_name()) == (me, f"host{me}")
        assert library.get_vnn_from_name("host2") == 2
        assert library.get_vnn_name(1) == "host1"
        assert library.get_resource(ANY_VNN, 0) == library.get_dest_id(0)
        assert library.get_resource(2, 0) == library.get_dest_id(2) == 2 << 24
        assert library.vnn_configuration().splitlines()[me].endswith("(this host)")

    bench.run(node)


@pytest.mark.parametrize("mask", [1, 0x10, 0x80])
@pytest.mark.parametrize("offset", [0, 3, 4, 5, 8, 9, 20, 33, 40])
def test_flipped_bit_is_refused(offset: int, mask: int) -> None:
    bench = Bench(2, trace=True)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(number)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            await library.host.sleep(50_000_000)
            faults = bench.machine.faults
            faults.corrupt(0, 1, faults.passed(0, 1), offset=offset, mask=mask)
            await library.send(library.get_dest_id(1), number, 1, payload=bytes(8))
        await library.host.sleep(100_000_000)
        await library.poll()

    bench.run(node)
    assert got == []
    assert bench.count(1, Counter.BAD_CRC) == 1


def test_message_that_can_never_succeed_is_freed_and_reported() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> str:
        number = (await bench.publish(library, handler=nothing))["handler"]
        if me == 1:
            await library.host.sleep(200_000_000)
            return ""
        library._target(1 << 24, 0).w2 |= 9  # a device that node 1 does not have, behind the library's back
        await library.send(1 << 24, number)
        with pytest.raises(GrimError) as caught:
            await library.wait_for(lambda: False)
        return str(caught.value)

    expected = "destination: VNN 1, channel 0 refused a message for ever (cause 1); check the reference"
    assert bench.run(node)[0] == expected
    bench.settle()
    assert bench.count(1, Counter.ERRORS_SENT) == bench.count(0, Counter.ERRORS_SEEN) == 1
    assert bench.nothing_left()
