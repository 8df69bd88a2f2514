"""Mutants of an HDL module: its source with one small mistake, which a good test or proof kills.

An operator becomes its neighbour, a constant its opposite, or a negation or assignment is removed. Ports and parameters
are unchanged.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

OTHERS = (
    (re.compile(r"&&"), ("||",)),
    (re.compile(r"\|\|"), ("&&",)),
    (re.compile(r"(?<![&])&(?![&])(?= )"), ("|",)),
    (re.compile(r"(?<![|])\|(?![|])(?= )"), ("&",)),
    (re.compile(r"=="), ("!=",)),
    (re.compile(r"!="), ("==",)),
    (re.compile(r"(?<= )<(?= )"), (">=",)),
    (re.compile(r"(?<= )>=(?= )"), ("<",)),
    (re.compile(r"(?<= )\+(?= )"), ("-",)),
    (re.compile(r"(?<= )-(?= )"), ("+",)),
    (re.compile(r"(?<=[ (])!(?=[\w(])"), ("",)),
    (re.compile(r"(?<=[ (])~(?=[\w(])"), ("",)),
    (re.compile(r"'0"), ("'1",)),
    (re.compile(r"'1"), ("'0",)),
    (re.compile(r"\b1'b0"), ("1'b1",)),
    (re.compile(r"\b1'b1"), ("1'b0",)),
    (re.compile(r"(?<= )\^(?= )"), ("&",)),
)
DECIMAL = re.compile(r"\b(\d+)'d(\d+)")
"""Pattern of a constant with its width; a mutant has the next value."""
COMMENT = re.compile(r"//[^\n]*|\bfor \([^)]*\)")
"""Pattern of comments and loop headers, which have no mutants: another loop count would not be such a block."""
NOT_MUTATED = re.compile(r"[;\sa-z]*\b(logic|localparam|genvar|for|parameter|import|assign unused\w*)\b")
"""Pattern of the beginning of statements without mutants."""
DROPPED = re.compile(r"(?:(?<=\bbegin)|(?<=\belse)|(?<=[);:]))\s*(\w[^\s;()]*) +<= [^;]*;")
"""Pattern of an assignment to a register."""
ENABLE = re.compile(r"\b\w*(needed|busy|alarm)(_d)?(\[[^=;]*\])? *<?=\s")
"""Pattern of an assignment to a clock enable."""


@dataclass(frozen=True)
class Mutant:
    """Change of a source: characters `start` to `end` become `new`."""

    start: int
    end: int
    old: str
    new: str
    line: int
    within: str
    """Source line of the change."""
    which: int = 0
    """Number from 1 among mutants of the file with the same description; 0 for a unique description."""

    @property
    def shown(self) -> str:
        """Description for reports and property files."""
        number = f" ({self.which})" if self.which else ""
        return f"`{self.old}`{number} -> `{self.new or ' '}` in `{self.within}`"

    def apply_to(self, text: str) -> str:
        """Return the source with the change."""
        return text[: self.start] + self.new + text[self.end :]


def mutants(text: str) -> list[Mutant]:
    """Return all mutants of a module in the order of the text."""
    code = COMMENT.sub(lambda found: " " * len(found[0]), text)
    found = [one for one in _found(code, _body(code)) if _statement(code, one.start)]
    return numbered(sorted(found, key=lambda one: (one.start, one.new)))


def numbered(found: Sequence[Mutant]) -> list[Mutant]:
    """Return mutants in order, with numbers for equal descriptions."""
    alike = Counter(one.shown for one in found)
    numbers = defaultdict[str, Iterator[int]](lambda: itertools.count(1))
    return [replace(one, which=next(numbers[one.shown])) if alike[one.shown] > 1 else one for one in found]


def of_enables(text: str, found: list[Mutant]) -> list[Mutant]:
    """Return the mutants in assignments to clock enables."""
    code = COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    return [one for one in found if ENABLE.search(code, _begin(code, one.start), code.index(";", one.start))]


def sampled(known: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return at most `count` mutants, selected by a seed."""
    chosen = random.Random(seed).sample(known, min(count, len(known)))
    return sorted(chosen, key=lambda one: (one.start, one.new))


def _body(text: str) -> int:
    """Return the position of the module's body."""
    return text.index(");", text.index("module ")) + 2


def _statement(text: str, at: int) -> bool:
    """Return True if a position is neither in a declaration nor in an unused assignment."""
    return not NOT_MUTATED.match(text, _begin(text, at), at)


def _begin(text: str, at: int) -> int:
    """Return the position of the statement that contains a position."""
    return max(text.rfind(mark, 0, at) for mark in (";", "\n\n", "begin\n"))


def _found(text: str, body: int) -> Iterator[Mutant]:
    """Yield the mutants of a text with blanked comments."""
    for pattern, others in OTHERS:
        for match in pattern.finditer(text, body):
            for new in others:
                yield _mutant(text, match.start(), match.end(), new)
    for match in DECIMAL.finditer(text, body):
        following = (int(match[2]) + 1) % (1 << int(match[1]))
        yield _mutant(text, match.start(), match.end(), f"{match[1]}'d{following}")
    for match in DROPPED.finditer(text, body):
        alone = text[: match.start(1)].rstrip().endswith((")", "else"))
        yield _mutant(text, match.start(1), match.end(), "begin end" if alone else ";")


def _mutant(text: str, start: int, end: int, new: str) -> Mutant:
    line = text.count("\n", 0, start)
    return Mutant(start, end, " ".join(text[start:end].split()), new, line + 1, text.splitlines()[line].strip())
