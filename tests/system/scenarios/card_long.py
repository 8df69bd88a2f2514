"""Do messages of any length reach a circuit whole, and does its result, if several hosts and cards send at once?

Strategy: `bytes` random bytes go to SHA-256 on the far card, while the far host sends others to CRC-32 on the same
card. Then they go to loopback there and back. At last they go through loopback on both cards to a host, while the far
host sends short messages to the second of them. Every result must equal the model's. With `limit`, the circuit file
limits CRC-32 to so many bytes. A longer message must be rejected by the library, and by the card if the library does
not know of the limit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Awaitable
from typing import Any

from numpy.random import default_rng

from firmware.grim.host import GrimError
from pymodels.card.registers import Forward
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, SETTLE_PS, Pair

__all__ = ["CLUSTER", "run"]
OPTIONS = {
    "bytes": Option(9000, "bytes of the long messages", 1, 1 << 24),
    "limit": Option(0, "longest message that CRC-32 accepts according to the circuit file; 0: not tried", 0, 1 << 24),
    **CARD_OPTIONS,
}
SHORT = 12


class _Run:
    def __init__(self, lab: Lab) -> None:
        self.lab, self.pair = lab, Pair(lab)
        self.results: list[tuple[int, bytes]] = []
        """First argument and bytes of each result at the near host."""
        self.far_results: list[tuple[int, bytes]] = []
        """First argument and bytes of each result at the far host."""
        rng = default_rng(lab.seed)
        self.first, self.second = (rng.bytes(lab.option("bytes")) for _ in range(2))

    def on_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Record a result at the near host."""
        self.results.append((a0, bytes(payload)))

    def on_far_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Record a result at the far host."""
        self.far_results.append((a0, bytes(payload)))

    async def enable(self) -> None:
        """Start both hosts; the far card loads the image with SHA-256."""
        names = ["loopback", "crc32", "sha256"]
        await self.pair.enable([{"near": self.on_result}, {"far": self.on_far_result}], names)
        await self.pair.far.card.load("digests.bit")

    async def forward(self, card: int, circuit: str, mode: Forward, *to: int) -> None:
        """Set a forwarding entry."""
        await self.pair.near.forward(self.pair.cards[card], circuit, mode, *to)
        await self.lab.kernel.sleep(SETTLE_PS, "the entry to be set")

    async def together(self, *calls: Awaitable[None]) -> None:
        """Wait until all calls have returned."""
        tasks = [self.lab.spawn(call, f"sender {number}") for number, call in enumerate(calls)]
        for task in tasks:
            await task.finished

    async def wait(self, near: int, far: int) -> list[tuple[int, bytes]]:
        """Wait for so many results at each host, and return and forget them in the order of their first arguments."""
        pair = self.pair
        waiting = self.lab.spawn(pair.far.wait_for(lambda: len(self.far_results) == far), "the far host")
        await pair.near.wait_for(lambda: len(self.results) == near)
        await waiting.finished
        found, self.results, self.far_results = sorted(self.results + self.far_results), [], []
        return found


async def run(lab: Lab) -> None:
    """Run the scenario."""
    here = _Run(lab)
    await here.enable()
    equal = await _two_senders(here)
    equal += await _there_and_back(here)
    equal += await _chain(here)
    lab.metric("equal", equal)
    if lab.option("limit"):
        lab.metric("rejected", await _too_long(here))


async def _two_senders(here: _Run) -> int:
    """Send to two circuits of the far card at once."""
    pair, number = here.pair, here.pair.number
    for circuit in ("sha256", "crc32"):
        await here.forward(1, circuit, Forward.REPLY)
    limit = here.lab.option("limit") or len(here.second)
    second = here.second[:limit]
    await here.together(
        pair.near.send(pair.cards[1], number["sha256"], 0, 0, 0, number["near"], here.first),
        pair.far.send(pair.cards[1], number["crc32"], 1, 0, 0, number["far"], second),
    )
    digests = hashlib.sha256(here.first).digest(), zlib.crc32(second).to_bytes(4, "little")
    return sum(found == (place, digests[place]) for place, found in enumerate(await here.wait(1, 1)))


async def _there_and_back(here: _Run) -> int:
    """Send to loopback on the far card, whose result returns in segments."""
    pair, number = here.pair, here.pair.number
    await here.forward(1, "loopback", Forward.REPLY)
    await here.together(
        pair.near.send(pair.cards[1], number["loopback"], 0, 0, 0, number["near"], here.first),
        pair.far.send(pair.cards[1], number["loopback"], 1, 0, 0, number["far"], here.second),
    )
    return sum(found == sent for sent, found in zip(_pairs(here), await here.wait(1, 1), strict=True))


def _pairs(here: _Run) -> list[tuple[int, bytes]]:
    return [(0, here.first), (1, here.second)]


async def _chain(here: _Run) -> int:
    """Send through loopback on both cards, while short messages go to the second."""
    pair, number = here.pair, here.pair.number
    await here.forward(0, "loopback", Forward.ENDPOINT, pair.cards[1], number["loopback"])
    await here.forward(1, "loopback", Forward.ENDPOINT, pair.host(0), number["near"])

    async def short() -> None:
        for at in range(SHORT):
            await pair.far.send(pair.cards[1], number["loopback"], 2 + at, payload=here.second[:at])

    async def long() -> None:
        for at, data in _pairs(here):
            await pair.near.send(pair.cards[0], number["loopback"], at, payload=data)

    await here.together(long(), short())
    expected = _pairs(here) + [(2 + at, here.second[:at]) for at in range(SHORT)]
    return sum(one == found for one, found in zip(expected, await here.wait(2 + SHORT, 0), strict=True))


async def _too_long(here: _Run) -> int:
    """Send messages that CRC-32 does not accept, and return the number of errors that say so."""
    pair, lab, limit = here.pair, here.lab, here.lab.option("limit")
    card, crc32, near = pair.cards[1], pair.number["crc32"], pair.number["near"]
    told = [await _error(pair.near.send(card, crc32, 0, 0, 0, near, here.first))]
    pair.near.nodes.limits = {}  # as for a sender that does not know the circuit file
    await pair.near.send(card, crc32, 0, 0, 0, near, here.first)
    await pair.near.send(card, crc32, 1, 0, 0, near, here.first[:limit])
    told.append(await _error(pair.near.wait_for(lambda: False)))
    await pair.near.wait_for(lambda: bool(here.results))
    expected = [(1, zlib.crc32(here.first[:limit]).to_bytes(4, "little"))]
    lab.check("result after the rejected message", here.results == expected, f"the results are {here.results}")
    wrong = [text for text in told if f"accepts at most {limit}" not in text or "'crc32'" not in text]
    lab.check("error text", not wrong, f"the errors are {told}")
    return len(told) - len(wrong)


async def _error(call: Awaitable[Any]) -> str:
    try:
        await call
    except GrimError as error:
        return str(error)
    return "none"
