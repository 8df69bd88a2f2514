"""How many clocks a LANai's processor takes for the instructions that the reference model has executed.

One instruction a clock, in order. The processor has one way to the SRAM, which takes one access a clock: data go first.
It fetches whole words of SRAM into a small buffer, ahead of the instruction at hand: the next one, then the one behind
that. What a load or a fetch brings is there in the next clock; an instruction that uses what a load brings waits
`load_clocks` after that. This is what the core in RTL does, clock by clock: its bench compares them.
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
    """The numbers that the clocks depend on."""

    load_clocks: int
    """Clocks that an instruction right behind a load waits for its datum: 1 on the LANai 4, 2 on the LANai 9."""
    word_bytes: int = 8
    """Bytes of a word of SRAM, which one fetch brings."""
    fetch_words: int = 2
    """Words of the prefetch buffer, a power of two (assumed: not published)."""
    register_clocks: int = 1
    """Further clocks of an access of a special register (assumed: not published)."""


@dataclass(frozen=True)
class Spent:
    """The clocks of one instruction: its own, and those in which it waited, by cause."""

    own: int = 1
    fetch: int = 0
    """It was not there yet, or a return did not know its target."""
    load: int = 0
    """A load that it needs was under way."""
    grant: int = 0
    """Others had the SRAM."""
    register: int = 0
    """Further clocks of a special register."""

    @property
    def clocks(self) -> int:
        """All of them."""
        return self.own + self.fetch + self.load + self.grant + self.register

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


UNSTALLED = Spent()
"""An instruction that waited for nothing."""
WAITED = (Stall.FETCH, Stall.LOAD, Stall.GRANT, Stall.REGISTER)
"""Causes to wait, in the order of `Spent`."""


class Way(Enum):
    """What an instruction accesses."""

    NONE = "nothing"
    SRAM = "the SRAM"
    REGISTER = "a special register"


class Executed(NamedTuple):
    """An instruction, as far as its clocks depend on it. Registers have any names."""

    pc: int
    uses: Iterable[Hashable] = ()
    """Registers that it reads or writes."""
    brings: Hashable | None = None
    """The register that a load fills."""
    way: Way = Way.NONE
    target: int | None = None
    """Where it jumps."""
    returns: bool = False
    """It loads pc."""


def executed(step: Step) -> Executed:
    """What matters of a step."""
    one, access = step.instruction, step.access
    way = Way.NONE if access is None else Way.REGISTER if access.register else Way.SRAM
    loads = one.kind is Kind.LOAD
    brings = one.rd if loads and one.rd > PC else None
    return Executed(step.pc, one.uses, brings, way, step.target, loads and one.rd == PC)


def granted_always() -> bool:
    """Nobody else wants the SRAM."""
    return True


@dataclass
class _Fetch:
    """The prefetch buffer: a word has one place in it. Words are numbered from address 0 on."""

    word_bytes: int
    places: list[int]
    arriving: int = -1
    """The word that comes in this clock."""

    def here(self, address: int) -> bool:
        """Whether the instruction at an address can be executed in this clock."""
        word = address // self.word_bytes
        return word in (self.arriving, self.places[word % len(self.places)])

    def wanted(self, at: int, after: int, behind: int) -> int:
        """The word to fetch; -1: none. One further ahead does not take the place of the one in use."""
        if not self.here(at):
            return at // self.word_bytes
        if not self.here(after):
            return after // self.word_bytes
        word, size = behind // self.word_bytes, len(self.places)
        return -1 if self.here(behind) or word % size == at // self.word_bytes % size else word

    def clock(self, fetched: int) -> None:
        """The end of a clock, in which a word was asked for (-1: none)."""
        if self.arriving >= 0:
            self.places[self.arriving % len(self.places)] = self.arriving
        self.arriving = fetched


@dataclass
class Clocks:
    """The time of a processor after reset, to be told every step in turn.

    `granted` is asked once a clock: whether the processor gets the SRAM in it, if it wants to.
    """

    pace: Pace
    start: int = 0
    granted: Callable[[], bool] = granted_always
    now: int = 0
    """Clocks since reset."""
    _ready: dict[Hashable, int] = field(default_factory=dict)
    """By register, the clock from which it may be used."""
    _loaded: int = 0
    """The clock from which all of them may."""
    _returning: int = 0
    """Shadows left of a load of pc."""
    _target_known: int = 0
    """The clock from which the target of that load is known."""
    _target: int = 0

    def __post_init__(self) -> None:
        self._after, self._behind = self.start + 4, self.start + 8
        self._fetch = _Fetch(self.pace.word_bytes, [-1] * self.pace.fetch_words)

    def step(self, step: Step) -> Spent:
        """The clocks of the next instruction that was executed."""
        return self.execute(executed(step))

    def execute(self, one: Executed) -> Spent:
        """The clocks of an instruction of which only what matters for them is known."""
        stalls = list[Stall]()
        while (stall := self._clock(one, stalls)) is not Stall.NONE:
            stalls.append(stall)
        self._go_on(one)
        return Spent(1, *map(stalls.count, WAITED)) if stalls else UNSTALLED

    def _clock(self, one: Executed, past: Sequence[Stall]) -> Stall:
        """One clock: what the instruction waited for in it; `past`: what in those before."""
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
        """Why the instruction cannot do anything in this clock."""
        if not self._fetch.here(one.pc) or (self._returning == 1 and self.now < self._target_known):
            return Stall.FETCH
        if self._loaded > self.now:
            for register in one.uses:
                if self._ready.get(register, 0) > self.now:
                    return Stall.LOAD
        return Stall.NONE

    def _fetched(self, at: int) -> int:
        """The word that is fetched if the SRAM is free."""
        if self._returning != 1:
            return self._fetch.wanted(at, self._after, self._behind)
        return self._fetch.wanted(at, self._target if self.now >= self._target_known else at, at)

    def _go_on(self, one: Executed) -> None:
        """What an instruction leaves, after its last clock."""
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
