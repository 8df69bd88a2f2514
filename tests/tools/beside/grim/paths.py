"""Arguments of each path, from the variables of the method that charges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from firmware.common.nic.host_dma import WAKE
from firmware.grim.formats import MORE
from firmware.grim.nic.channels import FETCHING
from firmware.grim.nic.delivery.delivery import REQUESTED
from firmware.grim.nic.layout import NONE, Register
from firmware.grim.nic.notices import Notices
from firmware.grim.nic.remote_memory.entries import MAP_BYTES, Static
from tests.tools.beside.compiled import Sram
from tests.tools.beside.grim.shared import Shared
from tests.tools.beside.state import In, Var

Given = Callable[[Shared, Mapping[str, Any], int], Iterable[Sequence[Any]] | None]


def alone(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return the NI only."""
    return [(s.ni,)] * times


def once(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments of a path with several turns whose C starts the engine once for all of them."""
    return [(s.ni,)] if times == 1 else None


def of_channel(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return a channel, its scoreboard and its number."""
    channel = at["channel"]
    return [(s.ni, s.channel(channel), s.board(channel), channel.index)]


def is_closed(s: Shared, stream: int) -> bool:
    """Return True if a stream leads to a NI that is down, which only the Python firmware schedules for rejection."""
    return bool(s.parts.outgoing.streams.closed[stream])


def later(given: Given) -> Given:
    """Return a new waiting message, unless it will be rejected."""
    return lambda s, at, times: None if is_closed(s, at["stream"]) else given(s, at, times)


def per_ni(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return a channel and its scoreboard."""
    return [(s.ni, s.channel(at["channel"]), s.board(at["channel"]))]


def slotted(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return a queue of slots and its number."""
    return [(s.ni, s.board(at["channel"]), at["channel"].index)]


def found(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the entries examined for the message in a slot, which is the last one."""
    channel, slot = at["channel"], at["slot"]
    if channel.state[slot] == FETCHING or at["self"]._transmitter._leaving_at == channel.base + channel.offset[slot]:
        return None  # no cost is charged for the following work
    slots = [(slot + 1 + turn) % channel.slots for turn in range(-times, 0)]
    return [(s.ni, s.board(channel), one, s.number(at["stream"])) for one in slots]


def back(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return the entries from a message on."""
    channel, stream = at["channel"], s.number(at["stream"])
    slots = [(at["slot"] + turn) % channel.slots for turn in range(times)]
    return [(s.ni, s.board(channel), In(s.ni["outgoing"], stream), one, stream) for one in slots]


def retry_hold(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the held stream."""
    if at["what"] < 0:
        return None
    stream = s.number(at["what"])
    return [(s.ni, In(s.ni["outgoing"], stream), stream)]


def retry_release(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return one stream; not for reports, and not if the timer ticks, too."""
    clock = s.parts.answers.clock
    return None if s.firmware.lossy or any(what < 0 for _, what in clock.held) else once(s, at, times)


def send_done(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments if no other work waits for the end of this packet."""
    late = s.firmware.lossy and s.parts.answers._late
    return None if late or s.parts.transmitter._behind else [(s.ni,)]


def fetch_done(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the channel of the oldest payload."""
    if times != 1 or "messages" in at:  # the engine is started once for all of them
        return None
    chain = s.parts.fetching._chain
    index, slot, _ = chain._entries[chain._done]
    channel = s.parts.outgoing.all[index]
    return None if is_closed(s, channel.stream[slot]) else [(s.ni, s.channel(channel))]


def error_seen(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the message, which is kept for the report."""
    if "message" not in at:
        return None
    channel, slot = at["message"]
    s.failed = Sram(channel.base + channel.offset[slot]), at["answer"].cause
    return [(s.ni,)]


def error_report(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments of a report to the own host, about a message in a channel's queue."""
    if s.failed is None or not isinstance(at["channel"], int):
        return None
    report = Sram(s.layout.report + 32 * at["self"]._place)
    number = at["channel"]
    return [(s.ni, Sram(s.layout.register(number, Register.FRONT)), report, *s.failed, number)]


def job(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return a remote memory message."""
    return None if s.parts.remote._parked is at["job"] else [(s.ni, s.job(at["job"]))]


def executed(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return a message whose target is a single piece, and its buffer."""
    one = at["job"]
    if len(one.pieces) > 1 or s.parked:
        return None
    return [(s.ni, s.job(one), s.buffers[one.buffer])]


def remote_write(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments; a lock after the data is reported by the last block."""
    one = at["job"]
    locks = one.lock and not one.place & MORE
    runs = executed(s, at, times)
    return runs and [(s.ni, given, None if locks else buffer, 0 if locks else WAKE) for _, given, buffer in runs]


def translate_map(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return the words of the allocation map."""
    words, first, last = Sram(s.layout.maps + MAP_BYTES * at["entry"]), at["first"], at["last"]
    return [(words, max(first, (first // 32 + turn) * 32), last) for turn in range(times)]


def multicast_copy(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the lines of a message that is stored in one piece."""
    words = s.firmware.nic.sram.load(at["parts"][0][0] + 8) >> 16
    if len(at["parts"]) > 1 or words & 1:  # padding is not part of a message
        return None
    begin, to = at["parts"][0][0], at["to"]
    end = Sram(begin + 32 * times)
    return [(Sram(to + 32 * line), Sram(begin + 32 * line), end) for line in range(times)]


def multicast_entry(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the copy's header, and the entry of a child that is not down."""
    copies = at["copies"]
    if is_closed(s, s.parts.outgoing.order.number(copies.index, at["vnn"], 0)):
        return None
    place = copies.next if at["first"] is None else copies.offset[at["first"]]
    return [(s.ni, s.replica, Sram(at["to"]), at["vnn"], copies.index - s.firmware.options.channels - 1, place)]


def multicast_deliver(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]]:
    """Return the arguments of a delivery to an endpoint; the end of the last one frees the buffer."""
    buffer = at["last"][0] if at["channel"] == at["place"].channels[-1] else NONE
    return [(s.ni, s.replica, at["channel"], s.buffers[buffer] if buffer >= 0 else None)]


def channel_blocked(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return a channel's turn; with doorbells the end of the turn is not part of the C."""
    has_turns = isinstance(s.parts.search, Notices)
    return None if has_turns or "channel" not in at else [(s.ni, s.board(at["channel"]))]


def dma_done(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments, except during a driver request whose end interrupts the host: the C has no such end."""
    chain = s.parts.delivery
    under_way = (chain._tail - chain._done) % chain._count
    ends = {chain._entries[(chain._done + turn) % chain._count][0] for turn in range(under_way)}
    return None if REQUESTED in ends else once(s, at, times)


def ack_seen(s: Shared, at: Mapping[str, Any], times: int) -> Iterable[Sequence[Any]] | None:
    """Return the arguments, except of a report to another host, whose place is free at once."""
    message = at.get("message")
    return None if message is not None and message[0] is s.parts.outgoing.reports else alone(s, at, times)


PATHS: Mapping[str, Given] = {
    "channel_blocked": channel_blocked,
    "send_message": of_channel,
    "send_later": later(of_channel),
    "send_per_ni": per_ni,
    "later_per_ni": later(per_ni),
    **dict.fromkeys(("slotted_send", "slotted_send_ni", "hybrid_send", "hybrid_send_ni"), slotted),
    "slotted_later": later(slotted),
    **dict.fromkeys(("slotted_ack", "hybrid_ack", "hybrid_payload"), alone),
    "send_fetch": of_channel,
    "fetch_done": fetch_done,
    "send_done": send_done,
    "resend_nothing": alone,
    "resend_find": found,
    "resend_message": lambda s, at, n: [(s.ni, at["slot"])],
    "news_nothing": alone,
    "receive_message": alone,
    "receive_per_ni": alone,
    "send_ack": lambda s, at, n: (
        [(s.ni, at["key"], at["source"], at["stream"] % s.layout.targets)]
        if "key" in at
        else [(s.ni, at["job"].key, at["job"].source, at["job"].stream % s.layout.targets)]
    ),
    "send_nack": lambda s, at, n: None if at["lack"] else [(s.ni,)],
    "receive_dropped": alone,
    "receive_bad": alone,
    "receive_again": lambda s, at, n: None if s.parts.receiver._verdicts.failed else [(s.ni,)],
    "early_look": lambda s, at, n: None if s.parts.receiver._verdicts.stalled != NONE else [(s.ni,)],
    "early_piece": alone,
    "early_nothing": lambda s, at, n: [
        (s.ni, s.buffers[at["buffer"]], Sram(at["self"]._sentinels._at[at["buffer"]]), [0])
    ],
    "dma_done": dma_done,
    "ack_seen": ack_seen,
    "error_seen": error_seen,
    "error_report": error_report,
    "answer_strange": alone,
    "nack_seen": lambda s, at, n: [(s.ni,)] if s.firmware.options.retry_delay_us else None,
    "roll_back_step": back,
    "retry_hold": retry_hold,
    "retry_release": retry_release,
    "free_message": lambda s, at, n: [(s.ni, s.board(at["channel"]))] * n,
    "tell_host": alone,
    "sync_heard": lambda s, at, n: None if s.firmware.lossy else [(s.ni,)],
    "sync_answered": alone,
    "receive_exact": lambda s, at, n: [()],
    "connection_look": alone,
    "connection_tag": lambda s, at, n: (
        [(s.ni, Sram(at["channel"].base + at["channel"].offset[at["slot"]]), s.parts.outgoing.order.peer(at["stream"]))]
        if "slot" in at
        else None
    ),
    "window_moves": lambda s, at, n: [(s.ni, In(s.boards[at["channel"].index]["entry"], at["slot"]))],
    "remote_look": job,
    "translate_static": lambda s, at, n: [(Sram(s.layout.static + Static.BYTES * turn), at["va"]) for turn in range(n)],
    "translate_map": translate_map,
    "remote_write": remote_write,
    "remote_lock": lambda s, at, n: [(s.ni, at["job"].lock_pieces[0][0], at["job"].value, s.buffers[at["job"].buffer])],
    "remote_read": executed,
    "front_moved": lambda s, at, n: [
        (s.ni, Sram(s.layout.register(at["channel"], Register.FRONT)), [Var(at["front"], "_expected")])
    ],
    "queue_look": lambda s, at, n: [(s.ni, at["channel"])],
    "queue_message": alone,
    "queue_drain": lambda s, at, n: [
        (s.ni, Sram(s.layout.register(at["channel"], Register.FRONT)), In(s.ni["waiting"], at["channel"]))
    ],
    "queue_end": lambda s, at, n: [(s.ni, at["channel"])],
    "queue_passed": lambda s, at, n: [(s.ni, at["channel"], at["end"])],
    "multicast_look": lambda s, at, n: [(s.ni, s.replica)],
    "multicast_local": lambda s, at, n: [(s.ni, s.replica, s.board(at["channel"]), at["slot"])],
    "multicast_done": lambda s, at, n: [(s.ni, *s.ended(at))],
    "multicast_copy": multicast_copy,
    "multicast_entry": multicast_entry,
    "multicast_deliver": multicast_deliver,
}
"""Function that returns the arguments of each path; it returns None if the C does not cover the case."""
ANY_TO_ANY = frozenset(
    (
        *("send_nack", "receive_dropped", "early_look", "receive_again", "queue_message"),
        *(
            "multicast_look",
            "remote_look",
            "remote_read",
            "multicast_entry",
            "resend_message",
            "receive_message",
            "send_fetch",
            "retry_hold",
        ),
    )
)
"""Paths whose C numbers streams by source channel, NI and channel."""


SCOREBOARD = frozenset(
    (
        *("send_fetch", "fetch_done", "resend_message", "window_moves", "multicast_local", "multicast_done"),
        *("free_message", "nack_seen", "error_seen", "retry_hold", "channel_blocked"),
    )
)
"""Paths whose C finds messages in a scoreboard; a queue of slots has none."""
