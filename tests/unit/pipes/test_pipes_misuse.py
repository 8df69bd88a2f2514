"""Invalid calls of Pipes: each raises an error with cause and remedy, and does not affect other calls.

Strategy: a table of calls and their errors; after all of them a stream still works. Packets of the protocol that are
not from Pipes are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.options import OptionError
from firmware.pipes.host.errors import PipesError
from firmware.pipes.host.header import LAYOUT, PROTOCOL, TYPE
from firmware.pipes.options import Options
from tests.unit.pipes.pipes_bench import Pair

Call = Callable[[Pair], Awaitable[Any]]


async def _twice(pair: Pair) -> None:
    pipe = pair.pipes[0]
    written = pair.machine.host(0).spawn(pair.write(0, 1, bytes(100_000), 100_000), "another")
    try:
        await pair.machine.host(0).sleep(1_000_000)
        await pipe.write(1, b"between")
    finally:
        await pair.read(1, 0, 100_000)
        await written.finished


async def _consumed(pair: Pair) -> None:
    async def take(node: int, view: memoryview) -> None:
        pass

    pair.pipes[0].on_bytes(take)
    try:
        await pair.pipes[0].read(1, 1)
    finally:
        pair.pipes[0].on_bytes(None)


MISUSE: dict[str, tuple[Call, str]] = {
    "an unknown node": (lambda pair: pair.pipes[0].write(2, b"x"), "node 2: unknown node; give one"),
    "the node itself": (lambda pair: pair.pipes[0].read(0, 1), "node 0: unknown node; give one of 1"),
    "too much at once": (lambda pair: pair.pipes[0].read(1, 65_537), "read of 65537 bytes: a pipe holds 65536 bytes"),
    "less than nothing": (lambda pair: pair.pipes[0].read(1, -1), "read of -1 bytes: a pipe holds 65536 bytes"),
    "two writes": (_twice, "write to node 1: another task is writing to it; let one task write"),
    "beside a consumer": (_consumed, "read: a consumer takes the received bytes; remove the consumer"),
}


def test_each_misuse_raises_its_error_and_does_not_affect_other_calls() -> None:
    pair = Pair(chips=0)
    for call, text in MISUSE.values():
        with pytest.raises(PipesError, match="^" + re.escape(text)):
            pair.run(call(pair))
    pair.run(pair.pipes[0].write(1, b"there"), pair.pipes[1].write(0, b"back"))
    assert pair.run(pair.pipes[1].read(0, 5), pair.pipes[0].read(1, 4)) == [b"there", b"back"]


@pytest.mark.parametrize("packet", [b"short", LAYOUT.pack(TYPE + 1, 0, 0, 0, 1 << 16) + b"bytes"])
def test_packets_not_from_pipes_are_ignored(packet: bytes) -> None:
    pair = Pair(chips=0)
    pair.run(pair.bench.hals[0].send(1, PROTOCOL, packet))
    assert pair.run(pair.write(0, 1, b"there", 5), pair.read(1, 0, 5))[1] == b"there"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"windows": 3}, "unknown option 'windows': pipes has no such option; did you mean 'window'?"),
        ({"window": 1}, "value out of range: pipes.window is 1; give 2 to 64"),
        ({"window": "many"}, "wrong type: pipes.window is 'many'; give a whole number"),
        ({"timeout_us": 9}, "value out of range: pipes.timeout_us is 9; give 10 to 1000000"),
        ({"pipe_bytes": 1 << 21}, "value out of range: pipes.pipe_bytes is 2097152; give 2048 to 1048576"),
        ({"pipe_bytes": 3000}, "option pipe_bytes: 3000 is not a power of two; give a power of two"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError, match="^" + re.escape(text)):
        Options.from_values(options)


@pytest.mark.parametrize("options", [{"window": 2}, {"pipe_bytes": 2048}, {"window": 64, "pipe_bytes": 1 << 20}])
def test_the_smallest_and_largest_option_values_work(options: dict[str, Any]) -> None:
    pair, data = Pair(chips=0, **options), bytes(range(256)) * 80
    for direct in (False, True):
        assert pair.run(pair.write(0, 1, data, 5000, direct), pair.read(1, 0, len(data), 2000))[1] == data
