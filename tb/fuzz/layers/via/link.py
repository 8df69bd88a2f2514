"""A connection of a program: its two sides, how they are connected and parted, and the acts that happen on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from firmware.host.via import Result, VipError
from firmware.nic.via.layout import State
from pymodels.formats.via import Reliability, Status
from tb.fuzz.layers.via.cluster import Cluster
from tb.fuzz.layers.via.hostile import Hostile
from tb.fuzz.layers.via.misuse import MISUSES, wrong_send
from tb.fuzz.layers.via.owner import CLOSED, OPEN, PLAIN, Area, Part
from tb.fuzz.layers.via.queue import Epoch, Post
from tb.fuzz.layers.via.side import Side, cut
from tb.fuzz.program import Act

TRIES = 6
"""To connect, where packets are lost."""
CONNECT_US = 20_000
LAST_US = 2000
"""After an error, for what is under way."""


class Link:
    """Two VIs."""

    def __init__(self, cluster: Cluster, act: Act) -> None:
        self.cluster, self.act = cluster, act
        self.level = Reliability[str(act.values["level"]).upper()]
        self.role = str(act.values["role"])
        process = act.whole("process")
        owners = (cluster.owners[act.whole("first")][process], cluster.owners[act.whole("second")][process])
        first, second = (Side(cluster, owner, i, f"link {act.node}, {owner}") for i, owner in enumerate(owners))
        self.sides = (first, second)
        self.hostile = bool(act.whole("hostile"))
        for owner in owners:
            owner.hostile |= self.hostile
        self.alive = False
        self.number = 0
        """Acts so far."""

    # ---- connections

    async def make(self) -> None:
        """Create both VIs, and connect them."""
        queues, most = self.act.whole("queues"), min(self.act.whole("most"), self.cluster.options.transfer)
        for side in self.sides:
            side.epoch = Epoch(self.level)
            await side.create(self.level, most, queues >> 2 * side.number & 3)
        await self.connect()

    async def connect(self) -> None:
        """Connect the two."""
        faults = bool(self.cluster.program.faults)
        for _ in range(TRIES if faults else 1):
            epoch = Epoch(self.level, {"faults"} if faults else set())
            for side in self.sides:
                side.epoch, side.broken = epoch, 0
            self.number += 1
            calls = self._peers() if self.role == "peer" else self._client_and_server()
            self.alive = all([await task.finished for task in calls])
            if self.alive:
                return
            for side in self.sides:
                await side.disconnect()

    def _spawn(self, side: Side, call: Callable[[], Awaitable[Any]]) -> Any:
        async def attempt() -> bool:
            try:
                await call()
            except VipError as error:
                if not self.cluster.program.faults:
                    side.wrong(f"connecting: {error}")
                return False
            return True

        return side.owner.process.spawn(attempt(), "connecting")

    @property
    def _discriminator(self) -> int:
        return 100 * self.act.node + self.number

    def _peers(self) -> list[Any]:
        async def meet(side: Side) -> None:
            other = self.sides[1 - side.number].owner.node
            await side.vi.connect_peer_request(other, self._discriminator, CONNECT_US)
            await side.vi.connect_peer_wait()

        return [self._spawn(side, partial(meet, side)) for side in self.sides]

    def _client_and_server(self) -> list[Any]:
        client, server = self.sides if self.role == "client" else self.sides[::-1]

        async def serve() -> None:
            nic = server.owner.nic
            await nic.connect_accept(await nic.connect_wait(self._discriminator, CONNECT_US), server.vi)

        async def ask() -> None:
            await client.vi.connect_request(server.owner.node, self._discriminator, CONNECT_US)

        return [self._spawn(server, serve), self._spawn(client, ask)]

    async def part(self, load: int) -> None:
        """End the connection: when all is done, or with what is posted (`load`)."""
        epoch = self.sides[0].epoch
        if not load and not epoch.excuses:
            for side in self.sides:
                if not await side.until(side.idle):
                    self._standing(side)
            await self.sides[0].owner.nic.host.sleep(LAST_US * 1_000_000, "what is sent, and not there")
        elif not all(side.idle() for side in self.sides):
            epoch.excuses.add("ended under load")
            await self.sides[0].owner.nic.host.sleep(LAST_US * 500_000, "what is under way")
        for side in self.sides if load % 2 else self.sides[::-1]:
            await side.disconnect()
        for side in self.sides:
            if not await side.until(side.idle, 20 * LAST_US * 1_000_000):
                self._standing(side)
        self._honest(epoch)
        self.alive = False

    def _standing(self, side: Side) -> None:
        for queue in (side.sends, side.receives):
            for post in queue.posted:
                side.wrong(f"{post.what} never ends")

    def _honest(self, epoch: Epoch) -> None:
        """What reliable reception has called done is there."""
        for side in self.sides:
            for post in epoch.streams[side.number]:
                lost = post.done and not post.arrived and post.status == Status.DONE
                if lost and (epoch.level is Reliability.RECEPTION or not epoch.excuses):
                    side.wrong(f"{post.what} is done, and has not arrived")

    async def end(self) -> None:
        """Part, and give both VIs back. Hostile ones stay as they are."""
        if self.hostile:
            return
        if self.alive:
            await self.part(0)
        for side in self.sides:
            await side.call("destroy", side.vi.destroy)
            for queue in side.queues:
                if queue is not None:
                    await side.call("destroy a queue", queue.destroy)
            side.queues = [None, None]

    # ---- acts

    async def act_on(self, act: Act) -> None:
        """Do one; on a hostile connection, garbage."""
        if self.hostile or act.name.startswith("garbage"):
            if self.hostile and self.alive:
                side, other = self._sides(act) if "side" in act.values else self.sides
                seed, times = (int(act.values.get(name, default)) for name, default in (("seed", 0), ("times", 4)))
                await Hostile(side, other, seed).run(times)
            return
        await getattr(self, "do_" + act.name.replace(" ", "_"))(act)

    def _sides(self, act: Act) -> tuple[Side, Side]:
        """Who acts, and the other one."""
        side = self.sides[act.whole("side")]
        return side, self.sides[1 - side.number]

    def _size(self, act: Act, side: Side) -> int:
        size = min(act.whole("bytes"), side.most)
        return size if side.owner.nic.host.card.moves_bytes else size // 4 * 4

    async def _pieces(self, side: Side, area: Area, size: int, pieces: int) -> list[Part] | None:
        if not self.alive or not await side.room(side.sends):
            return None
        return area.take(cut(size, pieces, area))

    async def do_message(self, act: Act) -> None:
        """A send, and a receive for it."""
        side, other = self._sides(act)
        size = self._size(act, side)
        extra = min(size + act.whole("extra") // 4 * 4, other.most)
        if self.alive and await other.receive(str(act), extra, act.whole("parts")):
            await self._send(act, size, act.whole("pieces"), act.whole("immediate"))

    do_message_too = do_message

    async def _send(self, act: Act, size: int, pieces: int = 1, immediate: int = 0, **ends: Any) -> None:
        side, _ = self._sides(act)
        area = side.owner.areas[PLAIN]
        parts = await self._pieces(side, area, size, pieces)
        if parts is None:
            side.epoch.excuses.add("a receive without its send")
            return
        self.number += 1
        number = self.number if immediate else None
        descriptor = side.owner.place().send(area.segments(parts), number)
        post = Post(f"{act}", descriptor, area, parts, data=area.read(parts), immediate=number, consumes=True, **ends)
        side.epoch.streams[side.number].append(post)
        await side.post(side.sends, post)

    async def do_messages(self, act: Act) -> None:
        """Several as fast as they go."""
        side, other = self._sides(act)
        size = min(self._size(act, side), 2000)
        for _ in range(act.whole("times")):
            if self.alive and await other.receive(str(act), size, 1):
                await self._send(act, size)

    async def do_burst(self, act: Act) -> None:
        """As many receives as a queue cache may not hold, then as many sends."""
        side, other = self._sides(act)
        size, posted = min(self._size(act, side), 2000), 0
        while posted < act.whole("many") and self.alive and await other.receive(str(act), size, 4):
            posted += 1
        for _ in range(posted):
            await self._send(act, size)

    async def do_long_message(self, act: Act) -> None:
        """A message of more pages than a small queue cache holds."""
        side, other = self._sides(act)
        size, cuts = min(1000 * act.whole("kilobytes"), side.most) // 4 * 4, act.whole("cuts")
        if self.alive and await other.receive(str(act), size, cuts):
            await self._send(act, size, cuts)

    async def do_write(self, act: Act) -> None:
        """An RDMA write, with immediate data a receive for it."""
        side, other = self._sides(act)
        size, immediate = self._size(act, side), act.whole("immediate")
        area, there = side.owner.areas[PLAIN], other.owner.areas[OPEN]
        target = there.take([size])
        if not self.alive or target is None or (immediate and not await other.receive(str(act), 0, 1)):
            return
        parts = await self._pieces(side, area, size, act.whole("pieces"))
        if parts is None:
            side.epoch.excuses.add("a receive without its write")
            return
        self.number += 1
        number = self.number if immediate else None
        va = there.va + target[0][0]
        descriptor = side.owner.place().rdma_write(area.segments(parts), va, there.handle, number)
        there.loosen(target)
        data = area.read(parts)
        post = Post(str(act), descriptor, area, parts, Status.DONE, data, number, bool(immediate), (there, target))
        if immediate:
            side.epoch.streams[side.number].append(post)
        await side.post(side.sends, post)

    async def do_read(self, act: Act) -> None:
        """An RDMA read; on an unreliable connection it is refused."""
        side, other = self._sides(act)
        size = self._size(act, side)
        area, there = side.owner.areas[PLAIN], other.owner.areas[OPEN]
        source = there.take([size])
        parts = await self._pieces(side, area, size, act.whole("pieces"))
        if source is None or parts is None:
            return
        descriptor = side.owner.place().rdma_read(area.segments(parts), there.va + source[0][0], there.handle)
        reliable = self.level is not Reliability.UNRELIABLE
        if reliable:
            area.loosen(parts)
        status = Status.DONE if reliable else Status.DONE | Status.FORMAT_ERROR
        await side.post(side.sends, Post(str(act), descriptor, area, parts, status, there.read(source), fetches=True))

    async def do_wrong(self, act: Act) -> None:
        """A descriptor that cannot be: its status says so."""
        side, other = self._sides(act)
        if not self.alive or not await side.room(side.sends):
            return
        descriptor, status = wrong_send(str(act.values["what"]), side, other)
        if self.cluster.options.user_level:
            side.epoch.excuses.add("a wrong descriptor")
        area = side.owner.areas[PLAIN]
        await side.post(side.sends, Post(str(act), descriptor, area, [], Status.DONE | status))

    async def do_take(self, act: Act) -> None:
        """Take back what is done, in one of three ways."""
        side, _ = self._sides(act)
        waits = self.alive and not side.epoch.excuses
        for queue, work in ((side.sends, side.vi.sends), (side.receives, side.vi.receives)):
            told = side.queues[0 if queue is side.sends else 1]
            if act.values["how"] == "done" or not waits or not queue.posted or told is not None:
                await side.take_all()
                continue
            call = work.poll if act.values["how"] == "poll" else partial(work.wait, 100_000)
            descriptor = await side.call(str(act), call)
            if descriptor is not None:
                queue.ended(descriptor)

    async def do_receive_nothing(self, act: Act) -> None:
        """A send without a receive: dropped, or the end of a reliable connection."""
        side, _ = self._sides(act)
        side.epoch.excuses.add("a send without a receive")
        await self._send(act, self._size(act, side))

    async def do_too_long(self, act: Act) -> None:
        """A receive that is too short."""
        side, other = self._sides(act)
        size = max(self._size(act, side), 8)
        side.epoch.excuses.add("a receive that is too short")
        if self.alive and await other.receive(str(act), size - 4, 1):
            await self._send(act, size)

    async def do_forbidden(self, act: Act) -> None:
        """An RDMA operation that is not allowed: nothing is written, nothing is read."""
        side, other = self._sides(act)
        if not self.alive or (act.values["operation"] == "read" and self.level is Reliability.UNRELIABLE):
            return
        area, size = side.owner.areas[PLAIN], max(self._size(act, side), 4)
        parts = await self._pieces(side, area, size, 1)
        if parts is None:
            return
        stranger = self.cluster.owners[other.owner.node][1 - other.owner.number].areas[OPEN]
        there = other.owner.areas[OPEN]
        va, handle = {
            "closed": (other.owner.areas[CLOSED].va, other.owner.areas[CLOSED].handle),
            "beyond": (there.va + there.size - size + 4, there.handle),
            "foreign": (stranger.va, stranger.handle),
            "nothing": (there.va, 0x12345000),
        }[str(act.values["memory"])]
        side.epoch.excuses.add("a forbidden operation")
        if act.values["memory"] == "beyond":  # what comes before its end may be written
            there.loosen([(there.size - size + 4, size - 4)])
        place = side.owner.place()
        make = place.rdma_read if act.values["operation"] == "read" else place.rdma_write
        post = Post(str(act), make(area.segments(parts), va, handle), area, parts, forbidden=True)
        await side.post(side.sends, post)

    async def do_renew(self, act: Act) -> None:
        """Part and connect again, perhaps in other roles."""
        if self.alive:
            await self.part(act.whole("load"))
        self.role = str(act.values["role"])
        await self.connect()

    async def do_remake(self, act: Act) -> None:
        """The same with new VIs."""
        if self.alive:
            await self.part(act.whole("load"))
        for side in self.sides:
            await side.call("destroy", side.vi.destroy)
        self.role = str(act.values["role"])
        await self.make()

    async def do_register(self, act: Act) -> None:
        """A message from memory that is taken back at once: refused while the NIC uses it, and never harmful."""
        side, other = self._sides(act)
        size = self._size(act, side)
        if not size or not self.alive or not await side.room(side.sends) or not await other.receive(str(act), size, 1):
            return
        owner = side.owner
        va = owner.process.allocate(size)
        handle = await side.call(
            "register", lambda: owner.nic.register_memory(va, size, owner.tag), (Result.ERROR_RESOURCE,)
        )
        if handle is None:
            side.epoch.excuses.add("a receive without its send")
            return
        area = Area(owner, va, handle, size, 77 * self.number % 4096)
        descriptor = owner.place().send([(va, handle, size)])
        post = Post(str(act), descriptor, area, [(0, size)], data=area.read([(0, size)]), consumes=True)
        side.epoch.streams[side.number].append(post)
        await side.post(side.sends, post)
        freed = await self._freed(side, handle, post)
        if not freed and self._unlimited:
            await self.part(1)
            freed = await self._freed(side, handle, post)
        if freed:
            owner.process.free(va, size)
        else:
            side.wrong(f"{act}: its memory is in use for ever")

    @property
    def _unlimited(self) -> bool:
        """Whether a send of which a packet, or the answer, is lost waits until its connection ends."""
        return bool(self.cluster.program.faults) and not self.cluster.options.timeout_us

    async def _freed(self, side: Side, handle: int, post: Post) -> bool:
        """Take back the memory of a send, as soon as it may be."""
        nic = side.owner.nic
        for _ in range(400):
            try:
                await nic.deregister_memory(handle)
            except VipError:
                await side.take_all()
                await nic.host.sleep(500_000_000, "memory in use")
                if side.vi.state is State.ERROR:
                    await side.take_all()
                continue
            if self.cluster.options.user_level and post in side.sends.posted:
                side.epoch.excuses.add("memory taken back")  # which the kernel cannot know of
            return True
        return False

    async def do_misuse(self, act: Act) -> None:
        """A wrong call."""
        side, other = self._sides(act)
        if self.alive and side.vi.state is State.CONNECTED:
            name = str(act.values["misuse"])
            await side.refused(f"misuse: {name}", lambda: MISUSES[name](side, other))

    async def do_stop(self, act: Act) -> None:
        """Do nothing for some time."""
        await self.sides[0].owner.nic.host.sleep(act.whole("us") * 1_000_000, "a pause")
