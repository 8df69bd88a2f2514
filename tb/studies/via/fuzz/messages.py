"""Acts of sending: messages of all sizes and segmentations, with and without a matching receive."""

from __future__ import annotations

from typing import Any

from tb.fuzz.program import Act
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.owner import PLAIN, Area, Extent
from tb.studies.via.fuzz.queue import Post
from tb.studies.via.fuzz.side import Side, cut

SHORT = 2000
"""Maximum size in bytes of messages sent in large numbers."""


def ends(link: Link, act: Act) -> tuple[Side, Side]:
    """Return the acting side and its peer."""
    side = link.sides[act.whole("side")]
    return side, link.sides[1 - side.number]


def size_of(act: Act, side: Side) -> int:
    """Return the message size of an act in bytes, limited to the VI's maximum."""
    size = min(act.whole("bytes"), side.most)
    return size if side.owner.nic.host.card.moves_bytes else size // 4 * 4


async def pieces(link: Link, side: Side, area: Area, size: int, count: int) -> list[Extent] | None:
    """Return memory for the segments of a message, or None if nothing can be posted."""
    if not link.alive or not await side.room(side.sends) or not side.owner.has_place(count + 1):
        return None
    return area.take(cut(size, count, area))


async def send(link: Link, act: Act, size: int, count: int = 1, immediate: int = 0, **ends_with: Any) -> None:
    """Post a send for which a receive is posted."""
    side, _ = ends(link, act)
    area = side.owner.areas[PLAIN]
    parts = await pieces(link, side, area, size, count)
    if parts is None:
        side.epoch.excuses.add("a receive without its send")
        return
    link.number += 1
    number = link.number if immediate else None
    descriptor = side.owner.place(len(parts)).send(area.segments(parts), number)
    data = area.read(parts)
    post = Post(f"{act}", descriptor, area, parts, data=data, immediate=number, consumes=True, **ends_with)
    side.epoch.sends(side.number, post)
    await side.post(side.sends, post)


async def message(link: Link, act: Act) -> None:
    """Post a send and a receive for it."""
    side, other = ends(link, act)
    size = size_of(act, side)
    extra = min(size + act.whole("extra") // 4 * 4, other.most)
    if link.alive and await other.receive(str(act), extra, act.whole("parts")):
        await send(link, act, size, act.whole("pieces"), act.whole("immediate"))


async def messages(link: Link, act: Act) -> None:
    """Send several messages back to back."""
    side, other = ends(link, act)
    size = min(size_of(act, side), SHORT)
    for _ in range(act.whole("times")):
        if link.alive and await other.receive(str(act), size, 1):
            await send(link, act, size)


async def burst(link: Link, act: Act) -> None:
    """Post more receives than a queue cache may hold, then as many sends."""
    side, other = ends(link, act)
    size, posted = min(size_of(act, side), SHORT), 0
    while posted < act.whole("many") and link.alive and await other.receive(str(act), size, 4):
        posted += 1
    for _ in range(posted):
        await send(link, act, size)


async def long_message(link: Link, act: Act) -> None:
    """Send a message with more pages than a small queue cache holds."""
    side, other = ends(link, act)
    size, cuts = min(1000 * act.whole("kilobytes"), side.most) // 4 * 4, act.whole("cuts")
    if link.alive and side.owner.has_place(cuts) and await other.receive(str(act), size, cuts):
        await send(link, act, size, cuts)


async def receive_nothing(link: Link, act: Act) -> None:
    """Send without a posted receive: the message is dropped, or a reliable connection ends."""
    side, _ = ends(link, act)
    side.epoch.excuses.add("a send without a receive")
    await send(link, act, size_of(act, side))


async def too_long(link: Link, act: Act) -> None:
    """Send a message that is too long for the posted receive."""
    side, other = ends(link, act)
    size = max(size_of(act, side), 8)
    side.epoch.excuses.add("a receive that is too short")
    if link.alive and await other.receive(str(act), size - 4, 1):
        await send(link, act, size)
