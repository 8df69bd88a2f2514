"""The configuration repository of EPOS: what can be chosen, with its ranges (paper 004, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from firmware.epos.nic.pointcuts import PROTOCOLS, composed
from firmware.options import LayerOptions, OptionError, option
from pymodels.costs.compositions import MOST, declared

SETS = [composed("+".join(one)) for one in declared(Path(__file__).parent / "nic") if one and one != ("dynamic",)]
"""What is compiled, of which a composition is one."""
ORDERS = ["+".join(one) for chosen in SETS for one in (permutations(chosen) if len(chosen) <= MOST else [chosen])]
"""They may be named in any order, which changes nothing; those of many protocols in the predefined one."""


@dataclass(frozen=True)
class Options(LayerOptions):
    """The features with their defaults."""

    mtu: int = option(4096, "Bytes of payload of a frame at most; a power of two", 64, 8192)
    slot_bytes: int = option(1 << 16, "Bytes of a staging slot, and of a message at most; a power of two", 64, 1 << 20)
    slots: int = option(4, "Staging slots of each node; a power of two", 1, 64)
    send_frames: int = option(8, "Frames of the Send Ring, and control blocks of the Tx DMA Requests", 2, 64)
    receive_frames: int = option(8, "Frames of the Receive Ring", 2, 64)
    pio_limit: int = option(
        256,
        "Frames with more payload are fetched by DMA; the host stores others itself. Assumed; "
        "`epos_threshold` measures the crossing",
        0,
        8192,
    )
    overtake: int = option(0, "1: a frame that is here passes one whose DMA is not done", 0, 1)
    dynamic: int = option(
        0,
        "1: hooks of all protocols, whose flags are tested at run time, and none of which acts: what composing saves",
        0,
        1,
    )
    timeout_us: int = option(
        200, "Of reliability: after so long without an acknowledgement a frame is sent again. Assumed", 1, 1_000_000
    )
    rendezvous_from: int = option(
        4096, "Of rendezvous: messages of so many bytes go into posted buffers. Assumed", 1, 1 << 20
    )
    least_mtu: int = option(1024, "Of MTU adaptation: the least that is asked for; a power of two", 64, 8192)
    processes: int = option(1, "Of protection: processes of each host, none of which can reach what is another's", 1, 8)
    protocols: str = option(
        "",
        "The protocols that are composed in, as `reliability+flow`; empty: the baseline alone",
        choices=("", *ORDERS),
    )
    notify: str = option(
        "",
        "The Tx FIFO Queue: the card's doorbell FIFO, or words of its memory that the host writes. Open: the "
        "FIFO where the card has one",
        choices=("", "doorbell", "word"),
    )
    activate: str = option(
        "lanai",
        "Who starts the chain of Tx DMA Requests: the LANai when it sees the doorbell, or the host before it rings",
        choices=("lanai", "host"),
    )
    rx_fifo: str = option(
        "nic",
        "Where the Rx FIFO Queue is: in the NIC's memory, as paper 004 says, or mirrored into the host's",
        choices=("nic", "host"),
    )
    staging: str = option(
        "hold",
        "A staging slot that is not copied out yet: the frame waits in the Receive Ring, or the slot is overwritten",
        choices=("hold", "overwrite"),
    )
    multicast: str = option(
        "nic", "Of multicast: who repeats a frame, the NIC or a loop of the host", choices=("nic", "loop")
    )

    @property
    def composition(self) -> tuple[str, ...]:
        """The protocols in their predefined order."""
        return composed(self.protocols)

    @property
    def sharers(self) -> int:
        """Processes that share the NIC."""
        return self.processes if "protection" in self.composition else 1

    def on(self, has_doorbells: bool) -> Options:
        """Return the options with `notify` decided: the doorbell FIFO if the card has one, else a word of memory."""
        return replace(self, notify=self.notify or ("doorbell" if has_doorbells else "word"))

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """Return the options with the given values, whose protocols may be named in any order. Raises OptionError."""
        named = given.get("protocols")
        ordered = {"protocols": "+".join(composed(named))} if isinstance(named, str) else {}
        return super().of({**given, **ordered})

    def check(self) -> None:
        """Raise OptionError for features that contradict each other."""
        for name in ("mtu", "slot_bytes", "slots", "least_mtu", "processes"):
            value = getattr(self, name)
            if value & value - 1:
                raise OptionError(f"option {name}", f"{value} is no power of two", "give one")
        if self.slot_bytes < self.mtu:
            cause = f"a staging slot of {self.slot_bytes} bytes is shorter than a frame of {self.mtu}"
            raise OptionError("option slot_bytes", cause, "raise it, or lower mtu")
        if self.dynamic and self.composition:
            raise OptionError("option dynamic", "it is measured with nothing that acts", "leave protocols empty")
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError for values that a selected protocol excludes."""
        if "mtu" in self.composition and self.least_mtu > self.mtu:
            cause = f"it is more than the MTU, {self.mtu}, and an MTU never grows"
            raise OptionError("option least_mtu", cause, "lower it")
        ordered = [one.name for one in PROTOCOLS if one.ordered and one.name in self.composition]
        if self.overtake and ordered:
            cause = f"{ordered[0]} needs the order of frames that it gives up"
            raise OptionError("option overtake", cause, f"leave it 0, or compose without {ordered[0]}")
        if self.staging == "overwrite" and self.rx_fifo == "host":
            cause = "the queue in host memory has no room for messages that are not copied out"
            raise OptionError("option rx_fifo", cause, "choose nic, or staging=hold")
        if self.processes > 1 and "protection" not in self.composition:
            raise OptionError("option processes", "nothing keeps them apart", "compose protection in, or leave it 1")
        if self.activate == "host" and "protection" in self.composition:
            raise OptionError("option activate", "a process that starts chains reaches all of them", "choose lanai")
        if self.staging == "overwrite" and "flow" in self.composition:
            raise OptionError(
                "option staging", "flow control leaves nothing to overwrite", "choose hold, or leave flow out"
            )
