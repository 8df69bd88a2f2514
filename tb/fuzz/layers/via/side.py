"""One end of a connection: its VI, its two queues, what its process posts, and how it takes back what is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from firmware.host.via import Result, Vi, VipError
from firmware.host.via.completion import CompletionQueue
from firmware.nic.via.layout import State
from pymodels.formats.via import Reliability, Status
from tb.fuzz.layers.via.owner import PLAIN, Area, Owner, Part
from tb.fuzz.layers.via.queue import Epoch, Post, Receives, Sends

if TYPE_CHECKING:
    from tb.fuzz.layers.via.cluster import Cluster

PATIENCE_PS, LOOK_PS, LONGEST_LOOK_PS = 300_000_000_000, 5_000_000, 1_000_000_000
QUEUE_ENTRIES = 1024


class Side:
    """One of the two."""

    epoch: Epoch

    def __init__(self, cluster: Cluster, owner: Owner, number: int, what: str) -> None:
        self.cluster, self.owner, self.number, self.what = cluster, owner, number, what
        self.sends, self.receives = Sends(self), Receives(self)
        self.queues: list[CompletionQueue | None] = [None, None]
        """Completion queues of sends and receives."""
        self.vi: Vi
        self.broken = 0

    def wrong(self, text: str) -> None:
        """Something that must not be."""
        self.cluster.wrong.append(f"{self.what}: {text}")

    @property
    def most(self) -> int:
        """Bytes of a message at most."""
        return self.vi.kernel.attributes.most

    # ---- calls

    async def call(self, what: str, make: Callable[[], Any], may: tuple[Result, ...] = ()) -> Any:
        """Call the library; None when it is refused, which only `may` allow."""
        try:
            return await make()
        except VipError as error:
            if error.result not in may:
                self.wrong(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001 - whatever a call raises must be an error of VIA's
            self.wrong(f"{what}: {type(error).__name__}: {error}, which is no error of VIA's")
        return None

    async def refused(self, what: str, make: Callable[[], Any]) -> None:
        """A call that must be refused."""
        try:
            result = make()
            if isinstance(result, Awaitable):
                await result
        except VipError:
            return
        except Exception as error:  # noqa: BLE001 - the same
            self.wrong(f"{what}: {type(error).__name__}: {error}, which is no error of VIA's")
            return
        self.wrong(f"{what} was not refused")

    # ---- VIs

    async def create(self, level: Reliability, most: int, queues: int) -> None:
        """A VI, with completion queues for the work queues of a mask."""
        nic = self.owner.nic
        for queue in range(2):
            if queues >> queue & 1 and self.queues[queue] is None:
                self.queues[queue] = await self.call(
                    "create_cq", lambda: nic.create_cq(QUEUE_ENTRIES), (Result.ERROR_RESOURCE,)
                )
        self.vi = await nic.create_vi(
            self.owner.tag, level, most or None, send_cq=self.queues[0], receive_cq=self.queues[1]
        )
        self.vi.on_error(self._broke)

    def _broke(self) -> None:
        self.broken += 1

    # ---- posting

    async def room(self, queue: Sends | Receives) -> bool:
        """Whether one more may be posted; waits for those before."""
        most = min(self.cluster.options.outstanding, 40)
        return await self.until(lambda: len(queue.posted) < most)

    async def post(self, queue: Sends | Receives, post: Post) -> None:
        """Post a descriptor."""
        queue.posted.append(post)
        call = self.vi.post_send if isinstance(queue, Sends) else self.vi.post_receive
        await self.call(post.what, lambda: call(post.descriptor))

    async def receive(self, what: str, size: int, parts: int) -> bool:
        """Post a receive; False: there is no room for it."""
        area = self.owner.areas[PLAIN]
        pieces = area.take(cut(size, parts, area)) if await self.room(self.receives) else None
        if pieces is None:
            return False
        area.loosen(pieces)
        descriptor = self.owner.place().receive(area.segments(pieces))
        await self.post(self.receives, Post(f"{what} (receive)", descriptor, area, pieces))
        return True

    # ---- taking back

    async def take(self, queue: Sends | Receives) -> bool:
        """Take the oldest descriptor back if it is done, told by its completion queue if it has one."""
        work = self.vi.sends if isinstance(queue, Sends) else self.vi.receives
        told = self.queues[0 if isinstance(queue, Sends) else 1]
        if told is not None:
            found = await told.done()
            if found is None:
                return False
            if found != (self.vi, isinstance(queue, Receives)):
                self.wrong(f"a completion queue told of VI {found[0].number}, receive {found[1]}")
        descriptor = await work.done()
        if descriptor is None:
            if told is not None:
                self.wrong("a completion queue told of a descriptor that is not done")
            return False
        queue.ended(descriptor)
        return True

    async def take_all(self) -> None:
        """Take back whatever is done."""
        for queue in (self.sends, self.receives):
            while queue.posted and await self.take(queue):
                pass

    async def until(self, over: Callable[[], bool], patience: int = PATIENCE_PS) -> bool:
        """Take back what is done until something holds; False: it never does."""
        host = self.owner.nic.host
        pause, limit = LOOK_PS, host.now + (patience if not self.epoch.excuses else patience // 20)
        while not over():
            await self.take_all()
            if over():
                break
            if host.now > limit:
                return False
            await host.sleep(pause, "its next look")
            pause = min(2 * pause, LONGEST_LOOK_PS)
        return True

    def idle(self) -> bool:
        """Whether nothing is posted."""
        return not self.sends.posted and not self.receives.posted

    async def disconnect(self) -> None:
        """End the connection, if there is one."""
        if self.vi.state is not State.CLOSED:
            await self.call("disconnect", self.vi.disconnect)


def cut(size: int, pieces: int, area: Area) -> list[int]:
    """Bytes of so many pieces."""
    align = 1 if area.owner.nic.host.card.moves_bytes else 4
    each = max(size // pieces // align * align, align)
    sizes: list[int] = []
    while size > each and len(sizes) + 1 < pieces:
        sizes.append(each)
        size -= each
    return [*sizes, size]


__all__ = ["Part", "Side", "Status", "cut"]
