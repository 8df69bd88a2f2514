"""Connection of a program: its two sides, and how they connect and disconnect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from firmware.via.formats import Reliability, Status
from firmware.via.host import Connection, Result, VipError
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.nic.layout import State
from tb.fuzz.program import Act
from tb.studies.via.fuzz.cluster import Cluster
from tb.studies.via.fuzz.completions import Completions
from tb.studies.via.fuzz.queue import Epoch
from tb.studies.via.fuzz.side import Side

TRIES = 6
"""Maximum number of attempts to connect on a network that loses packets."""
CONNECT_US, CROWDED_US = 20_000, 200_000
"""Connection time-out in us, without and with hostile processes.

A process that wakes on a host with hostile processes may wait for a quantum of each (10 ms).
"""
LAST_US = 2000
"""Time for pending operations after an error, us."""
LOOK_PS = 20_000_000
Attempt = tuple[Side, Callable[[], Awaitable[Any]]]
"""Call by which one side tries to connect."""


class Link:
    """Two VIs of a connection and its reference state."""

    def __init__(self, cluster: Cluster, act: Act) -> None:
        self.cluster, self.act = cluster, act
        self.level = Reliability[str(act.values["level"]).upper()]
        self.most = act.whole("most") and min(act.whole("most"), cluster.options.transfer)
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
        """Number of acts so far."""
        self.request: Connection | None = None
        """Last connection request that the server received."""
        self.lent: list[Callable[[], None]] = []
        """Actions at the end of the program for lent memory."""

    @property
    def faults(self) -> bool:
        """True if the network loses, damages, reorders or duplicates packets."""
        return bool(self.cluster.program.faults)

    @property
    def connected(self) -> bool:
        """True if the connection is established at both ends."""
        return self.alive and all(side.vi.state is State.CONNECTED for side in self.sides)

    @property
    def reliable(self) -> bool:
        """True if no message may be lost on this connection."""
        return self.level is not Reliability.UNRELIABLE

    @property
    def patience_us(self) -> int:
        """Time-out of a connection attempt, us."""
        return CROWDED_US if any(act.values.get("hostile") for act in self.cluster.program.acts) else CONNECT_US

    # ---- VIs

    async def make(self) -> None:
        """Create both VIs and connect them."""
        mask = self.act.whole("queues")
        for side in self.sides:
            side.epoch = Epoch(self.level)
            if side.completions == [None, None]:
                await self._create_queues(side, mask >> 2 * side.number & 3)
            await side.create(self._attributes(side))
        await self.connect()

    def _attributes(self, side: Side, write: bool = True, read: bool = True) -> ViAttributes:
        return ViAttributes(side.owner.tag, self.level, self.most or self.cluster.options.transfer, write, read)

    async def _create_queues(self, side: Side, mask: int) -> None:
        """Create completion queues for the work queues in `mask`: one each, one for both, or that of the process."""
        kind, entries = self.act.values["completions"], self.act.whole("entries")
        one: Completions | None = side.owner.shared if kind == "process" else None
        for queue in range(2):
            if mask >> queue & 1:
                if kind == "each" or one is None:
                    one = await side.owner.completions(entries)
                side.completions[queue] = one

    async def reshape(self, level: Reliability, most: int, denied: int) -> None:
        """Change the attributes of both VIs, which have no connection. `denied`: bits for writes and reads of each
        side.
        """
        self.level, self.most = level, most and min(most, self.cluster.options.transfer)
        for side in self.sides:
            mask = denied >> 2 * side.number
            await side.change(self._attributes(side, not mask & 1, not mask & 2))

    # ---- connections

    async def connect(self) -> None:
        """Connect the two sides."""
        for _ in range(TRIES if self.faults else 1):
            epoch = Epoch(self.level, {"faults"} if self.faults else set())
            for side in self.sides:
                side.epoch, side.broken = epoch, 0
            self.alive = all(error is None for error in await self.attempt(*self.calls()))
            if self.alive:
                return
            for side in self.sides:
                await side.disconnect()

    def calls(self) -> list[Attempt]:
        """Return the calls of the sides in their roles."""
        self.number += 1
        self.request = None
        if self.role == "peer":
            return [(side, partial(self._meet, side)) for side in self.sides]
        return [(self.server, self._serve), (self.client, self.ask)]

    async def attempt(self, *calls: Attempt, may: tuple[Result, ...] = ()) -> list[VipError | None]:
        """Run all calls concurrently and return the error of each, or None.

        Errors count as failures unless packets may be lost or the code is in `may`.
        """

        async def one(side: Side, call: Callable[[], Awaitable[Any]]) -> VipError | None:
            try:
                await call()
            except VipError as error:
                if not self.faults and not self.hostile and error.result not in may:
                    side.wrong(f"connecting: {error}")
                return error
            return None

        tasks = [side.owner.process.spawn(one(side, call), "connecting") for side, call in calls]
        return [await task.finished for task in tasks]

    @property
    def client(self) -> Side:
        """Side that requests the connection."""
        return self.sides[self.role == "server"]

    @property
    def server(self) -> Side:
        """Side that accepts the connection."""
        return self.sides[self.role != "server"]

    @property
    def discriminator(self) -> int:
        """Discriminator of the current connection attempt."""
        return 100 * self.act.node + self.number

    async def _meet(self, side: Side) -> None:
        other = self.sides[1 - side.number].owner.node
        await side.vi.connect_peer_request(other, self.discriminator, self.patience_us)
        while self.number % 2 and await side.vi.connect_peer_done() is None:
            await side.owner.nic.host.sleep(LOOK_PS, "a peer")
        self._same(side, await side.vi.connect_peer_wait())

    async def next_request(self) -> Connection:
        """Return the server's next connection request."""
        found = await self.server.owner.nic.connect_wait(self.discriminator, self.patience_us)
        self._same(self.server, found.attributes)
        self.request = found
        return found

    async def _serve(self) -> None:
        await self.server.owner.nic.connect_accept(await self.next_request(), self.server.vi)

    async def ask(self) -> None:
        """Request the connection as the client."""
        client = self.client
        found = await client.vi.connect_request(self.server.owner.node, self.discriminator, self.patience_us)
        self._same(client, found)

    def _same(self, side: Side, attributes: ViAttributes) -> None:
        """Check that a side received the other side's attributes."""
        its = self.sides[1 - side.number].attributes
        if (attributes.reliability, attributes.most) != (its.reliability, its.most):
            side.wrong(f"the peer is reported with {attributes}, but has {its}")

    async def part(self, load: int) -> None:
        """End the connection after all posts are done, or with outstanding posts (`load`)."""
        epoch = self.sides[0].epoch
        if not load and not epoch.excuses:
            for side in self.sides:
                if not await side.until(side.idle):
                    self._standing(side)
            await self.sides[0].owner.nic.host.sleep(LAST_US * 1_000_000, "sent messages to arrive")
        elif not all(side.idle() for side in self.sides):
            epoch.excuses.add("ended under load")
            await self.sides[0].owner.nic.host.sleep(LAST_US * 500_000, "operations in flight")
        broken = [side.vi.state is State.ERROR for side in self.sides]
        for side in self.sides if load % 2 else self.sides[::-1]:
            await side.disconnect()
        for side, was in zip(self.sides, broken, strict=True):
            if not await side.until(side.idle, 20 * LAST_US * 1_000_000):
                self._standing(side)
            self._check_notified(side, was)
        self._honest(epoch)
        self.alive = False

    def _standing(self, side: Side) -> None:
        for queue in (side.sends, side.receives):
            for post in queue.posted:
                side.wrong(f"{post.what} never ends")

    def _check_notified(self, side: Side, broken: bool) -> None:
        """Check that a process is notified once of a broken connection."""
        if side.broken > 1 or (broken and not side.broken):
            side.wrong(f"the process was notified {side.broken} times of a broken connection")

    def _honest(self, epoch: Epoch) -> None:
        """Check that data reported as delivered by reliable reception are in the receiver's memory."""
        for side in self.sides:
            for post in epoch.streams[side.number]:
                lost = post.done and not post.arrived and post.status == Status.DONE
                if lost and (epoch.level is Reliability.RECEPTION or not epoch.excuses):
                    side.wrong(f"{post.what} is done, but has not arrived")

    async def end(self) -> None:
        """Disconnect and destroy both VIs; hostile ones are left as they are."""
        if self.hostile:
            return
        if self.alive:
            await self.part(0)
        for side in self.sides:
            await side.destroy()
            own = {id(model): model for model in side.completions if model is not None and not model.shared}
            for completions in own.values():
                await side.call("destroy a queue", completions.queue.destroy)
            side.completions = [None, None]
        for look in self.lent:
            look()
