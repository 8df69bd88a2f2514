"""The configuration repository of EPOS: what can be chosen, with its ranges (paper 004, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from types import MappingProxyType

from firmware.epos.nic.pointcuts import NAMES, PROTOCOLS, composed
from firmware.options import OptionError, check_values
from pymodels.costs.compositions import MOST, declared
from pymodels.errors import nearest

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "mtu": (64, 8192),
        "slot_bytes": (64, 1 << 20),
        "slots": (1, 64),
        "send_frames": (2, 64),
        "receive_frames": (2, 64),
        "pio_limit": (0, 8192),
        "overtake": (0, 1),
        "dynamic": (0, 1),
        "timeout_us": (1, 1_000_000),
        "rendezvous_from": (1, 1 << 20),
        "least_mtu": (64, 8192),
        "processes": (1, 8),
    }
)
SETS = [composed("+".join(one)) for one in declared(Path(__file__).parent / "nic") if one and one != ("dynamic",)]
"""What is compiled, of which a composition is one."""
ORDERS = ["+".join(one) for chosen in SETS for one in (permutations(chosen) if len(chosen) <= MOST else [chosen])]
"""They may be named in any order, which changes nothing; those of many protocols in the predefined one."""
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "protocols": ("", *ORDERS),
        "notify": ("", "doorbell", "word"),
        "activate": ("lanai", "host"),
        "rx_fifo": ("nic", "host"),
        "staging": ("hold", "overwrite"),
        "multicast": ("nic", "loop"),
    }
)


@dataclass(frozen=True)
class Options:
    """The features with their defaults."""

    protocols: str = ""
    """The protocols that are composed in, as `reliability+flow`; empty: the baseline alone."""
    mtu: int = 4096
    """Bytes of payload of a frame at most; a power of two."""
    slot_bytes: int = 1 << 16
    """Bytes of a staging slot, and of a message at most; a power of two."""
    slots: int = 4
    """Staging slots of each node; a power of two."""
    send_frames: int = 8
    """Frames of the Send Ring, and control blocks of the Tx DMA Requests."""
    receive_frames: int = 8
    """Frames of the Receive Ring."""
    pio_limit: int = 256
    """Frames with more payload are fetched by DMA; the host stores others itself. Assumed; `epos_threshold`
    measures the crossing."""
    notify: str = ""
    """The Tx FIFO Queue: the card's doorbell FIFO, or words of its memory that the host writes. Open: the FIFO
    where the card has one."""
    activate: str = "lanai"
    """Who starts the chain of Tx DMA Requests: the LANai when it sees the doorbell, or the host before it rings."""
    rx_fifo: str = "nic"
    """Where the Rx FIFO Queue is: in the NIC's memory, as paper 004 says, or mirrored into the host's."""
    staging: str = "hold"
    """A staging slot that is not copied out yet: the frame waits in the Receive Ring, or the slot is overwritten."""
    overtake: int = 0
    """1: a frame that is here passes one whose DMA is not done."""
    dynamic: int = 0
    """1: hooks of all protocols, whose flags are tested at run time, and none of which acts: what composing saves."""
    timeout_us: int = 200
    """Of reliability: after so long without an acknowledgement a frame is sent again. Assumed."""
    rendezvous_from: int = 4096
    """Of rendezvous: messages of so many bytes go into posted buffers. Assumed."""
    least_mtu: int = 1024
    """Of MTU adaptation: the least that is asked for; a power of two."""
    multicast: str = "nic"
    """Of multicast: who repeats a frame, the NIC or a loop of the host."""
    processes: int = 1
    """Of protection: processes of each host, none of which can reach what is another's."""

    @property
    def composition(self) -> tuple[str, ...]:
        """The protocols in their predefined order."""
        return composed(self.protocols)

    @property
    def sharers(self) -> int:
        """Processes that share the NIC."""
        return self.processes if "protection" in self.composition else 1

    def on(self, has_doorbells: bool) -> Options:
        """The same on a card with doorbells, or without: nothing is open."""
        return replace(self, notify=self.notify or ("doorbell" if has_doorbells else "word"))

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        plain = {name: value for name, value in given.items() if name != "protocols"}
        check_values("EPOS", OptionError, plain, RANGES, WORDS)
        found = cls(**given)  # type: ignore[arg-type]
        _check(found)
        return found


def _check(options: Options) -> None:
    """Raises OptionError for features that contradict each other."""
    for name in options.composition:
        if name not in NAMES:
            raise OptionError("option protocols", f"{name!r} is no protocol", nearest(name, NAMES))
    if options.composition and options.composition not in SETS:
        compiled = ", ".join("+".join(one) for one in SETS)
        raise OptionError("option protocols", f"{options.protocols!r} is not compiled", f"one of {compiled}")
    for name in ("mtu", "slot_bytes", "slots", "least_mtu", "processes"):
        value = getattr(options, name)
        if value & value - 1:
            raise OptionError(f"option {name}", f"{value} is no power of two", "give one")
    if options.slot_bytes < options.mtu:
        cause = f"a staging slot of {options.slot_bytes} bytes is shorter than a frame of {options.mtu}"
        raise OptionError("option slot_bytes", cause, "raise it, or lower mtu")
    if options.dynamic and options.composition:
        raise OptionError("option dynamic", "it is measured with nothing that acts", "leave protocols empty")
    _check_together(options)


def _check_together(options: Options) -> None:
    """Raises OptionError for what some protocols cannot stand."""
    if "mtu" in options.composition and options.least_mtu > options.mtu:
        cause = f"it is more than the MTU, {options.mtu}, and an MTU never grows"
        raise OptionError("option least_mtu", cause, "lower it")
    ordered = [one.name for one in PROTOCOLS if one.ordered and one.name in options.composition]
    if options.overtake and ordered:
        cause = f"{ordered[0]} needs the order of frames that it gives up"
        raise OptionError("option overtake", cause, f"leave it 0, or compose without {ordered[0]}")
    if options.staging == "overwrite" and options.rx_fifo == "host":
        cause = "the queue in host memory has no room for messages that are not copied out"
        raise OptionError("option rx_fifo", cause, "choose nic, or staging=hold")
    if options.processes > 1 and "protection" not in options.composition:
        raise OptionError("option processes", "nothing keeps them apart", "compose protection in, or leave it 1")
    if options.activate == "host" and "protection" in options.composition:
        raise OptionError("option activate", "a process that starts chains reaches all of them", "choose lanai")
    if options.staging == "overwrite" and "flow" in options.composition:
        raise OptionError(
            "option staging", "flow control leaves nothing to overwrite", "choose hold, or leave flow out"
        )
