"""End of a connection: its VI, its two queues, posting, and dequeuing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from firmware.via.host import Result, Vi, VipError
from firmware.via.host.common.attributes import ViAttributes
from firmware.via.nic.layout import State
from tb.studies.via.fuzz.completions import Completions
from tb.studies.via.fuzz.owner import PLAIN, Area, Owner
from tb.studies.via.fuzz.queue import Epoch, Post, Queue, Receives, Sends

if TYPE_CHECKING:
    from tb.studies.via.fuzz.cluster import Cluster

ABSENT = object()
"""Result of a call that cannot be made."""
PATIENCE_PS, LOOK_PS, LONGEST_LOOK_PS = 300_000_000_000, 5_000_000, 1_000_000_000


class Side:
    """Either end of a connection."""

    epoch: Epoch

    def __init__(self, cluster: Cluster, owner: Owner, number: int, what: str) -> None:
        self.cluster, self.owner, self.number, self.what = cluster, owner, number, what
        self.sends, self.receives = Sends(self), Receives(self)
        self.vi: Vi
        self.dead: Vi | None = None
        """Previous VI, destroyed."""
        self.attributes: ViAttributes
        self.completions: list[Completions | None] = [None, None]
        """Completion queues of sends and receives."""
        self.broken = 0
        """Number of times its connection broke."""

    def wrong(self, text: str) -> None:
        """Record an error."""
        self.cluster.wrong.append(f"{self.what}: {text}")

    @property
    def most(self) -> int:
        """Maximum message size in bytes."""
        return self.vi.context.attributes.most

    # ---- calls

    async def call(self, what: str, make: Callable[[], Any], may: tuple[Result, ...] = ()) -> Any:
        """Call the library and return its result, or None for an error in `may`; other errors are recorded."""
        try:
            return await make()
        except VipError as error:
            if error.result not in may:
                self.wrong(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a call raises must be an error of VIA's
            self.wrong(f"{what}: {type(error).__name__}: {error}, not a VIA error")
        return None

    async def refused(self, what: str, make: Callable[[], Any], code: Result) -> None:
        """Make a call that must fail with this code, unless a required argument is ABSENT."""
        try:
            result = make()
            if isinstance(result, Awaitable):
                result = await result
        except VipError as error:
            if error.result is not code:
                self.wrong(f"{what} was rejected with {error.result}, but {code} is expected")
            return
        except Exception as error:  # noqa: BLE001 - whatever a call raises must be an error of VIA's
            self.wrong(f"{what}: {type(error).__name__}: {error}, not a VIA error")
            return
        if result is not ABSENT:
            self.wrong(f"{what} was not rejected")

    # ---- VIs

    async def create(self, attributes: ViAttributes) -> None:
        """Create a VI that uses the completion queues."""
        nic, (sends, receives) = self.owner.nic, (model.queue if model else None for model in self.completions)
        level, most = attributes.reliability, attributes.most
        rights = attributes.rdma_write, attributes.rdma_read
        self.vi = await nic.create_vi(self.owner.tag, level, most, *rights, send_cq=sends, receive_cq=receives)
        self.attributes = attributes
        self.vi.on_error(self._broke)
        for queue, completions in zip((self.sends, self.receives), self.completions, strict=True):
            if completions is not None:
                completions.attach(queue)

    async def destroy(self) -> None:
        """Destroy the VI."""
        await self.call("destroy", self.vi.destroy)
        for queue, completions in zip((self.sends, self.receives), self.completions, strict=True):
            if completions is not None:
                completions.detach(queue)
        self.dead = self.vi

    async def change(self, attributes: ViAttributes) -> None:
        """Change the attributes of the VI, which has no connection."""
        await self.call("set attributes", lambda: self.vi.set_attributes(attributes))
        self.attributes = attributes
        state = await self.call("query", self.vi.query)
        if state is not None and (state.state is not State.CLOSED or state.attributes != attributes):
            self.wrong(f"the VI has {state}, but {attributes} are expected")

    def _broke(self) -> None:
        self.broken += 1
        self.owner.breaks += 1

    # ---- posting

    async def room(self, queue: Queue) -> bool:
        """Return True if one more descriptor may be posted; waits for earlier ones."""
        most = min(self.cluster.options.outstanding, 40)
        return await self.until(lambda: len(queue.posted) < most)

    async def post(self, queue: Queue, post: Post) -> None:
        """Post a descriptor."""
        queue.posted.append(post)
        if (completions := self.completions[queue.receives]) is not None:
            completions.posted()
        call = self.vi.post_receive if queue.receives else self.vi.post_send
        await self.call(post.what, lambda: call(post.descriptor))

    async def receive(self, what: str, size: int, parts: int) -> bool:
        """Post a receive; return False if there is no room for it."""
        area = self.owner.areas[PLAIN]
        if not await self.room(self.receives) or not self.owner.has_place(parts):
            return False
        pieces = area.take(cut(size, parts, area))
        if pieces is None:
            return False
        area.loosen(pieces)
        descriptor = self.owner.place(parts).receive(area.segments(pieces))
        await self.post(self.receives, Post(f"{what} (receive)", descriptor, area, pieces))
        return True

    # ---- taking back

    async def take(self, queue: Queue) -> bool:
        """Dequeue the oldest descriptor if it is finished, as reported by its completion queue if it has one."""
        completions = self.completions[queue.receives]
        if completions is not None and not await completions.reports_done(queue):
            return False
        descriptor = await (self.vi.receive_done() if queue.receives else self.vi.send_done())
        if descriptor is None:
            if completions is not None and not completions.overrun:
                self.wrong("a completion queue reported an unfinished descriptor")
            return False
        queue.ended(descriptor)
        return True

    async def take_all(self) -> None:
        """Dequeue all finished descriptors."""
        for queue in (self.sends, self.receives):
            while queue.posted and await self.take(queue):
                pass

    async def until(self, over: Callable[[], bool], patience: int = PATIENCE_PS) -> bool:
        """Dequeue finished descriptors until `over()` is true; return False if it never is."""
        host = self.owner.nic.host
        pause, limit = LOOK_PS, host.now + (patience if not self.epoch.excuses else patience // 20)
        while not over():
            await self.take_all()
            if over():
                break
            if host.now > limit:
                return False
            await host.sleep(pause, "the next poll")
            pause = min(2 * pause, LONGEST_LOOK_PS)
        return True

    def idle(self) -> bool:
        """Return True if nothing is posted."""
        return not self.sends.posted and not self.receives.posted

    async def disconnect(self) -> None:
        """End the connection, if there is one."""
        if self.vi.state is not State.CLOSED:
            await self.call("disconnect", self.vi.disconnect)


def cut(size: int, pieces: int, area: Area) -> list[int]:
    """Return the sizes of `pieces` pieces of a message."""
    align = 1 if area.owner.nic.host.card.moves_bytes else 4
    each = max(size // pieces // align * align, align)
    sizes: list[int] = []
    while size > each and len(sizes) + 1 < pieces:
        sizes.append(each)
        size -= each
    return [*sizes, size]
