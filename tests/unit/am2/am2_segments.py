"""Two AM-II endpoints with segments, on two hosts of the machine, and the expected contents."""

from __future__ import annotations

import random
from collections.abc import Awaitable
from typing import Any

import pytest

from tests.unit.am2.am2_bench import Bench

SIZE, MEDIUM = 6000, 512
LENGTHS = (0, 1, 4, 511, 512, 513, 1024, 2100)
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])


class Ends:
    """Bench whose endpoints have segments, with their expected contents."""

    def __init__(self, nic: str = "lanai9", **options: Any) -> None:
        self.bench = Bench(nic=nic, medium=MEDIUM, **{"timeout_us": 150, **options})
        self.images = [bytearray(random.Random(node).randbytes(SIZE)) for node in range(2)]
        self.places = []
        for endpoint, image in zip(self.bench.endpoints, self.images, strict=True):
            self.places.append(endpoint.process.allocate(SIZE))
            endpoint.process.store_bytes(self.places[-1], bytes(image))
            endpoint.set_segment(self.places[-1], SIZE)
            assert endpoint.segment == (self.places[-1], SIZE)

    def put(self, node: int, at: int, data: bytes | bytearray) -> None:
        """Add data to the expected contents of a segment."""
        self.images[node][at : at + len(data)] = data

    def whole(self) -> bool:
        """Return True if both segments have the expected contents."""
        found = [one.process.load_bytes(at, SIZE) for one, at in zip(self.bench.endpoints, self.places, strict=True)]
        return found == [bytes(image) for image in self.images]

    def run(self, *calls: Awaitable[Any]) -> None:
        """Run a call for each program; then poll both until no request is unanswered."""
        left = [len(calls)]

        def over() -> bool:
            return not left[0] and not any(endpoint.unanswered for endpoint in self.bench.endpoints)

        async def program(bundle: Any, call: Awaitable[Any] | None) -> None:
            if call is not None:
                await call
                left[0] -= 1
            while not over():
                await bundle.poll()
                await self.bench.machine.kernel.sleep(2_000_000)

        both = zip(self.bench.bundles, (*calls, None, None), strict=False)
        self.bench.run(*(program(bundle, call) for bundle, call in both), within_us=2e4)
        self.bench.run(*(bundle.poll() for bundle in self.bench.bundles))
