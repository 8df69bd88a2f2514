"""Shared parts of card studies: GRIM with a channel for each card, and trace evaluation of cards and host CPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.grim.formats import Device
from pymodels.config.model import FPGA_CARD
from pymodels.errors import ConfigError
from pymodels.trace import Part, unit
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.grim._grim import bring_up

CLUSTER = "two_cards"
LAYER = "grim"
NEEDS = ("FPGA cards",)
CHANNELS = Option(2, "logical channels: the last one of each NI is its card's", 2, 32)
CARD_OPTIONS = {**layer_options(LAYER), "grim.channels": CHANNELS}
SETTLE_PS = 100_000_000
"""Time after which all messages that set a forwarding table have arrived, ps."""
PICOSECONDS = 1_000_000
"""Picoseconds per microsecond; bytes per picosecond times this are MB/s."""


def check(plan: Plan) -> None:
    """Raise ConfigError unless each of the first two hosts has an FPGA card."""
    for host in (0, 1):
        check_card(plan, host, FPGA_CARD)


def check_card(plan: Plan, host: int, card: str) -> None:
    """Raise ConfigError unless the host has such a card."""
    hosts = plan.cluster.hosts
    if host < len(hosts) and card in hosts[host].cards:
        return
    cause = (
        f"the study needs one on host {host}, {hosts[host].name}" if host < len(hosts) else "the study needs two hosts"
    )
    raise ConfigError("CLUSTER", 0, f"no {card}", cause, f"add USE {card} to the host, or choose CLUSTER={CLUSTER}")


class Pair:
    """Two hosts with a card each: the libraries, references of the cards, numbers of circuits and handlers."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.libraries: list[Any] = lab.start_layer(LAYER)
        self.near, self.far = self.libraries[0], self.libraries[1]
        self.cards: list[int] = []
        self.number: dict[str, int] = {}
        """Numbers of handlers and circuits, by name."""

    async def enable(self, handlers: Sequence[Mapping[str, Any]], circuits: Sequence[str]) -> None:
        """Start both hosts with their handlers, and resolve the numbers of these and of `circuits`."""
        await bring_up(self.lab, self.libraries, handlers)
        self.cards = [self.near.get_resource(vnn, Device.CELOXICA) for vnn in (0, 1)]
        for name in [*circuits, *handlers[0], *handlers[1]]:
            self.number[name] = await self.near.resolve_handler(name)
            await self.far.resolve_handler(name)

    def host(self, vnn: int) -> int:
        """Return the first host's reference of a host."""
        return int(self.near.get_dest_id(vnn))


def first_after(when: NDArray[np.int64], begin: int) -> int:
    """Return the first time after `begin`. Raises LookupError if there is none."""
    at = int(np.searchsorted(when, begin, "right"))
    if at == len(when):
        raise LookupError(f"no such record in the trace after {begin / PICOSECONDS:.3f} us")
    return int(when[at])


def host_events(trace: NDArray[np.void], begin: int, end: int) -> int:
    """Return the number of trace records of both host CPUs in an interval, including its ends."""
    cpus = [unit(node, Part.HOST_CPU) for node in (0, 1)]
    inside = (trace["time"] >= begin) & (trace["time"] <= end)
    return int(np.count_nonzero(inside & np.isin(trace["unit"], cpus)))
