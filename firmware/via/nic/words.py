"""Words that kernel agent and NIC exchange, with their fields by name. No other file defines bit positions.

Each class is one word; `of` encodes it, its properties decode it.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.via.nic.layout import VALID, Command, Event
from firmware.via.nic.slots import CONFIRM, GENERATION

COMMAND_GENERATION = (1 << 12) - 1
"""Mask of the bits of a VI's generation in a command."""


class CommandWord(NamedTuple):
    """Word of the command ring: command (4) | generation (12) | VI or completion queue (16)."""

    word: int

    @classmethod
    def encode(cls, command: Command, number: int, generation: int = 0) -> CommandWord:
        """Return a word for a command on the VI or completion queue `number`."""
        return cls(command << 28 | (generation & COMMAND_GENERATION) << 16 | number)

    @property
    def command(self) -> Command:
        """Command."""
        return Command(self.word >> 28)

    @property
    def number(self) -> int:
        """Number of the VI or completion queue."""
        return self.word & 0xFFFF

    def means(self, generation: int) -> bool:
        """Return True if the word is for this generation of the VI."""
        return self.word >> 16 & COMMAND_GENERATION == generation & COMMAND_GENERATION


class EventWord(NamedTuple):
    """Word of the event ring: 1 (1) | event (7) | VI (8) | detail (16)."""

    word: int

    @classmethod
    def encode(cls, event: Event, vi: int, detail: int) -> EventWord:
        """Return a valid entry."""
        return cls(VALID | event << 24 | vi << 16 | detail)

    @property
    def event(self) -> int:
        """Number of the event, see `Event`."""
        return self.word >> 24 & 0x7F

    @property
    def vi(self) -> int:
        """Number of the VI."""
        return self.word >> 16 & 0xFF

    @property
    def detail(self) -> int:
        """Detail, as defined by the event."""
        return self.word & 0xFFFF


class PeerWord(NamedTuple):
    """Word `Vi.PEER`: number of the connection (8) | node (8) | VI (8)."""

    word: int

    @classmethod
    def encode(cls, connection: int, node: int, vi: int) -> PeerWord:
        """Return the word for a peer."""
        return cls(connection << 16 | node << 8 | vi)

    @property
    def connection(self) -> int:
        """Number of the connection."""
        return self.word >> 16

    @property
    def node(self) -> int:
        """Node of the peer."""
        return self.word >> 8 & 0xFF

    @property
    def vi(self) -> int:
        """VI number at the peer."""
        return self.word & 0xFF


class ModeWord(NamedTuple):
    """Word `Vi.MODE`: rights of the peer (8) | reliability (8)."""

    word: int

    @classmethod
    def encode(cls, rights: int, reliability: int) -> ModeWord:
        """Return the word; `rights` are `RDMA_WRITE` and `RDMA_READ`."""
        return cls(rights << 8 | reliability)

    @property
    def rights(self) -> int:
        """Rights of the peer: `RDMA_WRITE`, `RDMA_READ`."""
        return self.word >> 8

    @property
    def reliability(self) -> int:
        """Reliability level, see `Reliability`."""
        return self.word & 0xFF


class SlotWord(NamedTuple):
    """Word `WriteSlot.VI`: 1 (1) | CONFIRM (1) | generation of the VI (22) | VI (8)."""

    word: int

    @classmethod
    def encode(cls, vi: int, generation: int, *, confirm: bool) -> SlotWord:
        """Return the word of a full slot. `confirm` marks the last packet of a message to acknowledge."""
        return cls(VALID | confirm * CONFIRM | (generation & GENERATION) << 8 | vi)

    @property
    def vi(self) -> int:
        """Number of the target VI."""
        return self.word & 0xFF

    @property
    def confirm(self) -> bool:
        """True if the message is acknowledged once the packet is copied."""
        return bool(self.word & CONFIRM)

    def means(self, generation: int) -> bool:
        """Return True if the word is for this generation of the VI."""
        return self.word >> 8 & GENERATION == generation & GENERATION
