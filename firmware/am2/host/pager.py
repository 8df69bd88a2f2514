"""The driver's pager: endpoints come into the NIC's memory when a process stores to them, or a message comes for them.

One frame moves at a time. An endpoint that has come stays for a time-out at least, so that it has had its turn, and a
message that was refused while it was absent can come again. How much longer is random, up to another time-out: else two
endpoints that write to each other, on nodes that page in the same rhythm, can miss each other for ever.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from firmware.am2.host.choices import choice_of
from firmware.am2.host.granted import Granted
from firmware.am2.nic.layout import ABSENT, NOT_YET, Place
from firmware.am2.options import Options
from firmware.common.host.lock import Lock
from firmware.verbs import Host

US_PS, ASK_AGAIN_US = 1_000_000, 20

Tell = Callable[[Granted, int], Awaitable[int]]
"""Tell the NIC where an endpoint's frame is to be; its answer: 0, or NOT_YET."""


class Brought(NamedTuple):
    """One that was brought: what it took, picoseconds."""

    number: int
    waited: int
    """For those who were before it."""
    room: int
    """To choose who leaves, and until it could."""
    out: int
    """Until that one's frame was in host memory; 0: one was free."""
    back: int
    """Until its own was in the NIC's memory."""


class Pager:
    """Of one host."""

    def __init__(self, host: Host, options: Options, place: Place, seed: int, tell: Tell) -> None:
        self._host, self._place, self._tell = host, place, tell
        self._stay = options.timeout_us * US_PS
        self._frames: list[Granted | None] = [None] * options.frames
        self._random = random.Random(seed)
        self._choice = choice_of(options.replace, seed)
        self.lock = Lock(host, "the pager of AM-II")
        """Whoever has it may move frames, or free endpoints."""
        self.log: list[Brought] = []
        """Of all endpoints that were brought."""

    def settle(self, granted: Granted) -> int:
        """A new endpoint takes a frame that is free: its address; ABSENT: none is, and it begins in host memory."""
        if None not in self._frames:
            granted.left()
            return ABSENT
        index = self._frames.index(None)
        self._frames[index] = granted
        self._came(granted, index)
        return self._place.frames[index]

    def _came(self, granted: Granted, index: int) -> None:
        stays = self._host.now + self._stay + self._random.randrange(self._stay)
        granted.came(index, self._host.nic_base + self._place.frames[index], stays)

    def where(self, granted: Granted) -> int:
        """What the row says of its frame."""
        return ABSENT if granted.place is None or granted.leaving else self._place.frames[granted.place]

    def clear(self, granted: Granted) -> None:
        """It was freed: its frame is free too."""
        if granted.place is not None:
            self._frames[granted.place] = None

    async def bring(self, granted: Granted) -> None:
        """Bring an endpoint into the NIC's memory, if it is not there."""
        asked = self._host.now
        async with self.lock:
            if granted.freed or granted.place is not None:
                return
            begun = self._host.now
            index, out = await self._room()
            room = self._host.now
            self._frames[index] = granted
            await self._tell(granted, self._place.frames[index])
            await self._host.spend("am2_came")
            self._came(granted, index)
            self.log.append(Brought(granted.number, begun - asked, room - begun - out, out, self._host.now - room))

    async def _room(self) -> tuple[int, int]:
        """A frame that is free, and how long its owner took to leave. Whose messages are under way is passed over."""
        if None in self._frames:
            return self._frames.index(None), 0
        asked: list[Granted] = []
        while True:
            for owner in self._choice(self._frames):
                await self._host.spend("am2_choose")
                index, begun = owner.place, self._host.now
                if index is None or begun < owner.until:
                    continue
                if await self._leaves(owner):
                    out = self._host.now - begun
                    await self._stays([one for one in asked if one is not owner])
                    return index, out
                if owner not in asked:
                    asked.append(owner)
            soonest = min(owner.until for owner in self._frames if owner) - self._host.now
            pause = max(0 if asked else soonest, ASK_AGAIN_US * US_PS)
            await self._host.sleep(pause, "a frame of the NIC's memory to become quiet")

    async def _leaves(self, owner: Granted) -> bool:
        """Ask an endpoint to leave; False: something of it is under way, and it takes nothing more meanwhile."""
        await self._host.spend("am2_leaves")
        owner.leaves()
        if await self._tell(owner, ABSENT) == NOT_YET:
            return False
        owner.left()
        return True

    async def _stays(self, owners: list[Granted]) -> None:
        """Those that were asked to leave, and need not."""
        for owner in owners:
            assert owner.place is not None
            await self._tell(owner, self._place.frames[owner.place])
            owner.stays()
