"""Clearing of a NIC's SRAM, which keeps the content of an earlier run: by the NIC's own processor, not over the line.

The processor stores zeros from behind this program to the end of its SRAM. The loader then writes the firmware over the
program.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from firmware.common.host.card import HOLD, RUN
from pymodels.cards import SLOT, CardMap
from pymodels.errors import SanlabError
from pymodels.lanai.isa import BY_NAME, NOP, WORD, ZERO, Condition, Op
from tb.board.link import BoardLink

AT, END = 6, 7
"""Registers with the address of the next store and with the end of the SRAM."""
PATIENCE_PS = 10**12
"""Time of the board after which a NIC that has not cleared its SRAM counts as dead: 1 s, some hundred times as long."""


class DeadNicError(SanlabError):
    """NIC of a board whose processor does not execute."""


def program(sram_bytes: int) -> bytes:
    """Return the program, which is loaded at address 0 and ends in an endless loop."""
    store = BY_NAME["RM"].encode(s=1, rd=ZERO, rs1=AT, q=1, k=4)
    compare = BY_NAME["RR"].encode(rd=ZERO, rs1=AT, rs2=END, op=Op.SUB, f=1)
    words = [_constant(AT, 0), _constant(END, sram_bytes), NOP]
    loop = len(words)
    words += [store, compare, _branch(Condition.NE, loop), NOP, NOP]
    words += [_branch(Condition.T, len(words)), NOP, NOP]
    words[0] = _constant(AT, 4 * len(words))
    return struct.pack(f">{len(words)}I", *words)


def _constant(register: int, value: int) -> int:
    return BY_NAME["SLI"].encode(rd=register, top=value >> 16, k=value & 0xFFFF)


def _branch(condition: Condition, target: int) -> int:
    return BY_NAME["BR"].encode(d=condition >> 1, i=condition & 1, target=target)


def clear_sram(link: BoardLink, card: CardMap, nodes: Sequence[int]) -> None:
    """Clear the SRAM of some NICs together, and leave their processors in reset.

    Args:
        link: The board.
        card: Address map of the NICs.
        nodes: Numbers of the nodes.

    Raises:
        DeadNicError: A processor does not execute the program.
    """
    size = 1 << link.identity.sram_log2
    sram, control, last = card.sram - SLOT, card.control - SLOT, card.sram - SLOT + size - 4
    for node in nodes:
        link.write_nic(node, control, HOLD.to_bytes(4, "big"))
        link.write_nic(node, sram, program(size))
        link.write_nic(node, last, WORD.to_bytes(4, "big"))
        link.write_nic(node, control, RUN.to_bytes(4, "big"))
    until = link.read_time() + PATIENCE_PS
    for node in nodes:
        while any(link.read_nic(node, last, 4)):
            if link.read_time() > until:
                state = link.state(node)
                cause = f"its processor stands at {state.pc:#x} with fault {state.fault}"
                raise DeadNicError(f"NIC {node} of the board", cause, "reset the board, or load its bitstream again")
        link.write_nic(node, control, HOLD.to_bytes(4, "big"))
