"""The point-cuts of EPOS, and its protocols: the one table of both sides.

A point-cut is a place of the baseline at which protocols act. At each one the selected protocols are called in the
order of `PROTOCOLS` where a message is sent, and in the reverse order where it is received (paper 004, 2.1; readings
EPOS-C12).
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Hook = Callable[..., Awaitable[Any]]
"""What a protocol does at a point-cut."""
Hooks = dict[str, tuple[Hook, ...]]
"""By point-cut what is called there, in order."""


@dataclass(frozen=True)
class PointCut:
    """A place of the baseline."""

    name: str
    side: str
    """`host` or `nic`."""
    when: str
    receiving: bool = False
    """Protocols are called in the reverse order."""


POINTCUTS = (
    PointCut("message", "host", "a message is to be sent; its number is not given yet"),
    PointCut("frame", "host", "the header of a frame is made"),
    PointCut("sent", "host", "the doorbell of a frame has been rung: right after Send"),
    PointCut("assembled", "host", "all frames of a message are in host memory", receiving=True),
    PointCut("copied", "host", "a message was copied out of its staging slot", receiving=True),
    PointCut("tx", "nic", "a frame is about to go to the send engine"),
    PointCut("tx_done", "nic", "the send engine has read a frame"),
    PointCut("rx", "nic", "a frame of this composition has come, undamaged", receiving=True),
    PointCut("stored", "nic", "a frame is in host memory", receiving=True),
)


@dataclass(frozen=True)
class Protocol:
    """What can be composed in."""

    name: str
    header: int
    """Words that it adds to the header of a frame."""
    peer: int
    """Words of the NIC's memory that it takes for each node."""
    told: str
    pages: bool = False
    """For each node it takes one more for each frame of a staging slot."""


PROTOCOLS: tuple[Protocol, ...] = (
    Protocol("multicast", 1, 0, "one send reaches several nodes; the NIC repeats the frame from the Send Ring"),
    Protocol("rendezvous", 1, 3, "long messages go straight into a buffer that the receiver has posted", pages=True),
    Protocol("mtu", 0, 2, "a host may lower the MTU of its frames while it runs"),
    Protocol("flow", 1, 1, "a message is sent when its receiver has a staging slot for it: credits"),
    Protocol("reliability", 1, 3, "each frame is acknowledged by the receiving NIC, and sent again until it is"),
    Protocol("active", 1, 0, "a frame says which protocols act on it at its receiver"),
)
"""In the predefined order, from the inside to the outside."""
NAMES = tuple(one.name for one in PROTOCOLS)
TELL = 127
"""Slot of a doorbell that is for a protocol, with a number in place of the bytes; of later ones in the table less."""


def tell_slot(name: str) -> int:
    """The slot that stands in a doorbell for a protocol."""
    return TELL - NAMES.index(name)


def composed(text: str) -> tuple[str, ...]:
    """The protocols of `a+b` in the predefined order; unknown ones stand at the end."""
    asked = {name for name in text.split("+") if name} - {"none"}
    return (*(name for name in NAMES if name in asked), *sorted(asked - set(NAMES)))


def identity(chosen: Iterable[str]) -> int:
    """The number of a composition, which its frames carry: a bit for each protocol."""
    return sum(1 << NAMES.index(name) for name in chosen)


def members(side: str, chosen: Iterable[str], *arguments: Any) -> dict[str, Any]:
    """The side of each chosen protocol, made: `Side` of the module of its name."""
    return {name: importlib.import_module(f"firmware.{side}.epos.protocols.{name}").Side(*arguments) for name in chosen}


def hooks(side: str, protocols: Mapping[str, Any]) -> Hooks:
    """By point-cut of a side what is called there, in order. What no protocol has is empty, and costs nothing.

    Where frames say what acts on them, those protocols of which they can are called through what looks there.
    """
    found = {}
    switch = protocols.get("active")
    for cut in POINTCUTS:
        if cut.side == side:
            named = {name: getattr(one, cut.name) for name, one in protocols.items() if hasattr(one, cut.name)}
            there = [switch.switched(name, call) if switch else call for name, call in named.items()]
            found[cut.name] = tuple(reversed(there) if cut.receiving else there)
    return found
