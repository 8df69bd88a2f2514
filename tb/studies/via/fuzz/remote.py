"""Acts on the peer's memory: permitted and forbidden RDMA writes and reads."""

from __future__ import annotations

from firmware.via.formats import Status
from tb.fuzz.program import Act
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.messages import ends, pieces, size_of
from tb.studies.via.fuzz.owner import CLOSED, OPEN, PLAIN, Area, Extent
from tb.studies.via.fuzz.queue import Post
from tb.studies.via.fuzz.side import Side

NO_REGION, FAR_REGION = 0x1234_5000, 0x1234_5FFF
"""Invalid memory handles: an unused entry of the table of regions, and one beyond its end."""


async def write(link: Link, act: Act) -> None:
    """Post an RDMA write, with immediate data also a receive for it."""
    side, other = ends(link, act)
    there = other.owner.areas[OPEN]
    if not other.attributes.rdma_write:
        await post_forbidden(link, act, "write", there.va, there.handle)
        return
    size = size_of(act, side)
    target = there.take([size])
    if target is not None:
        there.loosen(target)
        await post_write(link, act, size, there, target, act.whole("pieces"), act.whole("immediate"))


async def post_write(
    link: Link, act: Act, size: int, there: Area, target: list[Extent], count: int = 1, immediate: int = 0
) -> Post | None:
    """Post an RDMA write to part of the peer's memory; return None if nothing can be posted."""
    side, other = ends(link, act)
    if not link.alive or (immediate and not await other.receive(str(act), 0, 1)):
        return None
    area = side.owner.areas[PLAIN]
    parts = await pieces(link, side, area, size, count)
    if parts is None:
        side.epoch.excuses.add("a receive without its write")
        return None
    link.number += 1
    number = link.number if immediate else None
    va = there.va + target[0][0]
    descriptor = side.owner.place().rdma_write(area.segments(parts), va, there.handle, number)
    data = area.read(parts)
    post = Post(str(act), descriptor, area, parts, Status.DONE, data, number, bool(immediate), (there, target))
    side.epoch.sends(side.number, post)
    await side.post(side.sends, post)
    return post


async def read(link: Link, act: Act) -> None:
    """Post an RDMA read, which is rejected on an unreliable connection."""
    side, other = ends(link, act)
    area, there = side.owner.areas[PLAIN], other.owner.areas[OPEN]
    if link.reliable and not other.attributes.rdma_read:
        await post_forbidden(link, act, "read", there.va, there.handle)
        return
    size = size_of(act, side)
    source, parts = there.take([size]), await pieces(link, side, area, size, act.whole("pieces"))
    if source is None or parts is None:
        return
    if link.reliable:
        area.loosen(parts)
    await post_read(link, act, area, parts, there, source)


async def post_read(link: Link, act: Act, area: Area, parts: list[Extent], there: Area, source: list[Extent]) -> Post:
    """Post an RDMA read of part of the peer's memory."""
    side, _ = ends(link, act)
    descriptor = side.owner.place().rdma_read(area.segments(parts), there.va + source[0][0], there.handle)
    status = Status.DONE if link.reliable else Status.DONE | Status.FORMAT_ERROR
    post = Post(str(act), descriptor, area, parts, status, there.read(source), fetches=True)
    await side.post(side.sends, post)
    return post


async def forbidden(link: Link, act: Act) -> None:
    """Post a forbidden RDMA operation and check that nothing is written or read."""
    side, other = ends(link, act)
    operation, memory = str(act.values["operation"]), str(act.values["memory"])
    if operation == "read" and not link.reliable:
        return
    size, options = _size(act, side), link.cluster.options
    stranger = link.cluster.owners[other.owner.node][1 - other.owner.number].areas[OPEN]
    closed, there = other.owner.areas[CLOSED], other.owner.areas[OPEN]
    whole_words = not side.owner.nic.host.card.moves_bytes and (operation == "read" or options.rdma == "table")
    va, handle = {
        "closed": (closed.va, closed.handle),
        "beyond": (there.va + there.size - size + 4, there.handle),
        "foreign": (stranger.va, stranger.handle),
        "nothing": (there.va, NO_REGION),
        "far": (there.va, FAR_REGION),
        "odd": (there.va + 1, there.handle if whole_words else NO_REGION),
    }[memory]
    if memory == "beyond" and link.alive:  # bytes before its end may be written
        there.loosen([(there.size - size + 4, size - 4)])
    await post_forbidden(link, act, operation, va, handle)


def _size(act: Act, side: Side) -> int:
    return max(size_of(act, side), 4)


async def post_forbidden(link: Link, act: Act, operation: str, va: int, handle: int) -> Post | None:
    """Post a forbidden RDMA operation; return None if nothing can be posted."""
    side, _ = ends(link, act)
    area = side.owner.areas[PLAIN]
    parts = await pieces(link, side, area, _size(act, side), 1)
    if parts is None:
        return None
    side.epoch.excuses.add("a forbidden operation")
    place = side.owner.place()
    make = place.rdma_read if operation == "read" else place.rdma_write
    post = Post(str(act), make(area.segments(parts), va, handle), area, parts, forbidden=True)
    await side.post(side.sends, post)
    return post
