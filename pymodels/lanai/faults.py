"""Faults that stop a LANai processor, and causes of stalls, by the codes of the RTL core."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class Fault(IntEnum):
    """Fault of a program."""

    NONE = 0
    FETCH = 1
    ILLEGAL = 2
    UNALIGNED = 3
    PART = 4
    BEYOND = 5
    SHADOW = 6
    JUMP = 7


class Message(NamedTuple):
    """Name of a fault, and the remedy."""

    what: str
    remedy: str


MESSAGES: Mapping[Fault, Message] = {
    Fault.FETCH: Message("no instruction", "check the target of the last jump"),
    Fault.ILLEGAL: Message("illegal word", "check the target of the last jump"),
    Fault.UNALIGNED: Message("unaligned access", "align it to its size"),
    Fault.PART: Message("part of a register", "registers are whole words"),
    Fault.BEYOND: Message("access beyond SRAM", "look for a wild pointer, or for a stack without end"),
    Fault.SHADOW: Message("jump in a shadow", "put a nop between them"),
    Fault.JUMP: Message("unaligned jump", "jump to a multiple of 4"),
}


class Stall(IntEnum):
    """Cause of a clock without an executed instruction."""

    NONE = 0
    FETCH = 1
    """Instruction not fetched yet."""
    LOAD = 2
    """Pending load of a needed register."""
    GRANT = 3
    """SRAM granted to another master."""
    REGISTER = 4
    """Additional clocks of a special-register access."""
