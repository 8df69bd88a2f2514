"""Point-cuts of EPOS and its protocols, which are found by folder: the tables of both sides.

A point-cut is a place of the baseline at which protocols act. The selected protocols are called in the order of
`PROTOCOLS` on the sending side, and in reverse order on the receiving side (paper 004, 2.1; readings EPOS-C12).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from firmware.epos.nic.protocols import Protocol, find_protocols

Hook = Callable[..., Awaitable[Any]]
"""Method of a protocol for a point-cut."""
Hooks = dict[str, tuple[Hook, ...]]
"""Methods called at each point-cut, in order."""


@dataclass(frozen=True)
class PointCut:
    """Place of the baseline at which protocols act."""

    name: str
    side: str
    """`host` or `nic`."""
    given: str
    """Arguments of a protocol's method in C; the first is the state of its side."""
    when: str
    receiving: bool = False
    """True if protocols are called in reverse order."""


POINTCUTS = (
    PointCut("message", "host", "epos, node, size", "before a message is sent and numbered"),
    PointCut("frame", "host", "epos, node", "while the header of a frame is built"),
    PointCut("sent", "host", "epos, node", "after the doorbell of a frame was rung"),
    PointCut("assembled", "host", "epos, size", "after all frames of a message are in host memory", receiving=True),
    PointCut(
        "copied", "host", "epos, source, taken", "after a message was copied out of its staging slot", receiving=True
    ),
    PointCut("bell", "nic", "nic, bell", "after a doorbell was taken from the Tx FIFO Queue"),
    PointCut("fetch", "nic", "nic, bell", "before the DMA of a frame is started"),
    PointCut("tx", "nic", "nic, bell", "before a frame is started on the send engine"),
    PointCut("tx_done", "nic", "nic, bell", "after the send engine has read a frame"),
    PointCut(
        "rx", "nic", "nic, source, frame", "after an undamaged frame of this composition was received", receiving=True
    ),
    PointCut("stored", "nic", "nic, buffer", "after a frame was stored in host memory", receiving=True),
)


PROTOCOLS: tuple[Protocol, ...] = find_protocols()
"""Protocols in the predefined order, from the inside to the outside."""
NAMES = tuple(one.name for one in PROTOCOLS)
TELL = 127
"""Slot number of a doorbell for the first protocol, with a value in place of the bytes; later protocols have lower
slots.
"""


def tell_slot(name: str) -> int:
    """Return the slot number of doorbells for a protocol."""
    return TELL - NAMES.index(name)


def composed(text: str) -> tuple[str, ...]:
    """Return the protocols of `a+b` in the predefined order, unknown ones last."""
    asked = {name for name in text.split("+") if name} - {"none"}
    return (*(name for name in NAMES if name in asked), *sorted(asked - set(NAMES)))


def identity(chosen: Iterable[str]) -> int:
    """Return the number of a composition, with a bit for each protocol, which its frames carry."""
    return sum(1 << NAMES.index(name) for name in chosen)


def composition_of(number: int) -> str:
    """Return the name of a composition with a number."""
    return "+".join(name for bit, name in enumerate(NAMES) if number >> bit & 1) or "the baseline alone"


class Absent:
    """Side of a protocol that does nothing there; its header word is 0."""

    def __init__(self, *arguments: Any) -> None:
        pass

    async def frame(self, nodes: tuple[int, ...], at: int) -> int:
        """Return the header word, 0."""
        return 0


def members(side: str, chosen: Iterable[str], *arguments: Any) -> dict[str, Any]:
    """Create one side of each chosen protocol: `Side` of its module.

    A protocol without such a module gets an `Absent` if it has a header word, else none.
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
    """Return the methods called at each point-cut of a side, in order. A point-cut without methods is empty, and costs
    nothing.

    With active frames, the switchable protocols are called through a check of the frame.
    """
    called = {}
    switch = protocols.get("active")
    for cut in POINTCUTS:
        if cut.side == side:
            named = {name: getattr(one, cut.name) for name, one in protocols.items() if hasattr(one, cut.name)}
            there = [switch.switched(name, call) if switch else call for name, call in named.items()]
            called[cut.name] = tuple(reversed(there) if cut.receiving else there)
    return called
