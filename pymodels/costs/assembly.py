"""Parser of compiler output into functions: instructions, labels and the marks of firmware/paths.h.

Only the output of clang's `-S` is supported. The target decodes the instructions (`pymodels.costs.lanai`,
`pymodels.costs.i686`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from pymodels.errors import SanlabError


class CostError(SanlabError):
    """Path that cannot be counted, or missing cost."""


class Flow(enum.Enum):
    """Effect of an instruction on the flow of control."""

    NEXT = "goes on"
    JUMP = "jumps"
    BRANCH = "branches when a condition holds"
    RETURN = "returns"
    CALL = "calls"


@dataclass(frozen=True)
class Instruction:
    """Machine instruction with its costs and its flow of control.

    Attributes:
        frame: True for instructions that only enter and leave a C function.
        refused: Reason why the instruction cannot be counted; empty if it can.
        uses: Registers that it reads or writes.
        brings: Register that a load fills, on a target with load delays.
    """

    text: str
    loads: int = 0
    stores: int = 0
    flow: Flow = Flow.NEXT
    target: str = ""
    delay_slots: int = 0
    frame: bool = False
    refused: str = ""
    uses: frozenset[str] = frozenset()
    brings: str = ""


@dataclass(frozen=True)
class Label:
    """Jump target."""

    name: str


@dataclass(frozen=True)
class Mark:
    """Comment of firmware/paths.h in the assembly: a word, and the rest of the line."""

    word: str
    rest: str


RETURN = "(return)"
"""Target of a branch that returns."""
Item = Instruction | Label | Mark
Decoder = Callable[[str], Instruction]


@dataclass(frozen=True)
class Function:
    """Global function of a paths.c as laid out by the compiler."""

    name: str
    items: tuple[Item, ...]


def _item(line: str, comment: str, decode: Decoder) -> Item | None:
    """Return the item of one line; None for directives and comments."""
    text = line.strip()
    if text.startswith(comment + "@"):
        word, _, rest = text[len(comment) + 1 :].partition(" ")
        return Mark(word, rest.strip())
    text = text.split(comment, 1)[0].strip()
    if text.endswith(":"):
        return Label(text[:-1])
    if not text or text.startswith("."):
        return None
    return decode(text)


def functions(assembly: str, comment: str, decode: Decoder) -> list[Function]:
    """Return the global functions of an assembly file, in order. `comment` is the target's comment character."""
    found: list[Function] = []
    public = {line.split()[1] for line in assembly.splitlines() if line.strip().startswith(".globl")}
    name, items = "", list[Item]()
    for line in assembly.splitlines():
        word = line.split(":", 1)[0]
        if line.startswith(word + ":") and word in public:
            name, items = word, []
        elif line.strip().startswith(".size") and name:
            found.append(Function(name, tuple(items)))
            name = ""
        elif name and (item := _item(line, comment, decode)) is not None:
            items.append(item)
    return found
