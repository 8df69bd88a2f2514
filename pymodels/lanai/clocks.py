"""Clock model of a LANai processor: clocks of the instructions that the reference model has executed.

Instructions are issued in order, one a clock. The processor makes one SRAM access a clock, and data accesses have
priority over fetches. It fetches whole SRAM words into a small buffer ahead of the current instruction: the next
instruction, then the one after it. Loaded and fetched data are available in the next clock; an instruction that uses
loaded data waits `load_clocks` after that. The RTL core behaves the same in each clock; its bench compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import NamedTuple

from pymodels.lanai.decode import Kind
from pymodels.lanai.faults import Stall
from pymodels.lanai.isa import PC
from pymodels.lanai.simulator import Step


@dataclass(frozen=True)
class Pace:
    """Timing parameters of a processor."""

    load_clocks: int
    """Clocks that an instruction directly after a load waits for its value: 1 on the LANai 4, 2 on the LANai 9."""
    word_bytes: int = 8
    """Bytes of an SRAM word, which one fetch returns."""
    fetch_words: int = 2
    """Words of the prefetch buffer, a power of two (assumed: not published)."""
    register_clocks: int = 1
    """Additional clocks of a special-register access (assumed: not published)."""


@dataclass(frozen=True)
class Spent:
    """Clocks of one instruction: its own, and its stall clocks by cause."""

    own: int = 1
    fetch: int = 0
    """Stall clocks because the instruction was not fetched yet, or a return did not know its target."""
    load: int = 0
    """Stall clocks because a needed load was pending."""
    grant: int = 0
    """Stall clocks because another master accessed the SRAM."""
    register: int = 0
    """Additional clocks of a special register."""

    @property
    def clocks(self) -> int:
        """Total number of clocks."""
        return self.own + self.fetch + self.load + self.grant + self.register

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


UNSTALLED = Spent()
"""Clocks of an instruction without stalls."""
WAITED = (Stall.FETCH, Stall.LOAD, Stall.GRANT, Stall.REGISTER)
"""Causes of stalls, in the order of the fields of `Spent`."""


class Way(Enum):
    """Target of an instruction's data access."""

    NONE = "nothing"
    SRAM = "the SRAM"
    REGISTER = "a special register"


class Executed(NamedTuple):
    """Properties of an executed instruction that determine its clocks. Registers may have any hashable name."""

    pc: int
    uses: Iterable[Hashable] = ()
    """Registers that the instruction reads or writes."""
    brings: Hashable | None = None
    """Register that a load fills."""
    way: Way = Way.NONE
    target: int | None = None
    """Jump target."""
    returns: bool = False
    """True if the instruction loads pc."""


def executed(step: Step) -> Executed:
    """Return the properties of a step that determine its clocks."""
    one, access = step.instruction, step.access
    way = Way.NONE if access is None else Way.REGISTER if access.register else Way.SRAM
    loads = one.kind is Kind.LOAD
    brings = one.rd if loads and one.rd > PC else None
    return Executed(step.pc, one.uses, brings, way, step.target, loads and one.rd == PC)


def granted_always() -> bool:
    """Grant every SRAM access, for a processor without other masters."""
    return True


@dataclass
class _Fetch:
    """Direct-mapped prefetch buffer. Words are numbered from address 0 on."""

    word_bytes: int
    places: list[int]
    arriving: int = -1
    """Number of the word that arrives in this clock; -1 if there is none."""

    def here(self, address: int) -> bool:
        """Return True if the instruction at an address can be executed in this clock."""
        word = address // self.word_bytes
        return word in (self.arriving, self.places[word % len(self.places)])

    def wanted(self, at: int, after: int, behind: int) -> int:
        """Return the number of the word to fetch, or -1. A word further ahead never replaces the one in use."""
        if not self.here(at):
            return at // self.word_bytes
        if not self.here(after):
            return after // self.word_bytes
        word, size = behind // self.word_bytes, len(self.places)
        return -1 if self.here(behind) or word % size == at // self.word_bytes % size else word

    def clock(self, fetched: int) -> None:
        """Finish a clock in which a word was requested (-1 if none)."""
        if self.arriving >= 0:
            self.places[self.arriving % len(self.places)] = self.arriving
        self.arriving = fetched


@dataclass
class Clocks:
    """Clock counter of a processor after reset, which must be passed every executed step in order.

    `granted` is called once a clock and returns True if the processor may access the SRAM in it.
    """

    pace: Pace
    start: int = 0
    granted: Callable[[], bool] = granted_always
    now: int = 0
    """Clocks since reset."""
    _ready: dict[Hashable, int] = field(default_factory=dict)
    """Clock from which each register is available."""
    _loaded: int = 0
    """Clock from which all registers are available."""
    _returning: int = 0
    """Remaining shadow instructions of a load of pc."""
    _target_known: int = 0
    """Clock from which the target of that load is known."""
    _target: int = 0

    def __post_init__(self) -> None:
        self._after, self._behind = self.start + 4, self.start + 8
        self._fetch = _Fetch(self.pace.word_bytes, [-1] * self.pace.fetch_words)

    def step(self, step: Step) -> Spent:
        """Return the clocks of the next executed step."""
        return self.execute(executed(step))

    def execute(self, one: Executed) -> Spent:
        """Return the clocks of an instruction given by its timing properties."""
        stalls = list[Stall]()
        while (stall := self._clock(one, stalls)) is not Stall.NONE:
            stalls.append(stall)
        self._go_on(one)
        return Spent(1, *map(stalls.count, WAITED)) if stalls else UNSTALLED

    def _clock(self, one: Executed, past: Sequence[Stall]) -> Stall:
        """Advance one clock and return the cause of the stall in it; `past` has the causes in the clocks before."""
        granted = self.granted()
        stall = self._stall(one)
        access = stall is Stall.NONE and one.way is Way.SRAM
        if access and not granted:
            stall = Stall.GRANT
        elif stall is Stall.NONE and one.way is Way.REGISTER and past.count(Stall.REGISTER) < self.pace.register_clocks:
            stall = Stall.REGISTER
        self._fetch.clock(self._fetched(one.pc) if granted and not access else -1)
        self.now += 1
        return stall

    def _stall(self, one: Executed) -> Stall:
        """Return the reason why the instruction cannot proceed in this clock."""
        if not self._fetch.here(one.pc) or (self._returning == 1 and self.now < self._target_known):
            return Stall.FETCH
        if self._loaded > self.now:
            for register in one.uses:
                if self._ready.get(register, 0) > self.now:
                    return Stall.LOAD
        return Stall.NONE

    def _fetched(self, at: int) -> int:
        """Return the number of the word that is fetched if the SRAM is free."""
        if self._returning != 1:
            return self._fetch.wanted(at, self._after, self._behind)
        return self._fetch.wanted(at, self._target if self.now >= self._target_known else at, at)

    def _go_on(self, one: Executed) -> None:
        """Update the state after the last clock of an instruction."""
        if one.brings is not None:
            self._ready[one.brings] = self._loaded = self.now + self.pace.load_clocks
        if self._returning == 1:
            self._after, self._behind = self._target + 4, self._target + 8
        elif one.target is not None and not one.returns:
            self._after, self._behind = one.target, one.target + 4
        else:
            self._after, self._behind = self._behind, self._behind + 4
        self._returning -= self._returning > 0
        if one.returns and one.target is not None:
            self._returning, self._target = 2, one.target
            self._target_known = self.now + (one.way is Way.SRAM)
