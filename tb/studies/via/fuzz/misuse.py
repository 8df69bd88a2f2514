"""Invalid calls, and the error code of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firmware.via.formats import Reliability
from firmware.via.host import Result, Vi, VipError
from firmware.via.host.common.attributes import MemoryAttributes, ViAttributes
from tb.fuzz.program import Act
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.owner import PLAIN, Area
from tb.studies.via.fuzz.side import ABSENT, Side

PARAMETER, STATE, RESOURCE = Result.INVALID_PARAMETER, Result.INVALID_STATE, Result.ERROR_RESOURCE
PTAG, LEVEL, MTU = Result.INVALID_PTAG, Result.INVALID_RELIABILITY_LEVEL, Result.INVALID_MTU
NOWHERE, TIMEOUT = Result.NOT_REACHABLE, Result.TIMEOUT
NOTHING: Any = None
NO_TAG = 9999


async def misuse(link: Link, act: Act) -> None:
    """Make an invalid call and check its error code."""
    side = link.sides[act.whole("side")]
    name = str(act.values["misuse"])
    code, call = MISUSES[name]
    if link.connected:
        await side.refused(f"misuse: {name}", lambda: call(side, link.sides[1 - side.number], link), code)


def _plain(side: Side) -> Area:
    return side.owner.areas[PLAIN]


def _foreign(side: Side) -> int:
    """Return a memory handle of another process of the same host."""
    return side.cluster.owners[side.owner.node][1 - side.owner.number].areas[PLAIN].handle


def _with_queue(side: Side, call: Callable[[Any], Any]) -> Any:
    """Make a call that needs a completion queue."""
    used = next((model.queue for model in side.completions if model is not None), None)
    return ABSENT if used is None else call(used)


def _with_dead(side: Side, call: Callable[[Any], Any]) -> Any:
    """Make a call on a destroyed VI."""
    return ABSENT if side.dead is None else call(side.dead)


def _with_request(side: Side, link: Link, call: Callable[[Any], Any]) -> Any:
    """Make a server call with a connection request that was already answered."""
    return ABSENT if link.request is None or side is not link.server else call(link.request)


def _without(posted: object, call: Callable[[], Any]) -> Any:
    """Make a call on an empty work queue."""
    return ABSENT if posted else call()


async def _fresh(side: Side, call: Callable[[Vi], Any]) -> Any:
    """Make a call on a VI that was never connected."""
    try:
        vi = await side.owner.nic.create_vi(side.owner.tag)
    except VipError as error:
        if error.result is RESOURCE:
            return ABSENT
        raise
    try:
        return await call(vi)
    finally:
        await vi.destroy()


Call = Callable[[Side, Side, Link], Any]
"""Call of one side; its arguments are the side, its peer and their connection."""
MISUSES: Mapping[str, tuple[Result, Call]] = {
    "nowhere": (NOWHERE, lambda side, other, link: _fresh(side, lambda vi: vi.connect_request(99, 1, 100))),
    "itself": (NOWHERE, lambda side, other, link: _fresh(side, lambda vi: vi.connect_request(side.owner.node, 1, 100))),
    "nobody waits": (
        TIMEOUT,
        lambda side, other, link: _fresh(side, lambda vi: vi.connect_request(other.owner.node, 12_346, 100)),
    ),
    "nobody asks": (TIMEOUT, lambda side, other, link: side.owner.nic.connect_wait(12_345, 50)),
    "connecting twice": (STATE, lambda side, other, link: side.vi.connect_request(other.owner.node, 1, 100)),
    "asking twice": (STATE, lambda side, other, link: side.vi.connect_peer_request(other.owner.node, 1, 100)),
    "no peer": (STATE, lambda side, other, link: _fresh(side, lambda vi: vi.connect_peer_done())),
    "no connection": (STATE, lambda side, other, link: _fresh(side, lambda vi: vi.disconnect())),
    "accepting twice": (
        STATE,
        lambda side, other, link: _with_request(side, link, lambda it: side.owner.nic.connect_accept(it, side.vi)),
    ),
    "rejecting late": (PARAMETER, lambda side, other, link: _with_request(side, link, side.owner.nic.connect_reject)),
    "destroying too early": (STATE, lambda side, other, link: side.vi.destroy()),
    "changing too late": (
        STATE,
        lambda side, other, link: side.vi.set_attributes(ViAttributes(side.owner.tag, Reliability.DELIVERY, 100)),
    ),
    "closing too early": (RESOURCE, lambda side, other, link: side.owner.nic.close()),
    "no tag": (PTAG, lambda side, other, link: side.owner.nic.register_memory(_plain(side).va, 64, NO_TAG)),
    "setting no tag": (
        PTAG,
        lambda side, other, link: side.owner.nic.set_memory(_plain(side).handle, MemoryAttributes(NO_TAG)),
    ),
    "no such memory": (PARAMETER, lambda side, other, link: side.owner.nic.register_memory(0x5000, 64, side.owner.tag)),
    "no memory": (PARAMETER, lambda side, other, link: side.owner.nic.deregister_memory(0x7777_7001)),
    "foreign memory": (PARAMETER, lambda side, other, link: side.owner.nic.deregister_memory(_foreign(side))),
    "asking for foreign memory": (PARAMETER, lambda side, other, link: side.owner.nic.query_memory(_foreign(side))),
    "no level": (LEVEL, lambda side, other, link: side.owner.nic.create_vi(side.owner.tag, NOTHING)),
    "no size": (MTU, lambda side, other, link: side.owner.nic.create_vi(side.owner.tag, most=0)),
    "no queue": (PARAMETER, lambda side, other, link: side.owner.nic.create_cq(0)),
    "foreign queue": (
        PARAMETER,
        lambda side, other, link: _with_queue(
            other, lambda queue: side.owner.nic.create_vi(side.owner.tag, receive_cq=queue)
        ),
    ),
    "queue in use": (RESOURCE, lambda side, other, link: _with_queue(side, lambda queue: queue.destroy())),
    "queue too large": (PARAMETER, lambda side, other, link: _with_queue(side, lambda queue: queue.resize(1025))),
    "queue without handler": (PARAMETER, lambda side, other, link: _with_queue(side, lambda it: it.notify(NOTHING))),
    "no handler": (PARAMETER, lambda side, other, link: side.vi.receive_notify(NOTHING)),
    "no error handler": (PARAMETER, lambda side, other, link: side.owner.nic.on_error(NOTHING)),
    "no limit": (PARAMETER, lambda side, other, link: side.vi.receive_wait(-1)),
    "nothing sent": (
        STATE,
        lambda side, other, link: _without(side.sends.posted, side.vi.poll_send),
    ),
    "nothing to receive": (
        STATE,
        lambda side, other, link: _without(side.receives.posted, lambda: side.vi.receive_wait(10)),
    ),
    "no descriptor": (PARAMETER, lambda side, other, link: side.vi.post_send(NOTHING)),
    "foreign descriptor": (
        PARAMETER,
        lambda side, other, link: side.vi.post_receive(
            other.owner.nic.descriptor(_plain(other).va, _plain(other).handle)
        ),
    ),
    "misaligned": (PARAMETER, lambda side, other, link: side.owner.nic.descriptor(_plain(side).va + 4, 0)),
    "dead": (PARAMETER, lambda side, other, link: _with_dead(side, lambda vi: vi.disconnect())),
    "asking for the dead": (PARAMETER, lambda side, other, link: _with_dead(side, lambda vi: vi.query())),
    "taking from the dead": (PARAMETER, lambda side, other, link: _with_dead(side, lambda vi: vi.send_done())),
}
