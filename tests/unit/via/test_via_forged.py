"""Protection of deregistered memory against forged statuses.

Strategy: a process posts sends and receives of every level, of random sizes and from random places. It writes statuses
into descriptors that the NIC still holds, and deregisters their memory or destroys their VI as soon as possible. Freed
frames are filled with a pattern at once and not reused; the pattern must be intact at the end. Another connection
carries messages meanwhile, whose bytes are checked.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from firmware.via.formats import Field, Reliability
from firmware.via.host import Descriptor, Vi, VipError
from firmware.via.nic.layout import State
from pymodels.host.pages import PAGE
from pymodels.host.process import Process
from tb.studies.via._via import connect
from tests.unit.via.via_bench import Pair, pair, pattern

PATTERN = bytes(range(1, 252))
PAGES = 4
ROUNDS = 30


@dataclass
class Forger:
    """Hostile process, and the frames that it has freed."""

    p: Pair
    seed: int
    given_up: list[int] = field(default_factory=list)
    """Freed frames."""
    refused: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.p.machine.host(0).frames.give_back = lambda frames: None  # type: ignore[method-assign]

    @property
    def process(self) -> Process:
        """Hostile process."""
        return self.p.here.process

    async def run(self, level: Reliability) -> None:
        """Run rounds on separate connections."""
        for turn in range(ROUNDS):
            mine, yours = await connect(self.p.here, self.p.there, 1, reliability=level)
            await self._round(mine, yours, turn)
            if mine.state is not State.CLOSED:
                await mine.disconnect()
            while yours.state is State.CONNECTED:
                await self.p.machine.host(1).sleep(1_000_000)
            await yours.disconnect()
            while len(yours.receives):
                await yours.poll_receive()
            await yours.destroy()

    async def _round(self, mine: Vi, yours: Vi, turn: int) -> None:
        """Post, forge, free."""
        memory = self.process.allocate(PAGE * PAGES)
        handle = await self.p.here.nic.register_memory(memory, PAGE * PAGES, self.p.here.tag)
        places = await self._post(mine, yours, memory, handle)
        await self.p.machine.host(0).sleep(self.rng.randrange(1, 40_000_000))
        frames = [self.process.pieces(memory + PAGE * i, PAGE)[0][0] for i in range(PAGES)]
        for tries in range(2000):
            try:
                await self._take_back(mine, places, destroy=turn % 2 == 0)
                await self.p.here.nic.deregister_memory(handle)
                break
            except VipError:
                self.refused += 1
                if tries >= 20 * (turn % 3) and mine.state is not State.CLOSED:
                    await mine.disconnect()  # what is posted is flushed
                await self.p.machine.host(0).sleep(300_000)
        else:
            raise AssertionError("memory can never be deregistered again")
        self.process.free(memory, PAGE * PAGES)
        for frame in frames:
            self.p.machine.host(0).store_bytes(frame, _filled(frame))
        self.given_up += frames

    async def _post(self, mine: Vi, yours: Vi, memory: int, handle: int) -> list[Descriptor]:
        """Post sends, which the other side receives, and receives without messages."""
        count, there = self.rng.choice((1, 2, 5)), self.p.there
        for i in range(count):
            await yours.post_receive(there.descriptor(i).receive([there.part(PAGE * i, 2 * PAGE)]))
        places = [self.p.here.nic.descriptor(memory + 64 * i, handle) for i in range(2 * count)]
        for i in range(count):
            size = self.rng.choice((4, 100, 3000, PAGE))
            await mine.post_send(places[i].send([(memory + PAGE, handle, size)]))
            await mine.post_receive(places[count + i].receive([(memory + 2 * PAGE, handle, PAGE)]))
        return places

    async def _take_back(self, mine: Vi, places: list[Descriptor], destroy: bool) -> None:
        """Deregister as if all descriptors were complete."""
        for place in places:
            self.process.store_words(place.va + Field.STATUS, (1,))
        for queue in (mine.sends, mine.receives):
            while await queue.done():
                pass
        if destroy and mine.context.process is not None and mine.state is State.CLOSED:
            await mine.destroy()


def _filled(frame: int) -> bytes:
    """Return the pattern of a frame."""
    at = frame // PAGE % len(PATTERN)
    return ((PATTERN[at:] + PATTERN) * (PAGE // len(PATTERN) + 2))[:PAGE]


async def honest(p: Pair) -> int:
    """Send messages on another connection, check each byte, and return their number."""
    for i in range(20):
        p.there.write(1 << 16, pattern(1000, i))
        await p.mine.post_receive(p.here.descriptor(0).receive([p.here.part(0, 1000)]))
        await p.yours.post_send(p.there.descriptor(40).send([p.there.part(1 << 16, 1000)]))
        await p.mine.poll_receive()
        await p.yours.poll_send()
        assert p.here.read(0, 1000) == pattern(1000, i)
    return 20


@pytest.mark.parametrize("level", list(Reliability))
@pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
def test_deregistered_memory_is_never_written(preset: str, level: Reliability) -> None:
    p = pair(preset=preset, vis=40)
    forger = Forger(p, int(level))
    p.machine.finish(forger.run(level), honest(p))
    p.machine.run(until_us=p.machine.kernel.now / 1e6 + 20_000)
    host = p.machine.host(0)
    wrong = [frame for frame in forger.given_up if host.load_bytes(frame, PAGE) != _filled(frame)]
    assert len(forger.given_up) == PAGES * ROUNDS
    assert not wrong, f"{len(wrong)} frames of {len(forger.given_up)} were written by nobody's descriptors"
    if preset == "firmvia":
        assert forger.refused, "it was too early now and then"
