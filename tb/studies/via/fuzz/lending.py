"""Acts on memory that one side registers for one operation and deregisters immediately.

The deregistration is rejected while the NIC uses the memory, and the memory must not change afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from firmware.via.host import Result, VipError
from firmware.via.host.common.attributes import MemoryAttributes
from tb.fuzz.program import Act
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.messages import ends, pieces, send, size_of
from tb.studies.via.fuzz.owner import OPEN, PLAIN, Area
from tb.studies.via.fuzz.queue import Post, Queue
from tb.studies.via.fuzz.remote import post_forbidden, post_read, post_write
from tb.studies.via.fuzz.side import Side

RIGHTS = ((True, True), (True, False), (False, True), (False, False))
"""Rights of a lent region: RDMA write and RDMA read."""
TRIES, AGAIN_PS = 400, 500_000_000
Used = tuple[Side, Queue, Post] | None
"""Side, queue and post that use the memory; None if nothing could be posted."""


async def lend(link: Link, act: Act) -> None:
    """Do one operation with memory registered for it only."""
    side, other = ends(link, act)
    use, size = str(act.values["use"]), size_of(act, side)
    if not size or not link.alive or (use.startswith("read") and not link.reliable):
        return
    lender = side if use in ("send", "read into") else other
    area = await _registered(link, act, lender, size)
    if area is None:
        return
    used = await USES[use](link, act, area)
    if used is not None:
        await _take_back(link, act, area, *used)
    else:
        await lender.call("deregister", lambda: lender.owner.nic.deregister_memory(area.handle))
        lender.owner.process.free(area.va, size)


async def _registered(link: Link, act: Act, lender: Side, size: int) -> Area | None:
    """Register memory, set its rights afterwards, and return it; None if there is no room."""
    owner = lender.owner
    va = owner.process.allocate(size)
    handle = await lender.call(
        "register", lambda: owner.nic.register_memory(va, size, owner.tag), (Result.ERROR_RESOURCE,)
    )
    if handle is None:
        owner.process.free(va, size)
        return None
    rights = MemoryAttributes(owner.tag, *RIGHTS[act.whole("rights")])
    await lender.call("set memory", lambda: owner.nic.set_memory(handle, rights))
    found = await lender.call("query memory", lambda: owner.nic.query_memory(handle))
    if found != rights:
        lender.wrong(f"{act}: the memory has {found}, but {rights} are expected")
    return Area(owner, va, handle, size, 77 * link.number % 4096)


async def _send(link: Link, act: Act, area: Area) -> Used:
    side, other = ends(link, act)
    parts = [(0, area.size)]
    if not await side.room(side.sends) or not await other.receive(str(act), area.size, 1):
        return None
    descriptor = side.owner.place().send(area.segments(parts))
    post = Post(str(act), descriptor, area, parts, data=area.read(parts), consumes=True)
    side.epoch.sends(side.number, post)
    await side.post(side.sends, post)
    return side, side.sends, post


async def _receive(link: Link, act: Act, area: Area) -> Used:
    _, other = ends(link, act)
    parts = [(0, area.size)]
    if not await other.room(other.receives):
        return None
    post = Post(f"{act} (receive)", other.owner.place().receive(area.segments(parts)), area, parts)
    await other.post(other.receives, post)
    await send(link, act, area.size)
    return other, other.receives, post


async def _read_into(link: Link, act: Act, area: Area) -> Used:
    side, other = ends(link, act)
    there = other.owner.areas[OPEN]
    source = there.take([area.size]) if other.attributes.rdma_read and await side.room(side.sends) else None
    if source is None:
        return None
    return side, side.sends, await post_read(link, act, area, [(0, area.size)], there, source)


async def _write_to(link: Link, act: Act, area: Area) -> Used:
    side, other = ends(link, act)
    if RIGHTS[act.whole("rights")][0] and other.attributes.rdma_write:
        post = await post_write(link, act, area.size, area, [(0, area.size)])
    else:
        post = await post_forbidden(link, act, "write", area.va, area.handle)
    return (side, side.sends, post) if post else None


async def _read_from(link: Link, act: Act, area: Area) -> Used:
    side, other = ends(link, act)
    into = side.owner.areas[PLAIN]
    if not RIGHTS[act.whole("rights")][1] or not other.attributes.rdma_read:
        post = await post_forbidden(link, act, "read", area.va, area.handle)
        return (side, side.sends, post) if post else None
    parts = await pieces(link, side, into, area.size, 1)
    if parts is None:
        return None
    into.loosen(parts)
    return side, side.sends, await post_read(link, act, into, parts, area, [(0, area.size)])


USES: Mapping[str, Callable[[Link, Act, Area], Awaitable[Used]]] = {
    "send": _send,
    "receive": _receive,
    "read into": _read_into,
    "write to": _write_to,
    "read from": _read_from,
}


async def _take_back(link: Link, act: Act, area: Area, side: Side, queue: Queue, post: Post) -> None:
    """Deregister the memory as soon as that is allowed."""
    freed = await _freed(link, area, side, queue, post)
    if not freed and (_unlimited(link) or (queue.receives and side.epoch.excuses)):
        await link.part(1)
        freed = await _freed(link, area, side, queue, post)
    if not freed:
        side.wrong(f"{act}: the memory stays in use for ever")
        return
    parts = [(0, area.size)]
    left = area.read(parts)

    def look() -> None:
        """Free the memory at the end of the program."""
        if area.read(parts) != left:
            side.wrong(f"{act}: the memory was written after its deregistration")
        area.owner.process.free(area.va, area.size)

    link.lent.append(look)


def _unlimited(link: Link) -> bool:
    """Return True if a send with a lost packet or answer waits until its connection ends."""
    return link.faults and not link.cluster.options.timeout_us


async def _freed(link: Link, area: Area, side: Side, queue: Queue, post: Post) -> bool:
    """Deregister memory that a post uses, and return True if that succeeded."""
    nic = area.owner.nic
    for _ in range(TRIES):
        try:
            await nic.deregister_memory(area.handle)
        except VipError as error:
            if error.result is not Result.ERROR_RESOURCE:
                side.wrong(f"deregistering memory: {error}")
            await side.take_all()
            await nic.host.sleep(AGAIN_PS, "memory in use")
            continue
        if post in queue.posted and (link.cluster.options.user_level or area.owner is not side.owner):
            side.epoch.excuses.add("memory taken back")  # which the kernel does not know
        return True
    return False
