"""Why a processor stops: what no LANai defines, by the code that the RTL core gives; and why an instruction waits."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class Fault(IntEnum):
    """What a program did."""

    NONE = 0
    FETCH = 1
    ILLEGAL = 2
    UNALIGNED = 3
    PART = 4
    BEYOND = 5
    SHADOW = 6
    JUMP = 7


class Message(NamedTuple):
    """What a fault is called, and what would be right."""

    what: str
    remedy: str


MESSAGES: Mapping[Fault, Message] = {
    Fault.FETCH: Message("no instruction", "look where the jump before went"),
    Fault.ILLEGAL: Message("illegal word", "look where the jump before went"),
    Fault.UNALIGNED: Message("unaligned access", "an access stands on a multiple of its size"),
    Fault.PART: Message("part of a register", "registers are whole words"),
    Fault.BEYOND: Message("access beyond SRAM", "look for a wild pointer, or for a stack without end"),
    Fault.SHADOW: Message("jump in a shadow", "put a nop between them"),
    Fault.JUMP: Message("unaligned jump", "jump to a multiple of 4"),
}


class Stall(IntEnum):
    """Why no instruction was executed in a clock."""

    NONE = 0
    FETCH = 1
    """The instruction is not there."""
    LOAD = 2
    """A load that it needs is under way."""
    GRANT = 3
    """The arbiter serves others."""
    REGISTER = 4
    """A special register takes its time."""
