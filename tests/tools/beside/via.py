"""Inputs of each path of VIA's NIC in terms of its C: the state of the firmware after it has charged the path."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from firmware.via.formats import Field, Status
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.layout import CONTROL_WORDS, RDMA_WRITE, Control, Region
from firmware.via.nic.ni import Ni
from firmware.via.nic.physical_descriptors import CachedPages
from firmware.via.nic.queue_cache import CentralCache, QueueCache

Locals = Mapping[str, Any]
"""Variables of the method that charges a path."""


Told = tuple[str, Any] | None
"""Kind of action of the firmware, and its expected value; None: the path announces no action."""


def nothing(off: str, out: list[int]) -> Told:
    """Announce no action other than stores in NIC memory."""
    return None


@dataclass
class Found:
    """Inputs of a path, and its announcement."""

    given: dict[str, int] = field(default_factory=dict)
    endpoint: Endpoint | None = None
    cache: QueueCache | None = None
    region: int = 0
    """SRAM address of a region's words."""
    tells: Callable[[str, list[int]], Told] = nothing
    """Function from the reason for leaving and the outputs to the expected next action."""
    who: Hashable = None
    """Actor, if not the NIC."""
    done: Told = None
    """Part of the action that the firmware has already done."""
    stores: bool = True
    """True if its stores are the firmware's next stores; False if its list of pages is incomplete here."""


def connection(ni: Ni, endpoint: Endpoint) -> dict[str, int]:
    """Return the inputs that describe a VI and its connection."""
    its = endpoint.connection
    return {
        "vi": endpoint.number,
        "vis": ni.options.vis,
        "generation": endpoint.generation,
        "from": its.node << 8 | its.number,
        "key": ni.key(its, 0),
        "node": its.node,
        "peer": its.peer,
        "sequence": its.sequence,
        "expected": its.expected,
        "coming": its.arriving_number,
        "reliability": its.reliability,
        "newest": endpoint.left,
        "answered": endpoint.acknowledged,
    }


def taken(off: str, out: list[int]) -> Told:
    """Announce an entry taken from a list of pages."""
    return None if off.startswith(("there", "nothing")) else ("take", tuple(out[:2]))


def header(off: str, out: list[int]) -> Told:
    """Announce a header that is sent."""
    return None if off.startswith("not") else ("header", tuple(out[:2]))


def stored(off: str, out: list[int]) -> Told:
    """Announce a word stored in host memory."""
    return "store", (out[1], (out[0],))


OUTCOMES = {
    "": {"in order"},
    "a further packet": {"in order"},
    "not connected": {"NOT_CONNECTED"},
    "an answer": {"an answer"},
    "a packet is missing": {"PASSED", "LOST"},
    "of another message": {"LOST"},
}
"""Firmware's treatment of a packet for each result of the C."""


def outcome(off: str, out: list[int]) -> Told:
    """Announce the treatment of a packet."""
    return None if off == "a new generation" else ("packet", OUTCOMES[off])


def send_begin(at: Locals) -> Found | None:
    ni, cache = at["self"]._ni, at["cache"]
    endpoint = ni.endpoints[Control.decode(peek(cache, 1)[0]).vi]
    given = {**connection(ni, endpoint), "number": ni._number - 1}
    return Found(given, endpoint, cache, tells=lambda _, out: ("control", tuple(out[1:4])))


def page(at: Locals) -> Found | None:
    return Found({"entries": at["self"]._entries}, None, at["cache"], tells=taken)


def send_piece(at: Locals) -> Found | None:
    given = {"address": at["address"], "left": at["left"], "packet": at["self"]._port.most}
    return Found(given, tells=lambda _, out: ("size", out[1]), done=("size", at["size"]))


def behind(at: Locals) -> int:
    """Return the number of fetches of a message after the packet whose header is built."""
    now = at["now"]
    return 0 if now.prepared else len(now.fetching)


def packet(at: Locals) -> dict[str, int]:
    """Return the inputs of the next packet's header."""
    now = at["now"]
    return {
        **connection(at["self"]._ni, now.endpoint),
        "key": now.key,
        "kind": int(at["kind"]),
        "size": at["size"],
        "peer": now.connection.peer,
        "sequence": now.connection.sequence,
        "first": int(now.first),
        "entries": int(now.work.pages.more()),
        "left": now.piece[1],
        "fetching": behind(at) + 1,
        "behind": len(now.behind),
    }


def send_packet(at: Locals) -> Found | None:
    now = at["now"]
    fetched = at["kind"] == now.data and at["size"] and now.work.inline is None and not now.work.status
    return Found(packet(at), tells=header) if fetched else None


def user_packet(at: Locals) -> Found | None:
    now, given = at["now"], packet(at)
    others = given["entries"] or behind(at) or now.behind or now.before or not now.first or now.work.status
    return Found({**given, "left": int(bool(others)) | given["left"]}, tells=header)


def send_end(at: Locals) -> Found | None:
    now = at["now"]
    if not isinstance(now.cache, CentralCache):
        return None
    return Found(
        {**connection(at["self"]._ni, now.endpoint), "reliability": now.connection.reliability}, cache=now.cache
    )


def of_endpoint(at: Locals) -> Found | None:
    endpoint = at["endpoint"]
    return Found(connection(at["self"]._ni, endpoint), endpoint)


def write_status(at: Locals) -> Found | None:
    status, length = int(at["status"]), at["length"]
    given = {"length": length, "status": status, "side": 2 if status & Status.RECEIVE else 1}
    if at["immediate"] is not None:
        return Found(given, at["endpoint"])
    where = at["descriptor"] + Field.LENGTH
    return Found(given, at["endpoint"], tells=lambda _, out: ("store", (where, tuple(out[:2]))))


def write_entry(at: Locals) -> Found | None:
    address, entries, place, turn = at["self"]._rings[at["queue"]]
    given = {"address": address, "queue_entries": entries, "place": place, "turn": turn, "vi": at["vi"]}
    return Found({**given, "side": at["side"]}, tells=stored)


def tell_kernel(at: Locals) -> Found | None:
    return Found({"event": at["self"]._event, "word": at["event"] << 24 | at["vi"] << 16 | at["detail"]}, tells=stored)


def answer(at: Locals) -> Found | None:
    ni, to = at["self"]._ni, at["to"]
    given = {"node": to.node, "peer": to.peer, "kind": int(at["kind"]), "sequence": at["number"]}
    return Found({**given, "key": ni.key(to, 0), "number": ni._number}, tells=header) if at["last"] else None


def flush_descriptor(at: Locals) -> Found | None:
    cache: QueueCache = at["cache"]
    if cache.user or cache.ready < CONTROL_WORDS:
        return None
    entries = Control.decode(peek(cache, 1)[0]).entries
    whole = cache.ready >= CONTROL_WORDS + 2 * entries and 4 * entries + 10 < cache.size
    return Found(connection(at["self"]._ni, at["endpoint"]), at["endpoint"], cache, stores=whole)


def receive_packet(at: Locals) -> Found | None:
    ni = at["self"]._ni
    first, second = at["self"]._port.head().header
    vi = second >> 22 & 0x7F
    if not vi or vi >= len(ni.endpoints):
        return None
    given = connection(ni, ni.endpoints[vi])
    return Found({**given, "first_word": first, "second_word": second}, ni.endpoints[vi], tells=outcome)


def descriptor(off: str, out: list[int]) -> Told:
    """Announce the descriptor at the head of a receive queue cache."""
    return None if off == "refused" else ("descriptor", out[1])


def receive_begin(at: Locals) -> Found | None:
    endpoint = at["self"]._ni.endpoints[at["cache"].vi]
    return Found(connection(at["self"]._ni, endpoint), endpoint, at["cache"], tells=descriptor)


def piece(off: str, out: list[int]) -> Told:
    """Announce target and size of payload."""
    return "piece", (out[0], out[1])


def receive_piece(at: Locals) -> Found | None:
    to = at["to"]
    return Found({"address": to.address, "left": to.left, "size": at["size"]}, tells=piece, who=to)


def receive_end(at: Locals) -> Found | None:
    message, endpoint = at["message"], at["endpoint"]
    pages = message._pages
    if message._read_ahead or not isinstance(pages, CachedPages):
        return None
    cache = endpoint.receives.cache
    rest = 2 * pages._entries
    whole = cache.ready >= rest and 2 * (cache.at + rest - cache._freed & 0xFFFFFFFF) <= cache.size
    given = {**connection(at["self"]._ni, endpoint), "entries": pages._entries}
    return Found(given, endpoint, cache, stores=whole)


def write_check(at: Locals) -> Found | None:
    ni, writing, endpoint = at["self"]._ni, at["writing"], at["endpoint"]
    given = {"va": writing.va, "handle": writing.handle, "size": at["size"], "most": ni.options.regions}
    if not ni.layout.has_region(writing.handle):
        return Found(given, endpoint, tells=lambda _, out: ("allowed", bool(out[0])))
    region = ni.layout.region(writing.handle)
    flags = sram(ni.nic, region + Region.FLAGS, 1)[0]
    whole = not (writing.va & 3 and ni.nic.word_bytes == 4)
    allowed = bool(flags & endpoint.connection.rights & RDMA_WRITE) and whole
    return Found(given, endpoint, region=region, tells=lambda _, out: ("allowed", allowed and bool(out[0])))


FOUND: Mapping[str, Callable[[Locals], Found | None]] = {
    "send_begin": send_begin,
    "send_page": page,
    "send_piece": send_piece,
    "send_packet": send_packet,
    "user_packet": user_packet,
    "send_end": send_end,
    "send_unanswered": of_endpoint,
    "write_status": write_status,
    "write_entry": write_entry,
    "tell_kernel": tell_kernel,
    "answer": answer,
    "count_answered": of_endpoint,
    "break_up": of_endpoint,
    "flush_descriptor": flush_descriptor,
    "receive_packet": receive_packet,
    "receive_begin": receive_begin,
    "receive_page": page,
    "receive_piece": receive_piece,
    "receive_end": receive_end,
    "write_check": write_check,
}
"""Function that returns the inputs of each path; it returns None if the C does not cover the case."""


def sram(nic: Any, address: int, count: int) -> tuple[int, ...]:
    """Return words of a NIC's memory without an access of the NIC."""
    words: tuple[int, ...] = nic.sram.load_words(address, count)
    return words


def peek(cache: QueueCache, count: int) -> tuple[int, ...]:
    """Return the next words of a queue cache without taking them."""
    nic: Any = cache._nic
    return tuple(sram(nic, cache._base + 4 * ((cache.at + n) % cache.size), 1)[0] for n in range(count))
