"""Header of MPI's messages: four words.

| kind | word 0 | 1 | 2 | 3 |
|---|---|---|---|---|
| EAGER: a complete message | kind, mode, context | tag | bytes | number of the send |
| REQUEST: request for permission to send | kind, mode, context | tag | bytes | number of the send |
| CLEAR: permission to send | kind | number of the send | number of the receive | 0 |
| DATA: the data of a REQUEST | kind | number of the receive | bytes | 0 |
| ARRIVED: a buffered message has arrived | kind | number of the send | 0 | 0 |
| CANCEL: withdraw a REQUEST that no receive has met | kind | number of the send | 0 | 0 |
| CANCELLED: the REQUEST is withdrawn | kind | number of the send | 0 | 0 |
"""

from __future__ import annotations

from enum import IntEnum

from firmware.mpi.host.transport import Words

CONTEXTS = 1 << 26
"""Upper bound of the contexts of communicators."""
EACH = 8
"""Contexts of one communicator: point-to-point, blocking collectives, non-blocking ones, calls that create
communicators. Four more are for the local group of an inter-communicator.
"""
FIXED = 4
"""Number of communicators with fixed contexts: MPI_COMM_WORLD of hosts and of programs, MPI_COMM_SELF."""


class Kind(IntEnum):
    """Kind of a message."""

    EAGER = 0
    REQUEST = 1
    CLEAR = 2
    DATA = 3
    ARRIVED = 4
    CANCEL = 5
    CANCELLED = 6


class Mode(IntEnum):
    """Send mode of a message."""

    STANDARD = 0
    BUFFERED = 1
    READY = 2
    SYNCHRONOUS = 3


KINDS = frozenset(Kind)


def first(kind: Kind, mode: Mode = Mode.STANDARD, context: int = 0) -> int:
    """Return word 0."""
    return kind << 28 | mode << 26 | context


def known(words: Words) -> bool:
    """Return True if word 0 is valid."""
    return words[0] >> 28 in KINDS


def parts(words: Words) -> tuple[Kind, Mode, int]:
    """Return kind, mode and context of word 0."""
    return Kind(words[0] >> 28), Mode(words[0] >> 26 & 3), words[0] & CONTEXTS - 1
