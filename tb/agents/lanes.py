"""Two ends of one direction of a link: characters that wait to be sent, and received characters as packets."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pymodels.link.characters import DATA, Symbol, decode
from tb.agents.streams import Pauses, never


@dataclass
class Lane:
    """State of one sender: queued characters, gaps between them, and True in `stopped` after STOP."""

    characters: deque[int] = field(default_factory=deque)
    gaps: Pauses = field(default_factory=never)
    stopped: bool = False

    def hear(self, character: int) -> Symbol | None:
        """Obey a character of the opposite direction; return STOP or GO if it is one."""
        for symbol in (Symbol.STOP, Symbol.GO):
            if decode(character) is symbol:  # a data character may have the same number
                self.stopped = symbol is Symbol.STOP
                return symbol
        return None

    def leave(self) -> int:
        """Remove and return the next character, or 0 (IDLE) if none may be sent."""
        if self.characters and not self.stopped and not next(self.gaps):
            return self.characters.popleft()
        return 0


@dataclass
class Assembler:
    """Bytes of the packet being received."""

    packet: bytearray = field(default_factory=bytearray)

    def take(self, character: int) -> tuple[bytes | None, Symbol | None]:
        """Take one character.

        Returns:
            The bytes of a packet that its GAP completes, and the control symbol; None for either.

        Raises:
            ValueError: The character is an illegal control character.
        """
        if character & DATA:
            self.packet.append(character & 0xFF)
            return None, None
        symbol = decode(character)
        if symbol is None:
            raise ValueError(f"illegal character {character:#x}")
        if symbol is not Symbol.GAP:
            return None, Symbol(symbol)
        whole = bytes(self.packet)
        self.packet.clear()
        return whole, symbol
