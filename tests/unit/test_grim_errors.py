"""Calls that cannot be done, and packets that must not be believed. Strategy: each wrong argument of the API is given
once, and the exception must name it and say what is right; afterwards the library still works. On the wire a flipped
bit is refused by CRC and counted, and a message for an endpoint that the other NI does not know comes back as an
ERROR that frees it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware.host.grim import ANY_VNN, Grim, GrimError
from firmware.nic.grim.layout import Counter
from pymodels.formats.grim import MAX_SEND
from tests.unit.grim_bench import Bench

Call = Callable[[Grim, int], Any]


class Misaligned:
    """A region of host memory at an odd place."""

    address = 0x1002
    size = 8


def nothing(*arguments: Any) -> None:
    """A handler."""


async def called(call: Call, library: Grim, number: int) -> None:
    """A call that may be a coroutine."""
    result = call(library, number)
    if hasattr(result, "__await__"):
        await result


WHO = "hosts have VNN 0..1 and device 0"
CALLS: list[tuple[Call, str]] = [
    (
        lambda g, h: g.send(1 << 24, h, payload=bytes(MAX_SEND + 1)),
        "payload: 16777217 bytes; one send carries at most 16777216; send it in parts",
    ),
    (
        lambda g, h: g.send(1 << 24, 999),
        "handler: 999 is not a registered handler; take the number that resolve_handler gives",
    ),
    (
        lambda g, h: g.send(7 << 24, h),
        f"destination: there is no endpoint Reference(vnn=7, device=0, channel=0); {WHO}",
    ),
    (
        lambda g, h: g.send(1 << 24 | 2 << 16, h),
        f"destination: there is no endpoint Reference(vnn=1, device=2, channel=0); {WHO}",
    ),
    (
        lambda g, h: g.send(1 << 24 | 5, h),
        "destination: there is no channel 5; option channels gives 0..0",
    ),
    (
        lambda g, h: g.send(1 << 24, h, channel=3),
        "channel: there is no channel 3; option channels gives 0..0",
    ),
    (
        lambda g, h: g.send(1 << 24, h, payload=Misaligned()),
        "payload: address 0x1002 is not a multiple of 4; align it to a word",
    ),
    (
        lambda g, h: g.send(1 << 24, h, 0, 0, 1 << 32),
        "argument 2: 4294967296 does not fit into 32 bits; send it as payload",
    ),
    (
        lambda g, h: g.get_dest_id(2),
        "destination: there is no VNN 2; the cluster has 0..1",
    ),
    (
        lambda g, h: g.get_dest_id(1, 0, 9),
        "destination: there is no channel 9; option channels gives 0..0",
    ),
    (
        lambda g, h: g.get_resource(ANY_VNN, 2),
        "device: no node asked for has a device of type 2; did you mean 'HOST'?",
    ),
    (
        lambda g, h: g.get_vnn_name(2),
        "vnn: there is no VNN 2; the cluster has 0..1",
    ),
    (
        lambda g, h: g.get_vnn_from_name("hots1"),
        "name: no host of the cluster is called 'hots1'; did you mean 'host1'?",
    ),
    (
        lambda g, h: g.register_handler(nothing, ""),
        "name: '' is not a handler's name; give 1 to 255 bytes without NUL",
    ),
    (
        lambda g, h: g.register_handler(print, "handler"),
        "name: 'handler' is registered already; give each handler a name of its own",
    ),
    (
        lambda g, h: g.register_handler(5, "five"),  # type: ignore[arg-type]
        "function: 5 cannot be called; give a function or coroutine function",
    ),
]


@pytest.mark.parametrize(("call", "message"), CALLS, ids=[message[:40] for _, message in CALLS])
def test_wrong_argument_is_named_and_nothing_is_harmed(call: Call, message: str) -> None:
    bench = Bench(2)
    got: list[int] = []

    async def node(library: Grim, me: int) -> str:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.wait_for(lambda: bool(got))
            return ""
        with pytest.raises(GrimError) as caught:
            await called(call, library, number)
        assert message.startswith(caught.value.argument)
        await library.send(library.get_dest_id(1), number, 77)
        return str(caught.value)

    assert bench.run(node)[0] == message
    assert got == [77]


def test_payload_that_is_not_bytes_is_refused() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=nothing))["handler"]
        with pytest.raises(GrimError, match="^payload: str does not give contiguous bytes"):
            await library.send(library.get_dest_id(1 - me), number, payload="text")

    bench.run(node)


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
