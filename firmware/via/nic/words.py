"""Words that kernel agent and NIC write for each other, with their fields by name: the only definition of positions.

Each class is one word; `of` puts it together, its properties take it apart.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.via.nic.layout import VALID, Command, Event
from firmware.via.nic.slots import CONFIRM, GENERATION

COMMAND_GENERATION = (1 << 12) - 1
"""The bits of a VI's generation that a command has."""


class CommandWord(NamedTuple):
    """Of the command ring: command (4) | generation (12) | VI or completion queue (16)."""

    word: int

    @classmethod
    def of(cls, command: Command, number: int, generation: int = 0) -> CommandWord:
        """`number`: of the VI or the completion queue."""
        return cls(command << 28 | (generation & COMMAND_GENERATION) << 16 | number)

    @property
    def command(self) -> Command:
        """What is to be done."""
        return Command(self.word >> 28)

    @property
    def number(self) -> int:
        """Of the VI or the completion queue."""
        return self.word & 0xFFFF

    def means(self, generation: int) -> bool:
        """Whether it is for this generation of the VI."""
        return self.word >> 16 & COMMAND_GENERATION == generation & COMMAND_GENERATION


class EventWord(NamedTuple):
    """Of the event ring: 1 (1) | event (7) | VI (8) | detail (16)."""

    word: int

    @classmethod
    def of(cls, event: Event, vi: int, detail: int) -> EventWord:
        """A valid entry."""
        return cls(VALID | event << 24 | vi << 16 | detail)

    @property
    def event(self) -> int:
        """An `Event`, if it is one."""
        return self.word >> 24 & 0x7F

    @property
    def vi(self) -> int:
        """Whose it is."""
        return self.word >> 16 & 0xFF

    @property
    def detail(self) -> int:
        """As `Event` says."""
        return self.word & 0xFFFF


class PeerWord(NamedTuple):
    """`Vi.PEER`: number of the connection (8) | node (8) | VI (8)."""

    word: int

    @classmethod
    def of(cls, connection: int, node: int, vi: int) -> PeerWord:
        """The peer of a VI."""
        return cls(connection << 16 | node << 8 | vi)

    @property
    def connection(self) -> int:
        """Its number."""
        return self.word >> 16

    @property
    def node(self) -> int:
        """Of the peer."""
        return self.word >> 8 & 0xFF

    @property
    def vi(self) -> int:
        """The peer's."""
        return self.word & 0xFF


class ModeWord(NamedTuple):
    """`Vi.MODE`: rights of the peer (8) | reliability (8)."""

    word: int

    @classmethod
    def of(cls, rights: int, reliability: int) -> ModeWord:
        """`rights`: `RDMA_WRITE`, `RDMA_READ`."""
        return cls(rights << 8 | reliability)

    @property
    def rights(self) -> int:
        """`RDMA_WRITE`, `RDMA_READ`."""
        return self.word >> 8

    @property
    def reliability(self) -> int:
        """A `Reliability`."""
        return self.word & 0xFF


class SlotWord(NamedTuple):
    """`WriteSlot.VI`: 1 (1) | CONFIRM (1) | generation of the VI (22) | VI (8)."""

    word: int

    @classmethod
    def of(cls, vi: int, generation: int, *, confirm: bool) -> SlotWord:
        """A full slot. `confirm`: the message is complete with this piece, and is answered when it is copied."""
        return cls(VALID | confirm * CONFIRM | (generation & GENERATION) << 8 | vi)

    @property
    def vi(self) -> int:
        """Whose peer has written."""
        return self.word & 0xFF

    @property
    def confirm(self) -> bool:
        """Whether it is answered when it is copied."""
        return bool(self.word & CONFIRM)

    def means(self, generation: int) -> bool:
        """Whether it is for this generation of the VI."""
        return self.word >> 8 & GENERATION == generation & GENERATION
