"""Remote writes between two hosts, where the far application waits for a lock."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import numpy as np

from tb.lab.lab import Lab
from tb.studies.grim._grim import LAYER, bring_up


class RemoteMemory:
    """Host that writes, and host whose memory is written."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.libraries: list[Any] = lab.start_layer(LAYER)
        self.near, self.far = self.libraries[0], self.libraries[-1]
        self.number = 0
        """Number of the last operation, and value of the lock that reports it."""

    async def enable(self) -> None:
        """Start all libraries."""
        await bring_up(self.lab, self.libraries, [{} for _ in self.libraries])
        self.where = self.near.get_dest_id(self.far.get_my_vnn())

    def next_data(self, size: int) -> bytes:
        """Begin the next operation and return its data."""
        self.number += 1
        return np.random.default_rng(self.number).integers(0, 256, size, dtype=np.uint8).tobytes()

    async def seen(self, lock: int) -> int:
        """Wait until the far application sees the number in the lock, and return the time in ps."""
        await self.far.wait_for_lock(lock, self.number)
        return self.lab.kernel.now

    async def timed(self, write: Awaitable[Any], lock: int) -> int:
        """Return the time in ps from the start of a write until the far application has seen its lock."""
        seen = self.lab.spawn(self.seen(lock), "far application")
        begun = self.lab.kernel.now
        await write
        return int(await seen.finished - begun)

    def compare(self, library: Any, address: int, data: bytes, what: str) -> None:
        """Count a message, and fail the run unless its data has arrived unchanged in pinned memory of a host."""
        self.lab.findings.messages += 1
        self.lab.check(
            "remote memory",
            library.load_pinned(address, len(data)) == data,
            f"{what} of {len(data)} bytes arrived corrupted",
        )
