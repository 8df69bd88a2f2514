"""Promises of message layers: properties of their mail that the conformance suite checks on each layer.

A descriptor lists them by options: `promises={"": Promise.ORDER, "timeout_us=200": Promise.ORDER | Promise.LOSS}`. The
empty text stands for the default options. Each entry is a case of the suite (`tests/unit/conformance`). The suite also
checks that the layer breaks each promise that the entry omits.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Flag, auto


class Promise(Flag):
    """Property of a layer's mail that the conformance suite checks."""

    ORDER = auto()
    """Messages between two hosts are received in the order in which they were sent, in a network without loss, damage
    and overtaking.
    """
    RESEQUENCING = auto()
    """Messages between two hosts are received in the order in which they were sent, although packets overtake each
    other.

    This holds with every fault of the network that the layer recovers from.
    """
    LOSS = auto()
    """Each message is received exactly once although the network loses packets."""
    DAMAGE = auto()
    """Each message is received exactly once and unchanged although the network flips bits of packets."""
    OVERTAKING = auto()
    """Each message is received exactly once although packets overtake each other."""
    DOUBLING = auto()
    """Each message is received exactly once although the network delivers packets twice."""
    BACK_PRESSURE = auto()
    """Any number of messages may be sent to a host that does not receive, and none is lost.

    A layer without it has room for `firmware.mail.AHEAD` messages.
    """
    ZERO_COPY = auto()
    """No CPU copies a message from memory to memory."""
    PROTECTION = auto()
    """Forged packets, of random bytes with a valid CRC, neither change a message nor end a program."""
    SELF = auto()
    """A host can send messages to itself."""
    RESTART = auto()
    """After a reset of all NICs, while messages wait for their receivers, new libraries on the same hosts exchange
    messages.
    """
    REJOIN = auto()
    """After a reset of one NIC, while no message is in flight, its host starts again.

    It then exchanges messages with the hosts that have not started again.
    """


FAULTS = Promise.LOSS | Promise.DAMAGE | Promise.OVERTAKING | Promise.DOUBLING
"""All faults of the network."""
NOTHING = Promise(0)


def parse(text: str) -> dict[str, float | str]:
    """Return the options that the key of an entry names: `name=value` pairs, separated by spaces."""
    pairs = (word.partition("=") for word in text.split())
    return {name: int(value) if value.isdecimal() else value for name, _, value in pairs}


def names(promised: Promise) -> list[str]:
    """Return the names of promises as they appear in the table of `firmware/README.md`."""
    return [(one.name or "").lower().replace("_", " ") for one in Promise if one in promised]


Promises = Mapping[str, Promise]
"""Promises of a layer by options. The options omit the name of the layer."""
