"""Driver's pager: endpoints are loaded into the NIC's memory when a process stores to them or a message arrives.

One frame moves at a time. A loaded endpoint stays for at least one time-out, so that it gets its turn and rejected
messages can arrive again. A random time of up to another time-out is added. Otherwise two endpoints that write to each
other, on nodes that page at the same rate, could miss each other for ever.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from firmware.am2.host.eviction import choice_of
from firmware.am2.host.granted import Granted
from firmware.am2.nic.layout import ABSENT, NOT_YET, Place
from firmware.am2.options import Options
from firmware.common.host.lock import Lock
from firmware.verbs import Host

US_PS, ASK_AGAIN_US = 1_000_000, 20

RequestPlace = Callable[[Granted, int], Awaitable[int]]
"""Function that requests a place for an endpoint's frame from the NIC, and returns its reply, 0 or NOT_YET."""


class Brought(NamedTuple):
    """Record of a loaded endpoint, with times in picoseconds."""

    number: int
    waited: int
    """Time behind earlier requests."""
    room: int
    """Time until a frame could be evicted."""
    out: int
    """Time of the eviction; 0 if a frame was free."""
    back: int
    """Time of loading the own frame."""


class Pager:
    """Pager of one host."""

    def __init__(self, host: Host, options: Options, place: Place, seed: int, tell: RequestPlace) -> None:
        self._host, self._place, self._request_place = host, place, tell
        self._stay = options.timeout_us * US_PS
        self._frames: list[Granted | None] = [None] * options.frames
        self._random = random.Random(seed)
        self._choice = choice_of(options.replace, seed)
        self.lock = Lock(host, "the pager of AM-II")
        """Lock whose holder may move frames or free endpoints."""
        self.log: list[Brought] = []
        """Records of all loaded endpoints."""

    def settle(self, granted: Granted) -> int:
        """Return the address of a free frame for a new endpoint, or ABSENT if it starts in host memory."""
        if None not in self._frames:
            granted.left()
            return ABSENT
        index = self._frames.index(None)
        self._frames[index] = granted
        self._map_frame(granted, index)
        return self._place.frames[index]

    def _map_frame(self, granted: Granted, index: int) -> None:
        stays = self._host.now + self._stay + self._random.randrange(self._stay)
        granted.came(index, self._host.nic_base + self._place.frames[index], stays)

    def where(self, granted: Granted) -> int:
        """Return the frame address for the endpoint's row."""
        return ABSENT if granted.place is None or granted.leaving else self._place.frames[granted.place]

    def clear(self, granted: Granted) -> None:
        """Release the frame of a freed endpoint."""
        if granted.place is not None:
            self._frames[granted.place] = None

    async def bring(self, granted: Granted) -> None:
        """Load an endpoint into the NIC's memory, unless it is there."""
        asked = self._host.now
        async with self.lock:
            if granted.freed or granted.place is not None:
                return
            begun = self._host.now
            index, out = await self._free_frame()
            room = self._host.now
            self._frames[index] = granted
            await self._request_place(granted, self._place.frames[index])
            await self._host.spend("am2_came")
            self._map_frame(granted, index)
            self.log.append(Brought(granted.number, begun - asked, room - begun - out, out, self._host.now - room))

    async def _free_frame(self) -> tuple[int, int]:
        """Return the index of a free frame, and the time of its eviction. Skips owners with messages in flight."""
        if None in self._frames:
            return self._frames.index(None), 0
        asked: list[Granted] = []
        while True:
            for owner in self._choice(self._frames):
                await self._host.spend("am2_choose")
                index, begun = owner.place, self._host.now
                if index is None or begun < owner.until:
                    continue
                if await self._evict(owner):
                    out = self._host.now - begun
                    await self._cancel_evictions([one for one in asked if one is not owner])
                    return index, out
                if owner not in asked:
                    asked.append(owner)
            soonest = min(owner.until for owner in self._frames if owner) - self._host.now
            pause = max(0 if asked else soonest, ASK_AGAIN_US * US_PS)
            await self._host.sleep(pause, "a frame of the NIC's memory to become quiet")

    async def _evict(self, owner: Granted) -> bool:
        """Start the eviction of an endpoint. Return False if it has messages in flight; it accepts no new ones
        meanwhile.
        """
        await self._host.spend("am2_leaves")
        owner.leaves()
        if await self._request_place(owner, ABSENT) == NOT_YET:
            return False
        owner.left()
        return True

    async def _cancel_evictions(self, owners: list[Granted]) -> None:
        """Cancel the evictions of endpoints that are not needed."""
        for owner in owners:
            assert owner.place is not None
            await self._request_place(owner, self._place.frames[owner.place])
            owner.stays()
