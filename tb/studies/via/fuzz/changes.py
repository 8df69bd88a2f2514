"""Acts that end a connection and make another: new roles, new VIs, other attributes, with rejections in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, VipError
from firmware.via.host.common.attributes import ViAttributes
from tb.fuzz.program import Act
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.messages import SHORT, ends, send, size_of
from tb.studies.via.fuzz.owner import PLAIN
from tb.studies.via.fuzz.queue import Epoch, Post


async def renew(link: Link, act: Act) -> None:
    """Disconnect and connect again, possibly with swapped roles."""
    await _part(link, act)
    await link.connect()


async def _part(link: Link, act: Act) -> None:
    if link.alive:
        await link.part(act.whole("load"))
    link.role = str(act.values["role"])


async def remake(link: Link, act: Act) -> None:
    """Disconnect and connect again with new VIs."""
    await _part(link, act)
    for side in link.sides:
        await side.destroy()
    await link.make()


async def reshape(link: Link, act: Act) -> None:
    """Disconnect and connect again with other attributes of the VIs."""
    await _part(link, act)
    await link.reshape(Reliability[str(act.values["level"]).upper()], act.whole("most"), act.whole("denied"))
    await link.connect()


async def refuse(link: Link, act: Act) -> None:
    """Disconnect and connect again after a failed attempt: the server rejects, or the VIs do not match."""
    await _part(link, act)
    server, how = link.server, str(act.values["how refused"])
    before, unlike = server.attributes, UNLIKE.get(how)
    if unlike is not None:
        result, change = unlike
        await server.change(change(before))
        if link.role == "peer":
            _all_refused(link, await link.attempt(*link.calls(), may=(result,)), result)
        else:
            await _rejected(link, result)
        for side in link.sides:
            await side.disconnect()
        await server.change(before)
    else:
        await _rejected(link, None)
    await link.connect()


async def _rejected(link: Link, unlike: Result | None) -> None:
    """Request a connection and check that it is rejected; with `unlike`, the server first fails to accept for this
    reason.
    """
    server, nic = link.server, link.server.owner.nic
    link.number += 1

    async def reject() -> None:
        request = await link.next_request()
        if unlike is not None:
            await server.refused("accepting", lambda: nic.connect_accept(request, server.vi), unlike)
        await nic.connect_reject(request)

    told = await link.attempt((server, reject), (link.client, link.ask), may=(Result.REJECT,))
    _all_refused(link, told[1:], Result.REJECT)


def _all_refused(link: Link, told: list[VipError | None], result: Result) -> None:
    if not link.faults and any(error is None or error.result is not result for error in told):
        link.client.wrong(f"an attempt to connect ended with {told}, but {result} is expected")


async def early(link: Link, act: Act) -> None:
    """Check that without a connection a send is flushed, and receives wait for the next connection."""
    await _part(link, act)
    if link.faults:
        await link.connect()
        return
    side, other = ends(link, act)
    for one in link.sides:
        one.epoch = Epoch(link.level)
    await _flushed(link, act)
    size, times = min(size_of(act, side), SHORT), min(act.whole("times"), link.cluster.options.outstanding)
    posted = [await other.receive(str(act), size, 1) for _ in range(times)]
    await link.connect()
    for _ in range(sum(posted)):
        await send(link, act, size)


async def _flushed(link: Link, act: Act) -> None:
    """Post a send without a connection and check that it is flushed."""
    side, _ = ends(link, act)
    area = side.owner.areas[PLAIN]
    parts = area.take([64])
    if parts is None:
        return
    descriptor = side.owner.place().send(area.segments(parts))
    await side.post(side.sends, Post(f"{act} (closed)", descriptor, area, parts, Status.DONE | Status.FLUSHED))
    if not await side.until(lambda: not side.sends.posted):
        side.wrong(f"{act} (closed) never ends")


UNLIKE: Mapping[str, tuple[Result, Callable[[ViAttributes], ViAttributes]]] = {
    "level": (Result.INVALID_RELIABILITY_LEVEL, lambda its: replace(its, reliability=_other(its.reliability))),
    "size": (Result.INVALID_MTU, lambda its: replace(its, most=its.most - 4)),
}
"""Changes that make a VI mismatch its peer, and the error code of connecting both."""


def _other(level: Reliability) -> Reliability:
    return Reliability.UNRELIABLE if level is Reliability.DELIVERY else Reliability.DELIVERY
