"""Acts that post invalid descriptors, query attributes, or do nothing."""

from __future__ import annotations

from firmware.via.formats import Status
from tb.fuzz.program import Act
from tb.studies.via.fuzz.invalid import GARBAGE, wrong_descriptor
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.messages import ends, message
from tb.studies.via.fuzz.owner import OPEN, PLAIN
from tb.studies.via.fuzz.queue import Post, Queue
from tb.studies.via.fuzz.side import Side


async def wrong(link: Link, act: Act) -> None:
    """Post an invalid send and check its status."""
    side, _ = ends(link, act)
    await _wrong(link, act, side, side.sends)


async def wrong_receive(link: Link, act: Act) -> None:
    """Post an invalid receive and check its status, at the latest with the next message."""
    _, other = ends(link, act)
    if link.alive:
        await _wrong(link, act, other, other.receives)
        await message(link, act)


async def _wrong(link: Link, act: Act, side: Side, queue: Queue) -> None:
    what = str(act.values["what"])
    if not link.alive or not await side.room(queue) or not side.owner.has_place(1):
        return
    descriptor, status = wrong_descriptor(what, side, link.sides[1 - side.number])
    if link.cluster.options.user_level and what in GARBAGE:
        side.epoch.excuses.add("a descriptor with an unknown end")
    await side.post(queue, Post(str(act), descriptor, side.owner.areas[PLAIN], [], Status.DONE | status))


async def ask(link: Link, act: Act) -> None:
    """Query and check the attributes of NIC, VI and memory."""
    side, _ = ends(link, act)
    nic, options = side.owner.nic, link.cluster.options
    known = await side.call("query the NIC", nic.query)
    if (known.node, known.nodes, known.transfer) != (side.owner.node, link.cluster.program.nodes, options.transfer):
        side.wrong(f"the NIC is reported as {known}")
    state = await side.call("query the VI", side.vi.query)
    if (state.attributes, state.sends_empty) != (side.attributes, not side.sends.posted):
        side.wrong(f"the VI is reported as {state}")
    memory = await side.call("query memory", lambda: nic.query_memory(side.owner.areas[OPEN].handle))
    if (memory.tag, memory.rdma_write, memory.rdma_read) != (side.owner.tag, True, True):
        side.wrong(f"the memory is reported as {memory}")
    counted = sum((await side.call("query counters", nic.query_counters)).values())
    if counted < side.owner.asked:
        side.wrong(f"the NIC's counts decreased from {side.owner.asked} to {counted}")
    side.owner.asked = counted


async def stop(link: Link, act: Act) -> None:
    """Do nothing for some time."""
    await link.sides[0].owner.nic.host.sleep(act.whole("us") * 1_000_000, "a pause")
