"""All-to-all traffic of random sizes over GRIM: a seed determines what each node sends, and receivers check it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from firmware.grim.formats import reference
from firmware.grim.host import Grim
from tests.unit.grim.grim_bench import Bench


def payload(source: int, channel: int, target: int, target_channel: int, number: int, size: int) -> bytes:
    """Return the bytes of a message."""
    return random.Random(f"{source}.{channel}.{target}.{target_channel}.{number}").randbytes(size)


class AllToAll:
    """Traffic in which each node sends `count` messages to every other, on random channels."""

    def __init__(self, bench: Bench, count: int, sizes: Sequence[int], seed: int = 1) -> None:
        self.bench = bench
        self.count = count
        self.sizes = sizes
        self.seed = seed
        self.received: list[dict[tuple[int, int, int], list[int]]] = [{} for _ in range(bench.nodes)]
        """Numbers received, by receiving node, then by (source, source channel, own channel)."""
        self.calls = [0] * bench.nodes
        self.wrong: list[str] = []

    async def node(self, library: Grim, me: int) -> None:
        """Run the application of one node."""

        def handler(source: int, number: int, channel: int, size: int, unused: int, data: memoryview) -> None:
            vnn, _, source_channel = reference(source)
            self.received[me].setdefault((vnn, source_channel, channel), []).append(number)
            self.calls[me] += 1
            if bytes(data) != payload(vnn, source_channel, me, channel, number, size):
                self.wrong.append(f"{vnn} -> {me}, message {number} of {size} bytes: {len(data)} others came")

        number = (await self.bench.publish(library, handler=handler))["handler"]
        rng = random.Random(f"{self.seed}.{me}")
        others = [vnn for vnn in range(self.bench.nodes) if vnn != me]
        channels = library.options.channels
        next_number: dict[tuple[int, int, int], int] = {}
        for vnn in rng.sample(others * self.count, len(others) * self.count):
            own, target, size = rng.randrange(channels), rng.randrange(channels), rng.choice(self.sizes)
            i = next_number.get((vnn, own, target), 0)
            next_number[vnn, own, target] = i + 1
            data = payload(me, own, vnn, target, i, size)
            await library.send(library.get_dest_id(vnn, 0, target), number, i, target, size, 0, data, channel=own)
        await library.wait_for(lambda: self.calls[me] >= self.count * len(others))

    def run(self, settle_us: float = 1000.0) -> None:
        """Run it until the last answers have arrived, and check that every message came once, in order, unchanged."""
        self.bench.run(self.node)
        self.bench.settle(settle_us)
        assert not self.wrong, self.wrong[:5]
        for me in range(self.bench.nodes):
            for stream, numbers in self.received[me].items():
                assert numbers == list(range(len(numbers))), f"{stream} -> {me}: {numbers}"
            assert sum(map(len, self.received[me].values())) == self.count * (self.bench.nodes - 1)
        assert self.bench.nothing_left()
