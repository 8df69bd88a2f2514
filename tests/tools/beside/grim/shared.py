"""State of one NI at the start of a step, and the numbering of streams in C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from firmware.grim.formats import MessageType
from firmware.grim.nic.delivery.delivery import Delivery
from firmware.grim.nic.layout import Register
from tests.tools.beside.compiled import Sram
from tests.tools.beside.state import In, Var


def bits(count: int) -> int:
    """Return the number of bits of a number below `count`."""
    return max(count - 1, 0).bit_length()


class Buffers(dict[int, dict[str, Any]]):
    """Requested receive buffers, by number."""

    def __init__(self, make: Callable[[int], dict[str, Any]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> dict[str, Any]:
        self[number] = made = self._make(number)
        return made


class Shared:
    """Parts of the state common to several structures. A stream has another number in the C, which computes it by
    shifts.
    """

    def __init__(self, parts: Any, ni: Any) -> None:
        self.parts, self.firmware, self.layout = parts, ni, ni.layout
        options, layout = ni.options, ni.layout
        self.per_ni = options.sequencing == "per-ni"
        self.node_shift, self.channel_shift = bits(ni.nodes), bits(max(layout.targets, layout.sources))
        number = np.arange(layout.streams)
        if self.per_ni:
            self.place = number
        else:
            origin, rest = np.divmod(number, ni.nodes * layout.targets)
            vnn, target = np.divmod(rest, layout.targets)
            self.place = (origin << self.node_shift | vnn) << self.channel_shift | target
        self.streams = max(layout.sources << self.node_shift << self.channel_shift, layout.streams)
        self.boards: list[dict[str, Any]] = []
        """Scoreboard of each channel, by its number."""
        self.slots: list[dict[str, Any]] = []
        """Slots of queues that have them; a slot is its own entry."""
        self.buffers = Buffers(lambda _: {})
        """Packet buffers."""
        self.failed: Any = None
        """Address of the message of a report, and the reason of its failure."""
        self.replica: dict[str, Any] = {}
        """Message being replicated."""
        self.parked = parts.remote._parked is not None
        self.ni: dict[str, Any] = {}
        """Block of the firmware's variables."""

    def number(self, stream: int) -> int:
        """Return a stream's number in the C."""
        return int(self.place[stream])

    def job(self, one: Any) -> dict[str, Any]:
        """Return a remote memory message."""
        order, own = self.parts.outgoing.order, self.parts.outgoing.own
        pieces = [{"pa": pa, "bytes": size} for pa, size in one.pieces or ()]
        return {
            "data": Sram(self.parts.buffers.at[one.buffer]),
            "in": In(self.ni["incoming"], self.number(one.stream)),
            "out": In(self.ni["outgoing"], self.number(order.number(own.index, one.source, one.channels[0])))
            if one.kind == MessageType.RM_RV
            else None,
            "source": one.source,
            "target": one.channels[0],
            "va": Var(one, "target"),
            "size": Var(one, "size"),
            "lock": one.request if one.kind == MessageType.RM_RV else one.lock,
            "value": one.lock if one.kind == MessageType.RM_RV else one.value,
            "place": one.place >> 16,
            "piece": pieces or None,
        }

    def ended(self, at: Mapping[str, Any]) -> tuple[In, In]:
        """Return the own host's finished message."""
        channel, slot = at["message"]
        return self.board(channel), In(self.boards[channel.index]["entry"], slot)

    def channel(self, channel: Any) -> Sram:
        """Return the registers of a channel."""
        return Sram(self.layout.register(channel.index, Register.FRONT))

    def board(self, channel: Any) -> In:
        """Return the scoreboard of a channel."""
        return In(self.slots if channel.stride else self.boards, channel.index)


def blocks(name: str, chain: Delivery) -> dict[str, Any]:
    return {
        name: Sram(chain._blocks),
        f"{name}_tail": Var(chain, "_tail"),
        f"{name}_done": Var(chain, "_done"),
        f"{name}_mask": chain._count - 1,
    }
