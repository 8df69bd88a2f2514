"""Endpoints of a node's logical channels, from the CHANNEL lines of the configuration (paper 000, 4.3.1).

A channel that no line connects is the host's. A card without a line owns the highest channel that no line connects. If
option `channels` is not given, the lines determine it: the cluster has the channels that its nodes need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.config.model import FPGA_CARD, HOST_QUEUE, IO_CARD, Connection

NO_CARD = -1


@dataclass(frozen=True)
class ChannelMap:
    """Owners of the channels of one node."""

    card: int
    """Channel of the FPGA card or I/O card, or NO_CARD."""
    processes: Mapping[str, int]
    """Channel of each process, by name."""
    kind: str = "FPGA card"
    """Kind of the card, for texts."""

    def process(self, channel: int) -> str:
        """Return the name of the process that owns a channel, or an empty text."""
        return next((name for name, own in self.processes.items() if own == channel), "")

    def owner(self, channel: int) -> str:
        """Return a description of the owner of a channel, or an empty text for the host."""
        if channel == self.card:
            return f"its {self.kind}"
        name = self.process(channel)
        return f"its process {name!r}" if name else ""


def connections(view: ClusterView, vnn: int) -> tuple[Connection, ...]:
    """Return the connected channels of a node."""
    return view.channels[vnn] if view.channels else ()


def wanted_channels(view: ClusterView) -> int:
    """Return the number of channels that the CHANNEL lines need on every node, or 0 without lines."""
    return max((_wanted(view, vnn) for vnn in range(len(view.channels))), default=0)


def _wanted(view: ClusterView, vnn: int) -> int:
    taken = {one.channel: one.endpoint for one in connections(view, vnn)}
    count = max(taken, default=-1) + 1
    if count and view.has_endpoint_card(vnn) and FPGA_CARD not in taken.values():
        count += all(channel in taken for channel in range(1, count))
    return count


def card_kind(view: ClusterView, vnn: int) -> str:
    """Return the kind of a node's endpoint card, for texts."""
    return "I/O card" if view.has(vnn, IO_CARD) else "FPGA card"


def channel_map(options: Options, view: ClusterView, vnn: int) -> ChannelMap:
    """Return the owners of a node's channels.

    Args:
        options: Options in force, with the number of channels.
        view: Cluster, with the CHANNEL lines of all nodes.
        vnn: Node.

    Raises:
        OptionError: A line connects a channel that does not exist, or no channel is left for the card.
    """
    found, processes, card = set(), {}, NO_CARD
    for one in connections(view, vnn):
        if one.channel >= options.channels:
            cause = f"option channels={options.channels} gives channels 0 to {options.channels - 1}"
            raise OptionError(f"{one.place}: CHANNEL {one}", cause, f"give {one.channel + 1} or more channels")
        found.add(one.channel)
        if one.endpoint == FPGA_CARD:
            card = one.channel
        elif one.endpoint != HOST_QUEUE:
            processes[one.process] = one.channel
    if card == NO_CARD and view.has_endpoint_card(vnn):
        card = _default(options, view, vnn, found)
    return ChannelMap(card, processes, card_kind(view, vnn))


def _default(options: Options, view: ClusterView, vnn: int, found: set[int]) -> int:
    """Return the channel of a card that no line connects: the highest channel that no line connects."""
    free = [channel for channel in range(1, options.channels) if channel not in found]
    if free:
        return free[-1]
    what = f"option channels={options.channels}"
    cause = f"the {card_kind(view, vnn)} of {view.names[vnn]} needs a channel of its own"
    if options.channels < 2:
        raise OptionError(what, cause, "give 2 or more")
    remedy = f"add CHANNEL <number> {FPGA_CARD}" if view.has(vnn, FPGA_CARD) else "remove a CHANNEL line"
    raise OptionError(what, f"{cause}, but CHANNEL lines connect all of them", remedy)
