"""How many clocks a LANai's processor takes for the instructions that the reference model has executed.

One instruction a clock, in order. The processor has one way to the SRAM, which takes one access a clock: data go first.
It fetches whole words of SRAM into a small buffer, ahead of the instruction at hand: the next one, then the one behind
that. What a load or a fetch brings is there in the next clock; an instruction that uses what a load brings waits
`load_clocks` after that. This is what the core in RTL does, clock by clock: its bench compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from pymodels.lanai.decode import Instruction, Kind
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
    register_clocks: int = 0
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
    _ready: dict[int, int] = field(default_factory=dict)
    """By register, the clock from which it may be used."""
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
        waited = dict.fromkeys(Stall, 0)
        while (stall := self._clock(step, waited[Stall.REGISTER])) is not Stall.NONE:
            waited[stall] += 1
        self._go_on(step)
        return Spent(1, waited[Stall.FETCH], waited[Stall.LOAD], waited[Stall.GRANT], waited[Stall.REGISTER])

    def _clock(self, step: Step, register_clocks: int) -> Stall:
        """One clock: what the instruction waited for in it. `register_clocks`: so long has it waited for a register."""
        granted = self.granted()
        stall, access = self._stall(step), False
        if stall is Stall.NONE and step.access is not None:
            access = not step.access.register
            if step.access.register and register_clocks < self.pace.register_clocks:
                stall = Stall.REGISTER
            elif access and not granted:
                stall = Stall.GRANT
        self._fetch.clock(self._fetched(step.pc) if granted and not access else -1)
        self.now += 1
        return stall

    def _stall(self, step: Step) -> Stall:
        """Why the instruction cannot do anything in this clock."""
        if not self._fetch.here(step.pc) or (self._returning == 1 and self.now < self._target_known):
            return Stall.FETCH
        under_way = any(self._ready.get(one, 0) > self.now for one in step.instruction.uses)
        return Stall.LOAD if under_way else Stall.NONE

    def _fetched(self, at: int) -> int:
        """The word that is fetched if the SRAM is free."""
        if self._returning != 1:
            return self._fetch.wanted(at, self._after, self._behind)
        return self._fetch.wanted(at, self._target if self.now >= self._target_known else at, at)

    def _go_on(self, step: Step) -> None:
        """What an instruction leaves, after its last clock."""
        one = step.instruction
        if one.kind is Kind.LOAD and one.rd > PC:
            self._ready[one.rd] = self.now + self.pace.load_clocks
        if self._returning == 1:
            self._after, self._behind = self._target + 4, self._target + 8
        elif step.target is not None and not _returns(one):
            self._after, self._behind = step.target, step.target + 4
        else:
            self._after, self._behind = self._behind, self._behind + 4
        self._returning -= self._returning > 0
        if _returns(one) and step.target is not None:
            special = step.access is not None and step.access.register
            self._returning, self._target = 2, step.target
            self._target_known = self.now + (0 if special else 1)


def _returns(one: Instruction) -> bool:
    """Whether it loads pc."""
    return one.kind is Kind.LOAD and one.rd == PC
