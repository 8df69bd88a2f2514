"""Block of the firmware's variables."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

from firmware.grim.formats import Device
from firmware.grim.nic.parts import Parts
from firmware.grim.nic.words import Counter
from tests.tools.beside.grim.receiving import buffer_of, lossy, receiving, remote, waiting
from tests.tools.beside.grim.sending import board_of, fetching, searching, sending, slots_of
from tests.tools.beside.grim.shared import Buffers, Shared
from tests.tools.beside.state import Var

COUNTERS = {
    "sent": Counter.SENT,
    "resent": Counter.RESENT,
    "accepted": Counter.ACCEPTED,
    "dropped": Counter.DROPPED,
    "acks": Counter.ACKS_SEEN,
    "timeouts": Counter.TIMEOUTS,
    "duplicates": Counter.DUPLICATES,
    "nacks_sent": Counter.NACKS_SENT,
    "nacks_seen": Counter.NACKS_SEEN,
    "rolled_back": Counter.ROLLED_BACK,
    "queued_control": Counter.CONTROL_QUEUED,
    "early": Counter.EARLY,
    "starved": Counter.STARVED,
    "blocked": Counter.BLOCKED,
    "errors_sent": Counter.ERRORS_SENT,
    "errors": Counter.ERRORS_SEEN,
    "copies": Counter.COPIES,
}


def numbers(s: Shared) -> dict[str, Any]:
    ni, layout, options = s.firmware, s.layout, s.firmware.options
    return {
        "me": ni.me,
        "me_word": ni.me << 8,
        "answer_word": ni.me << 8 | Device.NI,
        "nodes": ni.nodes,
        "sources": layout.sources,
        "targets": layout.targets,
        "channel_count": options.channels,
        "node_shift": s.node_shift,
        "channel_shift": s.channel_shift,
        "window": options.window,
        "limit": layout.limit,
        "slot": layout.slot,
        "host_limit": layout.host_limit,
        "host_slot": layout.host_slot,
        "card_limit": layout.card_queue_bytes,
        "own_limit": layout.own_limit,
        "tree_limit": layout.tree_limit,
        "tree_count": options.multicast_trees,
        "least": options.cut_through_least,
        "retry_delay": 2 * options.retry_delay_us,
        "most_tries": options.timeout_tries or 0x7FFFFFFF,
    }


def state_of(parts: Parts) -> Shared:
    """Return the whole state."""
    s = Shared(parts, parts.peers.ni)
    s.boards = [board_of(s, channel) for channel in parts.outgoing.all]
    s.slots = [slots_of(s, channel) for channel in parts.outgoing.channels if channel.stride]
    s.buffers = Buffers(partial(buffer_of, s))
    s.ni = {
        **numbers(s),
        **fetching(s),
        **searching(s),
        **lossy(s),
        **waiting(s),
        **sending(s),
        **receiving(s),
        **remote(s),
        **{name: Var(s.firmware, "_counts", itemgetter(at)) for name, at in COUNTERS.items()},
        "bad": Var(s.firmware, "_counts", lambda c: c[Counter.BAD_CRC] + c[Counter.OVERLONG]),
        "strange": Var(s.firmware, "_counts", lambda c: c[Counter.STRANGE] + c[Counter.STALE]),
        "reports_afar": Var(parts.answers.reports.afar, "waiting"),
    }
    return s
