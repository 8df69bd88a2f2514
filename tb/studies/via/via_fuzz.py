"""Can a hostile process disturb another's messages, or stop the NIC?

Strategy (issue: protection and bad input): on each host a hostile process and an honest one share the NIC. The hostile
ones post descriptors of random bytes, addresses, handles, lengths and flags, right ones among them, on connections
between each other; with user-level doorbells they also write anything into their own pages of the NIC, and into
others', which must be a protection fault. Meanwhile the honest ones send messages of random sizes, whose bytes,
statuses and guard bytes are checked one by one. At the end every NIC must still serve a new connection.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from dataclasses import replace

from firmware.via.formats import Reliability, Segment, Status
from firmware.via.host import Descriptor, Vi, VipError
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.layout import State
from firmware.via.nic.user_pages import PAGE
from pymodels.host import ProtectionFault
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.via._via import User, connect, join, user

LAYER = "via"
OPTIONS = {
    "tries": Option(300, "hostile acts, both hosts together; 10000 for the long run", 2, 1_000_000),
    "every_us": Option(4, "pause between two acts of one process", 0, 1_000_000),
    **layer_options(LAYER),
    "via.timeout_us": Option(
        100_000, "time limit of reliable sends: hostile messages of 64 KB may precede them", 0, 1_000_000
    ),
}
QUICK = "tries=60"
HONEST, GUARD = 3000, 64
"""Maximum size of an honest message in bytes, and of the guard bytes around it."""
PLACES = 64


class Hostile:
    """Process that misuses its connection at random."""

    def __init__(self, lab: Lab, owner: User, vi: Vi, peer: User, node: int) -> None:
        self.lab, self.user, self.vi, self.peer = lab, owner, vi, peer
        self.rng = random.Random(f"{lab.seed} hostile {node}")
        self.acts: Counter[str] = Counter()
        self._number = 0

    async def run(self, acts: int) -> None:
        """Do `acts` random acts."""
        for _ in range(acts):
            await self._act()
            self.lab.findings.messages += 1
            await self.lab.kernel.sleep(self.lab.option("every_us") * 1_000_000 + 1, "the next hostile act")

    async def _act(self) -> None:
        """Do one random act."""
        own_page = isinstance(self.vi.sends.poster, ByProcess)
        acts = [self._post, self._post, self._right, self._elsewhere, *([self._page, self._page] if own_page else [])]
        try:
            await self.rng.choice(acts)()
        except ProtectionFault:
            self.acts["faults"] += 1
        except VipError:
            self.acts["refused"] += 1
            await self._take()

    async def _take(self) -> None:
        """Dequeue finished descriptors, so that more can be posted."""
        for queue in (self.vi.sends, self.vi.receives):
            while len(queue) and await queue.done() is not None:
                self.acts["done"] += 1

    def _place(self) -> Descriptor:
        self._number = (self._number + 1) % PLACES
        return self.user.descriptor(self._number, 8)

    def _word(self) -> int:
        """Return a random number that is likely to have a meaning."""
        own, other = self.user, self.peer
        known = (own.base, own.handle, own.place_handle, other.base, other.handle, 0, 1, 4095, 4096, 0xFFFFFFFF)
        return self.rng.choice(known) if self.rng.random() < 0.7 else self.rng.getrandbits(32)

    async def _post(self) -> None:
        """Post a descriptor of random words."""
        place = self._place()
        count, flags = self.rng.choice((0, 1, 1, 2, 3, 8, 0xFFFF)), self.rng.choice((0, 0, 1, 1, 4, 5, 2, 0x40, 0x8000))
        words = [self._word() for _ in range(8 * Segment.SIZE // 4)]
        for at in range(3, len(words), 4):  # lengths
            words[at] = self.rng.choice((0, 1, 8, 100, 4096, 65536, words[at]))
        head = struct.pack(">IIIHHIIII", 0, 0, 0, count, flags, 0, self._word(), 0, 0)
        self.user.process.store_bytes(place.va, head + struct.pack(f">{len(words)}I", *words))
        if self.rng.random() < 0.3:
            place.handle = self._word()
        self.acts["posts"] += 1
        await (self.vi.post_send if self.rng.random() < 0.6 else self.vi.post_receive)(place)

    async def _right(self) -> None:
        """Post a valid descriptor."""
        size = self.rng.choice((1, 8, 500, 5000))
        place, own = self._place(), self.user
        self.acts["right"] += 1
        if self.rng.random() < 0.5:
            await self.vi.post_receive(place.receive([own.part(0, size)]))
        else:
            target = self.peer.base + self.rng.randrange(1 << 18), self.peer.handle
            segments = [own.part(self.rng.randrange(1000), size)]
            remote = self.rng.choice((place.rdma_write, place.rdma_read, None))
            await self.vi.post_send(place.send(segments) if remote is None else remote(segments, *target))

    async def _elsewhere(self) -> None:
        """Store to an address outside the process's pages."""
        pages = self.user.process
        self.acts["elsewhere"] += 1
        try:
            await pages.pio_write(pages.host.nic_base + 4 * self.rng.randrange(1 << 14), b"\xff\xff\xff\xff")
        except ProtectionFault:
            self.acts["stopped"] += 1

    async def _page(self) -> None:
        """Store into the VI's page of the NIC or its doorbell page, and write a tail."""
        poster = self.vi.sends.poster
        assert isinstance(poster, ByProcess)
        begin = poster.pair - poster.pair % PAGE
        at = self.rng.choice(
            (
                begin + 4 * self.rng.randrange(64),
                *(poster.pair + 4 * i for i in range(4)),
                *range(poster.ring, poster.ring + 64, 4),
            )
        )
        self.acts["page"] += 1
        await self.user.process.pio_write(at, self._word().to_bytes(4, "big"))
        await self.user.process.pio_write(poster.pair, self.rng.choice((2, 8, 12, self._word())).to_bytes(4, "big"))


class Honest:
    """Connection with a check of every byte."""

    def __init__(self, lab: Lab, here: User, there: User, mine: Vi, yours: Vi) -> None:
        self.lab, self.here, self.there, self.mine, self.yours = lab, here, there, mine, yours
        self.rng = random.Random(f"{lab.seed} honest")
        self.stop = False
        self.messages = 0

    async def run(self) -> None:
        """Send messages until stopped, at least one."""
        while not self.stop or not self.messages:
            await self._message()

    async def _message(self) -> None:
        size = self.rng.randrange(HONEST)
        if not self.here.nic.host.card.moves_bytes:
            size -= size % 4  # a LANai 4 moves whole words and pads the last one
        data = self.rng.randbytes(size)
        around = self.rng.randbytes(size + 2 * GUARD)
        self.here.write(0, data)
        self.there.write(0, around)
        await self.yours.post_receive(self.there.descriptor(0).receive([self.there.part(GUARD, size)]))
        await self.mine.post_send(self.here.descriptor(0).send([self.here.part(0, size)]))
        received, sent = await self.yours.poll_receive(), await self.mine.poll_send()
        self.messages += 1
        expected = around[:GUARD] + data + around[GUARD + size :]
        whole = self.there.read(0, size + 2 * GUARD) == expected
        statuses = sent.status == Status.DONE and received.status == Status.DONE | Status.RECEIVE
        self.lab.check(
            "honest messages", whole and statuses, f"honest message {self.messages} of {size} bytes was disturbed"
        )


async def run(lab: Lab) -> None:
    """Run the study."""
    vias = lab.start_layer(LAYER)
    await lab.all([lab.spawn(via.start(), "the driver") for via in vias])
    last = len(vias) - 1
    honest_here, honest_there = await user(vias[0]), await user(vias[last])
    bad_here, bad_there = [await user(via, rdma_write=True, rdma_read=True) for via in (vias[0], vias[last])]
    mine, yours = await connect(honest_here, honest_there, last, reliability=Reliability.RECEPTION)
    theirs = await connect(bad_here, bad_there, last)
    honest = Honest(lab, honest_here, honest_there, mine, yours)
    sender = lab.spawn(honest.run(), "the honest processes")
    hostile = [
        Hostile(lab, bad_here, theirs[0], bad_there, 0),
        Hostile(lab, bad_there, theirs[1], bad_here, last),
    ]
    await _attack(lab, hostile, last)
    honest.stop = True
    await lab.all([sender])
    await _still_there(lab, bad_here, bad_there, last)
    acts = sum((one.acts for one in hostile), Counter[str]())
    lab.check(
        "stores to foreign pages",
        acts["elsewhere"] == acts["stopped"],
        f"{acts['elsewhere'] - acts['stopped']} stores to foreign pages were not stopped",
    )
    for name in ("posts", "right", "page", "elsewhere", "stopped", "faults", "refused", "done"):
        lab.metric(f"acts_{name}", acts[name])
    lab.metric("honest_messages", honest.messages)


async def _attack(lab: Lab, hostile: list[Hostile], last: int) -> None:
    """Do all acts in rounds; a broken connection is made again."""
    left = tries = lab.option("tries")
    while left > 0:
        part = min(left, 40)
        left -= part
        await lab.all([lab.spawn(one.run(part // 2), "a hostile process") for one in hostile])
        if State.CONNECTED not in {one.vi.state for one in hostile} or lab.seed % 2 == left // 40 % 2:
            for one in hostile:
                if one.vi.state is not State.CLOSED:
                    await one.vi.disconnect()
                await one._take()
            await _change(lab, hostile)
            await join(hostile[0].user, hostile[0].vi, hostile[1].user, hostile[1].vi, last, 100_000)
        lab.progress(tries - left, tries, "hostile acts")


async def _change(lab: Lab, hostile: list[Hostile]) -> None:
    """Change the reliability level of both VIs before a reconnection, if neither side has posted descriptors."""
    level = random.Random(f"{lab.seed} {lab.findings.messages}").choice(list(Reliability))
    before = [(await one.vi.query()).attributes for one in hostile]
    changed = 0
    try:
        for one, attributes in zip(hostile, before, strict=True):
            await one.vi.set_attributes(replace(attributes, reliability=level))
            changed += 1
    except VipError:
        hostile[changed].acts["refused"] += 1
        for one, attributes in zip(hostile[:changed], before, strict=False):
            await one.vi.set_attributes(attributes)


async def _still_there(lab: Lab, here: User, there: User, last: int) -> None:
    """Check that a new connection of the hostile processes works."""
    mine, yours = await connect(here, there, last)
    here.write(0, bytes(range(200)))
    await yours.post_receive(there.descriptor(0).receive([there.part(0, 200)]))
    await mine.post_send(here.descriptor(0).send([here.part(0, 200)]))
    await yours.poll_receive()
    lab.check("bytes after a new connection", there.read(0, 200) == bytes(range(200)), "a new connection changes bytes")
