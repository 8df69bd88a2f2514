"""Invalid calls of HAL: each raises an error with cause and remedy, and does not affect other calls.

Strategy: a table of calls and their errors. After all of them packets still go both ways.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.common.host.payload import MemoryRange
from firmware.hal.host import HostHal
from firmware.hal.host.errors import HalError
from firmware.hal.host.interface import KEEPABLE, MOST, Packet
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from tests.unit.hal.hal_bench import PROTOCOL, Bench

Call = Callable[[HostHal], Awaitable[Any]]


async def _nothing(packet: Packet) -> None:
    pass


async def _on(hal: HostHal, protocol: int) -> None:
    hal.on_packet(protocol, _nothing)


async def _free(hal: HostHal) -> None:
    hal.free(9)


async def _keep(hal: HostHal) -> None:
    kept = [await hal.send(1, 7, b"x", keep=True) for _ in range(KEEPABLE)]
    try:
        await hal.send(1, 7, b"x", keep=True)
    finally:
        for buffer in kept:
            hal.free(buffer)


async def _long_header(hal: HostHal) -> None:
    buffer = await hal.send(1, 7, b"head", keep=True)
    try:
        await hal.again(buffer, b"header")
    finally:
        hal.free(buffer)


async def _freed(hal: HostHal) -> None:
    buffer = await hal.send(1, 7, b"head", keep=True)
    hal.free(buffer)
    await hal.again(buffer)


MISUSE: dict[str, tuple[Call, str]] = {
    "an unknown node": (lambda hal: hal.send(2, 3, b"x"), "node 2: unknown node; send to one of 1"),
    "the node itself": (lambda hal: hal.send(0, 3, b"x"), "node 0: unknown node; send to one of 1"),
    "an invalid node": (lambda hal: hal.send("b", 3, b"x"), "node 'b': unknown node"),  # type: ignore[arg-type]
    "nothing": (lambda hal: hal.send(1, 3, b""), f"packet of 0 bytes: a packet has 1 to {MOST} bytes"),
    "too much": (
        lambda hal: hal.send(1, 3, b"x", bytes(MOST)),
        f"packet of {MOST + 1} bytes: a packet has 1 to {MOST} bytes",
    ),
    "too much in memory": (lambda hal: hal.send(1, 3, b"x", MemoryRange(0x1000, MOST)), "packet of 1025 bytes"),
    "a protocol to send": (lambda hal: hal.send(1, 8, b"x"), "protocol 8: invalid protocol number; give 0 to 7"),
    "a protocol to receive": (lambda hal: _on(hal, -1), "protocol -1: invalid protocol number; give 0 to 7"),
    "another's protocol": (lambda hal: _on(hal, PROTOCOL), "protocol 3: used by another layer; use another number"),
    "too many kept": (_keep, "kept send buffer: 48 of 64 are kept already; free one, or send without keep"),
    "again what is not kept": (lambda hal: hal.again(9), "send buffer 9: not a kept buffer"),
    "again what is free": (_freed, "send buffer 48: not a kept buffer"),
    "free what is not kept": (_free, "send buffer 9: not a kept buffer"),
    "a longer header": (
        _long_header,
        "header of 6 bytes: the packet has 4 bytes; give a header no longer than the packet",
    ),
}


def test_each_misuse_raises_its_error_and_does_not_affect_other_calls() -> None:
    bench = Bench(chips=0)
    hal = bench.hals[0]
    for name, (call, text) in MISUSE.items():
        with pytest.raises(HalError, match="^" + re.escape(text)):
            bench.run(call(hal))
        assert hal.keepable == KEEPABLE, name
    bench.run(bench.give(0, 1, [b"there"]), bench.give(1, 0, [b"back"]), bench.until(1, 1), bench.until(0, 1))
    assert bench.bodies(1) == [b"there"] and bench.bodies(0) == [b"back"]


@pytest.mark.parametrize(
    ("options", "nodes", "text"),
    [
        ({"route": 1}, 2, "unknown option 'route': hal has no such option; did you mean 'routes'?"),
        ({"routes": 0}, 2, "value out of range: hal.routes is 0; give 1 to 16"),
        ({"routes": 17}, 2, "value out of range: hal.routes is 17; give 1 to 16"),
        ({"interrupt_delay_us": 1001}, 2, "value out of range: hal.interrupt_delay_us is 1001; give 0 to 1000"),
    ],
)
def test_invalid_options_and_clusters_are_rejected(options: dict[str, int], nodes: int, text: str) -> None:
    with pytest.raises(OptionError, match="^" + re.escape(text)):
        check_options("hal", options, nodes, 1 << 19, nic_kind("sp").card(1 << 19))
