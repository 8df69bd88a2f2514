"""State of reception: buffers, endpoints, answers, remote memory and trees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from firmware.grim.nic.delivery.delivery import Delivery
from firmware.grim.nic.layout import NONE, Register, Word
from firmware.grim.nic.losses import LossyAnswers
from tests.tools.beside.compiled import Sram
from tests.tools.beside.grim.sending import by_sequence, slot_at
from tests.tools.beside.grim.shared import Shared, blocks
from tests.tools.beside.state import Columns, Sparse, Var

LOWEST = [max((mask & -mask).bit_length() - 1, 0) for mask in range(256)]
"""Lowest channel of each mask of channels."""


def buffer_of(s: Shared, number: int) -> dict[str, Any]:
    buffers = s.parts.buffers
    sentinels = s.parts.cut_through._sentinels._at
    return {
        "data": Sram(buffers.at[number]),
        "free": Var(buffers, "free", lambda free: free[number]),
        "limit": Sram(buffers.at[number] + s.layout.buffer_bytes),
        "sentinel": Sram(sentinels[number]) if number < len(sentinels) else [0],
    }


def receiving(s: Shared) -> dict[str, Any]:
    parts, layout = s.parts, s.layout
    buffers, verdicts, endpoints, cut = parts.buffers, parts.receiver._verdicts, parts.endpoints, parts.cut_through
    free = [number for number, is_free in enumerate(buffers.free) if is_free and number != buffers.armed]
    incoming = {"expected": lambda: verdicts.expected, "refusing": lambda: verdicts.refusing}
    early = lambda offset: offset if endpoints.is_lent else 0  # noqa: E731
    return {
        "incoming": Columns(incoming, s.place, s.streams),
        "armed": None if buffers.armed == NONE else s.buffers[buffers.armed],
        "other": s.buffers[free[0]] if free else {"free": 0},
        "early_channel": Sram(layout.register(endpoints._lent, Register.FRONT)) if endpoints.is_lent else None,
        "early_offset": Var(cut, "_offset", early),
        "early_length": cut._length,
        **blocks("block", parts.delivery),
        "pointer": Sram(layout.pointers),
        "queued": queued(s, parts.delivery),
    }


def queued(s: Shared, chain: Delivery) -> Sparse:
    """Return the buffers that pending blocks will free."""
    size, frees = chain._count, {}
    for index in range(chain._done, chain._done + (chain._tail - chain._done) % size):
        buffer = chain._entries[index % size][0]
        frees[index % size] = {"frees": s.buffers[buffer] if buffer >= 0 else None}
    return Sparse(size, frees)


def lossy(s: Shared) -> dict[str, Any]:
    losses, peers = s.parts.answers, s.parts.peers
    mask = lambda members: sum(1 << member for member in members)  # noqa: E731
    shared = {"heard": Var(peers, "heard", mask), "answered": Var(peers, "answered", mask)}
    if not isinstance(losses, LossyAnswers):
        return shared
    unanswered = {
        "base": lambda: losses._base,
        "age": lambda: losses._age,
        "answered": lambda: np.array(
            [[bits >> 32 * word & 0xFFFFFFFF for word in range(8)] for bits in losses._answered]
        ),
    }
    return {
        **shared,
        "tags": Columns({"": lambda: np.array(s.firmware.tags) & 0xFF}),
        "tries": Columns({"": lambda: np.array(s.firmware.tries) & 0xFF}),
        "unanswered": Columns(unanswered, s.place, s.streams, given=("base", "answered")),
    }


def length(channel: int, queues: Sequence[Sequence[Any]]) -> int:
    """Return the number of messages that wait for an endpoint."""
    return len(queues[channel])


def waiting(s: Shared) -> dict[str, Any]:
    buffering = s.parts.buffering
    if buffering is None:
        return {}
    queues = []
    for channel, queue in enumerate(buffering.queues):
        gone = buffering._gone[channel]
        places = Sparse(256, {gone + at & 255: s.buffers[one[0]] for at, one in enumerate(queue)})
        first = Var(buffering, "_gone", itemgetter(channel))
        count = Var(buffering, "queues", partial(length, channel))
        queues.append({"first": first, "count": count, "buffer": places})
    return {"waiting": queues, "share": buffering._share, "share_mask": 255}


def remote(s: Shared) -> dict[str, Any]:
    remote, layout = s.parts.remote, s.layout
    return {
        "fixed": Sram(layout.static),
        "windows": Sram(layout.runtime),
        "request": Sram(Word.REQUEST),
        "kernel": Sram(Word.KERNEL),
        "freed_word": Sram(Word.FREED),
        "freed": Var(remote, "_freed"),
        "victim": Var(remote._translation, "_victim"),
        "victim_mask": s.firmware.options.translation_runtime - 1,
        "request_number": Var(remote, "_number", mask=0xFFFF),
        "trees": Sram(layout.trees),
        "first_channel": Columns({"": lambda: LOWEST}),
        "by_sequence": by_sequence(s),
        "slot_at": slot_at(s),
    }
