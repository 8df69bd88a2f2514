"""The point-cuts of EPOS, and its protocols, which are found by folder: the tables of both sides.

A point-cut is a place of the baseline at which protocols act. At each one the selected protocols are called in the
order of `PROTOCOLS` where a message is sent, and in the reverse order where it is received (paper 004, 2.1; readings
EPOS-C12).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from firmware.epos.nic.protocols import Protocol, found

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
    given: str
    """What a protocol's method gets in C, where the first is what its side keeps."""
    when: str
    receiving: bool = False
    """Protocols are called in the reverse order."""


POINTCUTS = (
    PointCut("message", "host", "epos, node, size", "a message is to be sent; its number is not given yet"),
    PointCut("frame", "host", "epos, node", "the header of a frame is made"),
    PointCut("sent", "host", "epos, node", "the doorbell of a frame has been rung: right after Send"),
    PointCut("assembled", "host", "epos, size", "all frames of a message are in host memory", receiving=True),
    PointCut("copied", "host", "epos, source, taken", "a message was copied out of its staging slot", receiving=True),
    PointCut("bell", "nic", "nic, bell", "a doorbell was taken out of the Tx FIFO Queue"),
    PointCut("fetch", "nic", "nic, bell", "the DMA of a frame is about to start"),
    PointCut("tx", "nic", "nic, bell", "a frame is about to go to the send engine"),
    PointCut("tx_done", "nic", "nic, bell", "the send engine has read a frame"),
    PointCut("rx", "nic", "nic, source, frame", "a frame of this composition has come, undamaged", receiving=True),
    PointCut("stored", "nic", "nic, buffer", "a frame is in host memory", receiving=True),
)


PROTOCOLS: tuple[Protocol, ...] = found()
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


def composition_of(number: int) -> str:
    """What a composition's number says."""
    return "+".join(name for bit, name in enumerate(NAMES) if number >> bit & 1) or "the baseline alone"


class Absent:
    """The side of a protocol that does nothing there: its word of the header is 0."""

    def __init__(self, *arguments: Any) -> None:
        pass

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """The word of the header, where it has one."""
        return 0


def members(side: str, chosen: Iterable[str], *arguments: Any) -> dict[str, Any]:
    """The side of each chosen protocol, made: `Side` of the module of its name; of those that have none there and add a
    word to the header one that writes it.
    """
    made: dict[str, Any] = {}
    for one in (one for one in PROTOCOLS if one.name in chosen):
        path = f"firmware.epos.{side}.protocols.{one.name}"
        if find_spec(path):
            made[one.name] = import_module(path).Side(*arguments)
        elif one.header:
            made[one.name] = Absent()
    return made


def hooks(side: str, protocols: Mapping[str, Any]) -> Hooks:
    """By point-cut of a side what is called there, in order. What no protocol has is empty, and costs nothing.

    Where frames say what acts on them, those protocols of which they can are called through what looks there.
    """
    called = {}
    switch = protocols.get("active")
    for cut in POINTCUTS:
        if cut.side == side:
            named = {name: getattr(one, cut.name) for name, one in protocols.items() if hasattr(one, cut.name)}
            there = [switch.switched(name, call) if switch else call for name, call in named.items()]
            called[cut.name] = tuple(reversed(there) if cut.receiving else there)
    return called
