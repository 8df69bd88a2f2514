"""Compiler output read into functions: instructions, labels and the marks that firmware/paths.h leaves.

Only the form that clang writes with `-S` is understood. What an instruction means is the business of the target
(`pymodels.costs.lanai`, `pymodels.costs.i686`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from pymodels.errors import SanlabError


class CostError(SanlabError):
    """A path that cannot be counted, or a cost that does not exist."""


class Flow(enum.Enum):
    """What an instruction does to the flow of control."""

    NEXT = "goes on"
    JUMP = "jumps"
    BRANCH = "branches when a condition holds"
    RETURN = "returns"
    CALL = "calls"


@dataclass(frozen=True)
class Instruction:
    """One machine instruction: what it costs and where control goes.

    `frame` marks the instructions that only enter and leave a C function. `refused` says why it cannot be counted.
    `uses` are the registers that it reads or writes, `brings` is the one that a load fills, where the target's loads
    come late.
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
    """A place to jump to."""

    name: str


@dataclass(frozen=True)
class Mark:
    """A remark of firmware/paths.h in the assembly: a word, and the rest of the line."""

    word: str
    rest: str


RETURN = "(return)"
"""The target of a branch that returns."""
Item = Instruction | Label | Mark
Decoder = Callable[[str], Instruction]


@dataclass(frozen=True)
class Function:
    """A global function of a paths.c as the compiler laid it out."""

    name: str
    items: tuple[Item, ...]


def _item(line: str, comment: str, decode: Decoder) -> Item | None:
    """One line of a function; None for directives and comments."""
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
    """The global functions of an assembly file, in order. `comment` is the target's comment character."""
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
