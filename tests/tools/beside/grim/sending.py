"""State of transmission: queues and scoreboards, streams, and the path to the link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from firmware.grim.formats import TOKENS
from firmware.grim.nic.layout import REGISTERS, STATUS_BYTES, Register
from firmware.grim.nic.notices import Notices
from firmware.grim.nic.orders import PerNi
from firmware.grim.nic.queues.hybrid import HybridQueue
from tests.tools.beside.compiled import Sram
from tests.tools.beside.grim.shared import Shared, blocks
from tests.tools.beside.state import Columns, In, Put, Sparse, Var

COLUMNS = ("offset", "size", "sequence", "again")
"""Columns of a scoreboard."""
READY = 1 << 12
"""Capacity for streams that may send."""


def board_of(s: Shared, channel: Any) -> dict[str, Any]:
    names = ("first", "count", "head")
    if channel.stride:
        return {}
    columns: dict[str, Any] = {name: partial(getattr, channel, name) for name in COLUMNS}
    columns |= {"state": lambda: channel.state, "stream": lambda: s.place[channel.stream]}
    return {
        "channel": s.channel(channel),
        **{name: Var(channel, name) for name in names},
        "blocked": Var(channel, "blocked"),
        "slots": channel.slots,
        "first_token": channel.first_token,
        "base": Sram(channel.base),
        "entry": Columns(columns, only=lambda: (np.arange(channel.count) + channel.first) % channel.slots),
    }


def slots_of(s: Shared, channel: Any) -> dict[str, Any]:
    """Return the state of a queue of slots, in which a slot is its own entry."""
    hybrid = isinstance(channel, HybridQueue)
    return {
        "channel": s.channel(channel),
        **{name: Var(channel, name) for name in ("first", "count", "head")},
        "slots": channel.slots,
        "first_token": channel.first_token,
        "base": Sram(channel.base - STATUS_BYTES),
        "stride": channel.stride,
        "limit": channel.limit,
        "payload_base": Sram(channel.payload_base) if hybrid else 0,
        "payload_front": Var(channel, "_payload_front") if hybrid else 0,
        "payload_limit": channel._payload_limit if hybrid else 0,
    }


def by_token(s: Shared) -> Sparse:
    """Return the scoreboards of the tokens in use."""
    found = {}
    for channel in s.parts.outgoing.all:
        for number in range(channel.first, channel.first + channel.count):
            found[channel.first_token + number % channel.slots] = s.board(channel)
    return Sparse(TOKENS, found)


def sending(s: Shared) -> dict[str, Any]:
    parts, layout = s.parts, s.layout
    streams, transmitter, clock = parts.outgoing.streams, parts.transmitter, parts.answers.clock
    channels = Sram(layout.channels)
    waits = lambda: np.flatnonzero(streams.waiting)  # noqa: E731
    ready = lambda: [s.place[one] for one in streams._ready]  # noqa: E731
    held = lambda: [s.place[max(what, 0)] for _, what in clock.held]  # noqa: E731
    outgoing = {
        "sequence": lambda: streams.sequence,
        "in_flight": lambda: streams.in_flight,
        "waiting": lambda: streams.waiting,
        "flags": lambda: np.array(streams.held) | np.array(streams._queued) << 1 | np.array(streams.closed) << 2,
    }
    return {
        "channels": channels,
        "behind_channels": Sram(layout.channels + REGISTERS * s.firmware.options.channels),
        "routes": Sram(layout.routes),
        "boards": s.boards,
        "by_token": by_token(s),
        "tree_boards": In(s.boards, s.firmware.options.channels + 1),
        "own": In(s.boards, s.firmware.options.channels),
        "outgoing": Columns(outgoing, s.place, s.streams, given=("in_flight",) if s.firmware.lossy else ()),
        "cursor": Columns({"": lambda: streams.cursor}, s.place, s.streams, waits),
        "ready": Columns({"": ready}, None, READY, list),
        "ready_count": Var(streams, "_ready", len),
        "ready_mask": READY - 1,
        "held": Columns({"due": lambda: [due for due, _ in clock.held], "stream": held}, None, READY, list),
        "held_count": Var(clock, "held", len),
        "held_mask": READY - 1,
        "control": Sram(layout.control),
        "control_head": Var(transmitter, "_head", mask=layout.control_entries - 1),
        "control_waiting": Var(transmitter, "waiting"),
        "control_mask": layout.control_entries - 1,
        "busy": Var(transmitter, "busy"),
        "prepared": Var(transmitter, "prepared", lambda message: message[0] if message else 0),
        **dict(
            zip(("second", "second_limit"), map(Sram, getattr(transmitter, "_second", None) or (0, 0)), strict=True)
        ),
        "prepared_skip": Var(transmitter, "_align"),
        "prepared_stream": 0 if transmitter.prepared is None else int(s.place[transmitter.prepared[4]]),
    }


def fetching(s: Shared) -> dict[str, Any]:
    fetching = s.parts.fetching
    if fetching is None or s.slots:
        return {}
    entries = [In(s.boards[index]["entry"], slot) for index, slot, _ in fetching._chain._entries]
    return {**blocks("fetch", fetching._chain), "fetched": entries}


def searching(s: Shared) -> dict[str, Any]:
    search, layout = s.parts.search, s.layout
    if not isinstance(search, Notices):
        return {}
    return {
        "news": Columns({"": lambda: [channel.index for channel in search._ready]}, None, READY, list),
        "news_count": Var(search, "_ready", len),
        "channel_mask": READY - 1,
        "doorbells": Sram(layout.doorbells),
        "consumer": Var(search, "_consumer"),
        "doorbell_mask": search._entries - 1,
    }


def by_sequence(s: Shared) -> Any:
    order = s.parts.outgoing.order
    if not isinstance(order, PerNi):
        return None
    return Columns({"": lambda: np.frombuffer(b"".join(order._tokens), np.uint8)})


def slot_at(s: Shared) -> Any:
    """Return the slots of the tokens in use."""
    channels = [channel for channel in s.parts.outgoing.channels if channel.stride]
    found = {}
    for one in channels:
        for slot in range(one.slots):
            found[one.first_token + slot] = Sram(one.base - STATUS_BYTES + one.stride * slot)
    return Sparse(TOKENS, found) if found else None


def slot_words(s: Shared, channel: Any) -> Iterator[Put]:
    """Yield state, sequence number and stream of each message, stored in its slot after the address of its payload."""
    for slot in range(channel.slots):
        at = channel.base - STATUS_BYTES // 2 + channel.stride * slot
        yield Put(at, Var(channel, "state", partial(slot_word, s, channel, slot)))


def slot_word(s: Shared, channel: Any, slot: int, state: Sequence[int]) -> int:
    return int(state[slot] | channel.sequence[slot] << 8 | s.number(channel.stream[slot]) << 16)


def unsent(vnn: int, routes: Sequence[Sequence[int]]) -> int:
    """Return the number of bytes before the route to a NI that the send engine skips."""
    return routes[vnn][2]


def puts(s: Shared) -> list[Put]:
    """Return the words that only the C keeps: fill of an endpoint's queue with its registers, skipped bytes with a
    route.
    """
    layout, endpoints = s.layout, s.parts.endpoints
    backs = [
        Put(layout.register(channel, Register.FRONT) + 24, Var(endpoints, "_back", itemgetter(channel)))
        for channel in range(s.firmware.options.channels)
    ]
    for channel in s.parts.outgoing.channels:
        if channel.stride:
            backs += slot_words(s, channel)
    if isinstance(s.parts.search, Notices):
        backs += [
            Put(layout.register(c, Register.FRONT) + 28, Var(s.parts.search, "_queued", itemgetter(c)))
            for c in range(s.firmware.options.channels)
        ]
    if s.parts.fetching is not None:
        backs += [
            Put(
                layout.register(c, Register.PAYLOAD_FRONT),
                Var(s.parts.fetching, "_fetched", itemgetter(c)),
            )
            for c in range(s.firmware.options.channels)
        ]
    return backs + [
        Put(layout.routes + 16 * vnn + 8, Var(s.firmware, "routes", partial(unsent, vnn)))
        for vnn in range(s.firmware.nodes)
    ]
