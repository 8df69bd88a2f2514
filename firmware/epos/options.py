"""Configuration repository of EPOS: the features that can be selected, with their ranges (paper 004, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from firmware.epos.nic.pointcuts import PROTOCOLS, composed
from firmware.options import LayerOptions, OptionError, option
from pymodels.costs.compositions import MOST, declared

SETS = [composed("+".join(one)) for one in declared(Path(__file__).parent / "nic") if one and one != ("dynamic",)]
"""Compiled sets of protocols; a composition is one of them."""
ORDERS = ["+".join(one) for chosen in SETS for one in (permutations(chosen) if len(chosen) <= MOST else [chosen])]
"""Accepted spellings of compositions: small sets in any order, which has no effect, larger ones in the predefined
order.
"""


@dataclass(frozen=True)
class Options(LayerOptions):
    """Features with their defaults."""

    mtu: int = option(4096, "Maximum bytes of payload of a frame; a power of two", 64, 8192)
    slot_bytes: int = option(1 << 16, "Bytes of a staging slot, the maximum of a message; a power of two", 64, 1 << 20)
    slots: int = option(4, "Staging slots of each node; a power of two", 1, 64)
    send_frames: int = option(8, "Frames of the Send Ring, and control blocks of the Tx DMA Requests", 2, 64)
    receive_frames: int = option(8, "Frames of the Receive Ring", 2, 64)
    pio_limit: int = option(
        256,
        "Payload above which a frame is fetched by DMA instead of written by host stores; assumed, "
        "`epos_threshold` measures the crossover",
        0,
        8192,
    )
    overtake: int = option(0, "A fetched frame overtakes one whose DMA is in progress (1)", 0, 1)
    dynamic: int = option(
        0,
        "Hooks of all protocols with flags tested at run time, all off (1), to measure what composition saves",
        0,
        1,
    )
    timeout_us: int = option(
        200, "Reliability: time after which an unacknowledged frame is retransmitted; assumed", 1, 1_000_000
    )
    rendezvous_from: int = option(
        4096, "Rendezvous: bytes from which a message goes into a posted buffer; assumed", 1, 1 << 20
    )
    least_mtu: int = option(1024, "MTU adaptation: minimum MTU; a power of two", 64, 8192)
    processes: int = option(1, "Protection: processes of each host, isolated from each other", 1, 8)
    protocols: str = option(
        "",
        "Protocols composed in, such as `reliability+flow`; empty for the baseline alone",
        choices=("", *ORDERS),
    )
    notify: str = option(
        "",
        "Tx FIFO Queue: the card's doorbell FIFO, or words of its memory that the host writes; empty for the "
        "FIFO if the card has one",
        choices=("", "doorbell", "word"),
    )
    activate: str = option(
        "lanai",
        "Start of the chain of Tx DMA Requests: by the LANai at the doorbell, or by the host before the doorbell",
        choices=("lanai", "host"),
    )
    rx_fifo: str = option(
        "nic",
        "Memory of the Rx FIFO Queue: the NIC's, as in paper 004, or mirrored into the host's",
        choices=("nic", "host"),
    )
    staging: str = option(
        "hold",
        "Frame for a full staging slot: waits in the Receive Ring (hold), or overwrites the slot",
        choices=("hold", "overwrite"),
    )
    multicast: str = option(
        "nic", "Multicast: a frame is repeated by the NIC, or by a loop of the host", choices=("nic", "loop")
    )

    @property
    def composition(self) -> tuple[str, ...]:
        """Selected protocols in their predefined order."""
        return composed(self.protocols)

    @property
    def sharers(self) -> int:
        """Number of processes that share the NIC."""
        return self.processes if "protection" in self.composition else 1

    def on(self, has_doorbells: bool) -> Options:
        """Return the options with `notify` resolved: the doorbell FIFO if the card has one, else memory words."""
        return replace(self, notify=self.notify or ("doorbell" if has_doorbells else "word"))

    @classmethod
    def from_values(cls, given: Mapping[str, float | str]) -> Options:
        """Return the options with the given values, whose protocols may be named in any order. Raises OptionError."""
        named = given.get("protocols")
        ordered = {"protocols": "+".join(composed(named))} if isinstance(named, str) else {}
        return super().from_values({**given, **ordered})

    def check(self) -> None:
        """Raise OptionError for features that contradict each other."""
        for name in ("mtu", "slot_bytes", "slots", "least_mtu", "processes"):
            value = getattr(self, name)
            if value & value - 1:
                raise OptionError(f"option {name}", f"{value} is not a power of two", "give a power of two")
        if self.slot_bytes < self.mtu:
            cause = f"a staging slot of {self.slot_bytes} bytes is shorter than a frame of {self.mtu}"
            raise OptionError("option slot_bytes", cause, "increase it or reduce mtu")
        if self.dynamic and self.composition:
            raise OptionError("option dynamic", "it is defined for the baseline only", "leave protocols empty")
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError for values that a selected protocol excludes."""
        if "mtu" in self.composition and self.least_mtu > self.mtu:
            cause = f"{self.least_mtu} is greater than the MTU, {self.mtu}, which cannot grow"
            raise OptionError("option least_mtu", cause, "reduce it")
        ordered = [one.name for one in PROTOCOLS if one.ordered and one.name in self.composition]
        if self.overtake and ordered:
            cause = f"{ordered[0]} needs frames in order"
            raise OptionError("option overtake", cause, f"use 0, or compose without {ordered[0]}")
        if self.staging == "overwrite" and self.rx_fifo == "host":
            cause = "a queue in host memory has no room for uncopied messages"
            raise OptionError("option rx_fifo", cause, "use nic, or staging=hold")
        if self.processes > 1 and "protection" not in self.composition:
            raise OptionError(
                "option processes",
                "several processes need the `protection` protocol",
                "compose protection in, or use 1",
            )
        if self.activate == "host" and "protection" in self.composition:
            raise OptionError("option activate", "a process that can start a chain can start every chain", "use lanai")
        if self.staging == "overwrite" and "flow" in self.composition:
            raise OptionError(
                "option staging", "with flow control no slot is overwritten", "use hold, or compose without flow"
            )
