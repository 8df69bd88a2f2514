"""NIC of a board as hang reports and fault messages see it: memory and state, which its host reads over the line."""

from __future__ import annotations

import struct

from pymodels.cards import SLOT, CardMap
from pymodels.errors import SanlabError
from pymodels.lanai.faults import MESSAGES, Fault
from pymodels.lanai.program import Program
from tb.board.link import BoardLink, NodeState


class HaltedError(SanlabError):
    """Processor of a board's NIC that has halted on a fault of its program."""


class BoardNic:
    """NIC of one node.

    Args:
        node: Number of the node.
        kind: Kind of NIC.
        word_bytes: Bytes of an SRAM word.
        link: The board.
        card: Address map of the NIC.
    """

    def __init__(self, node: int, kind: str, word_bytes: int, link: BoardLink, card: CardMap) -> None:
        self.node, self.kind, self.who, self.word_bytes = node, kind, f"NIC {node}", word_bytes
        self.sram_bytes = 1 << link.identity.sram_log2
        self.program: Program | None = None
        """Program that the host loads into the NIC."""
        self._link, self._sram = link, card.sram - SLOT

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return consecutive big-endian words of SRAM."""
        return struct.unpack(f">{count}I", self._link.read_nic(self.node, self._sram + address, 4 * count))

    def load(self, address: int) -> int:
        """Return a big-endian word of SRAM."""
        return self.load_words(address, 1)[0]

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return bytes of SRAM."""
        first = address & ~3
        data = self._link.read_nic(self.node, self._sram + first, (address + count + 3 & ~3) - first)
        return data[address - first :][:count]

    def check(self, state: NodeState) -> None:
        """Raise HaltedError if the processor has halted on a fault."""
        if not state.fault:
            return
        known = state.fault in Fault.__members__.values() and state.fault in MESSAGES
        what, remedy = MESSAGES[Fault(state.fault)] if known else (f"fault {state.fault}", "run it on the RTL")
        place = self.program.place(state.pc) if self.program else f"{state.pc:#x}"
        raise HaltedError(
            f"{place} on node {self.node}", what, f"{remedy}; the same run on the RTL shows the way there"
        )
