"""Mutants of a module: its source text with one small thing wrong. A proof, or a test, that is worth something sees it.

Ports and parameters stay as they are. An operator becomes its neighbour, a constant its opposite, a negation or a whole
assignment goes.
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
"""A constant with its width: it becomes the next one."""
COMMENT = re.compile(r"//[^\n]*|\bfor \([^)]*\)")
"""And how often a loop goes round: with another number there would be no such block."""
PASSED_OVER = re.compile(r"[;\sa-z]*\b(logic|localparam|genvar|for|parameter|import|assign unused\w*)\b")
"""Begins of statements without mutants."""
DROPPED = re.compile(r"(?:(?<=\bbegin)|(?<=\belse)|(?<=[);:]))\s*(\w[^\s;()]*) +<= [^;]*;")
"""An assignment to a register."""
ENABLE = re.compile(r"\b\w*(needed|busy|alarm)(_d)?(\[[^=;]*\])? *<?=\s")
"""An assignment that says whether a clock goes on."""


@dataclass(frozen=True)
class Mutant:
    """A change: characters `start` to `end` of the source become `new`."""

    start: int
    end: int
    old: str
    new: str
    line: int
    within: str
    """The source line."""
    which: int = 0
    """Its number, from 1 on, among those of the file that would be shown alike; 0 when there is no other."""

    @property
    def shown(self) -> str:
        """As reports, and files of properties, call it."""
        number = f" ({self.which})" if self.which else ""
        return f"`{self.old}`{number} -> `{self.new or ' '}` in `{self.within}`"

    def of(self, text: str) -> str:
        """The source with the change."""
        return text[: self.start] + self.new + text[self.end :]


def mutants(text: str) -> list[Mutant]:
    """All of a module, in the order of the text."""
    code = COMMENT.sub(lambda found: " " * len(found[0]), text)
    found = [one for one in _found(code, _body(code)) if _statement(code, one.start)]
    return numbered(sorted(found, key=lambda one: (one.start, one.new)))


def numbered(found: Sequence[Mutant]) -> list[Mutant]:
    """Mutants in the order of the text, those that would be shown alike with their numbers."""
    alike = Counter(one.shown for one in found)
    numbers = defaultdict[str, Iterator[int]](lambda: itertools.count(1))
    return [replace(one, which=next(numbers[one.shown])) if alike[one.shown] > 1 else one for one in found]


def of_enables(text: str, found: list[Mutant]) -> list[Mutant]:
    """Those in assignments that say whether a clock goes on."""
    code = COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    return [one for one in found if ENABLE.search(code, _begin(code, one.start), code.index(";", one.start))]


def sampled(known: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them, or all if there are fewer, chosen by a seed."""
    chosen = random.Random(seed).sample(known, min(count, len(known)))
    return sorted(chosen, key=lambda one: (one.start, one.new))


def _body(text: str) -> int:
    """Where the module's body begins."""
    return text.index(");", text.index("module ")) + 2


def _statement(text: str, at: int) -> bool:
    """The place is in no declaration, whose ranges are not looked at, and in nothing that nobody reads."""
    return not PASSED_OVER.match(text, _begin(text, at), at)


def _begin(text: str, at: int) -> int:
    """Where the statement begins that has this place."""
    return max(text.rfind(mark, 0, at) for mark in (";", "\n\n", "begin\n"))


def _found(text: str, body: int) -> Iterator[Mutant]:
    """`text` has its comments blanked."""
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
