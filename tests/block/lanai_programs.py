"""Random terminating programs of LANai words, for comparing a core with the reference model."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from pymodels.lanai.isa import BY_NAME, NOP, PC, REGISTERS, Condition, Op, Special

SIZE = 1 << 14
DATA = 0x2000
"""SRAM address from which on there are no instructions."""
RESULTS = SIZE - 0x100
"""SRAM address at which a program stores its registers and flags at its end."""
FREE = (*range(3, 16), *range(20, 27))
"""Registers with arbitrary values."""
BASES, STEPS = range(16, 20), (28, 29, 30)
"""Registers with addresses of data, and with small multiples of 4."""
SHIFTS, SHIFTED = 28, 31
"""Register with a shift amount of at most 8, and one that may be shifted to an address."""
INDIRECT = 27
ARITHMETIC = (Op.ADD, Op.ADDC, Op.SUB, Op.SUBB, Op.AND, Op.OR, Op.XOR)


class Writer:
    """Program under construction, word by word."""

    def __init__(self, rng: random.Random, register_bits: int) -> None:
        self.rng = rng
        self.words: list[int] = []
        self.first_special = -(1 << register_bits)
        self.kinds: Sequence[Callable[[], int]] = (
            self._ri, self._ri, self._rr, self._rr, self._shift, self._select, self._count, self._constant, self._set,
            self._word, self._word, self._word, self._part, self._part, self._indexed, self._short, self._special,
        )  # fmt: skip
        self.jumps: Sequence[Callable[[], None]] = (
            self._branch, self._branch, self._loop, self._relative, self._computed, self._moved, self._loaded,
        )  # fmt: skip

    def program(self, length: int) -> list[int]:
        """Return a program of `length` random words and jumps, and a final part that stores the registers."""
        for number in (*FREE, SHIFTED):
            self._fill(number, 0x20 if number == SHIFTED else self.rng.choice((0, 1, self.rng.getrandbits(32))))
        for piece in range(length):
            if piece % 12 == 0:
                self._bases()
            if self.rng.random() < 0.2:
                self.rng.choice(self.jumps)()
            else:
                self._some(1)
        self._end()
        return self.words

    @property
    def here(self) -> int:
        """Address of the next word."""
        return 4 * len(self.words)

    def emit(self, name: str, **fields: int) -> None:
        """Append one word."""
        self.words.append(BY_NAME[name].encode(**fields))

    def _fill(self, number: int, value: int) -> None:
        high, low = divmod(value, 1 << 16)
        self.emit("RI", op=Op.ADD, rd=number, k=high, h=1)
        self.emit("RI", op=Op.OR, rd=number, rs1=number, k=low)

    def _bases(self) -> None:
        for number in BASES:
            self.emit("SLI", rd=number, k=DATA + 0x100 + 4 * self.rng.randrange(0x600))
        for number in STEPS:
            self.emit("SLI", rd=number, k=4 * self.rng.randrange(3 if number == SHIFTS else 8))

    def _some(self, count: int) -> None:
        self.words += [self.rng.choice(self.kinds)() for _ in range(count)]

    def _end(self) -> None:
        self.words += [NOP] * 3
        for condition in (Condition.EQ, Condition.MI, Condition.VS, Condition.CS):
            self.emit("SCC", d=condition >> 1, i=condition & 1, rd=INDIRECT)
            self.emit("SLS", s=1, rd=INDIRECT, k=RESULTS + 0x80 + 4 * condition)
        for number in range(REGISTERS):
            self.emit("SLS", s=1, rd=number, k=RESULTS + 4 * number)
        self.emit("BR", target=self.here >> 2)
        self.words.append(NOP)

    # --- words that do not jump -------------------------------------------------------------------------------------

    def _free(self) -> int:
        return int(self.rng.choice(FREE))

    def _source(self) -> int:
        return self.rng.randrange(REGISTERS)

    def _target(self) -> int:
        return int(self.rng.choice((*FREE, 0, 1)))

    def _bit(self) -> int:
        return self.rng.getrandbits(1)

    def _condition(self) -> dict[str, int]:
        return {"d": self.rng.getrandbits(3), "i": self._bit()}

    def _ri(self) -> int:
        op = self.rng.choice((*ARITHMETIC, Op.SHIFT))
        k = self.rng.randint(-31, 31) & 0xFFFF if op is Op.SHIFT else self.rng.getrandbits(16)
        return BY_NAME["RI"].encode(op=op, rd=self._target(), rs1=self._source(), k=k, f=self._bit(), h=self._bit())

    def _rr(self) -> int:
        always = self.rng.random() < 0.6
        return BY_NAME["RR"].encode(
            op=self.rng.choice(ARITHMETIC), rd=self._target(), rs1=self._source(), rs2=self._source(), f=self._bit(),
            **({} if always else self._condition()),
        )  # fmt: skip

    def _shift(self) -> int:
        j = self.rng.choice((Special.LOGICAL, Special.ARITHMETIC)) | self.rng.getrandbits(3)
        return BY_NAME["RR"].encode(
            op=Op.SHIFT, rd=self._target(), rs1=self._source(), rs2=self._source(), f=self._bit(), j=j,
            **self._condition(),
        )  # fmt: skip

    def _select(self) -> int:
        return BY_NAME["RR"].encode(
            op=Op.SHIFT, rd=self._target(), rs1=self._source(), rs2=self._source(), f=self._bit(), **self._condition()
        )

    def _count(self) -> int:
        return BY_NAME["SPECIAL"].encode(rd=self._target(), rs1=self._source(), op=self.rng.randint(1, 3))

    def _constant(self) -> int:
        return BY_NAME["SLI"].encode(rd=self._target(), top=self.rng.getrandbits(5), k=self.rng.getrandbits(16))

    def _set(self) -> int:
        return BY_NAME["SCC"].encode(rd=self._target(), **self._condition())

    def _accessed(self, word: bool) -> dict[str, int]:
        """Return random fields of a load or store of a free register at a base."""
        k = self.rng.randint(-8, 8) * 4 if word else self.rng.randint(-8, 8) * 2
        return {"rd": self._free(), "rs1": self.rng.choice(BASES), "s": self._bit(), "p": self._bit(), "k": k}

    def _word(self) -> int:
        return BY_NAME["RM"].encode(**self._accessed(word=True), q=self._bit())

    def _part(self) -> int:
        fields = self._accessed(word=False)
        byte = self._bit()
        fields["k"] += byte and self.rng.randint(0, 1)
        back = 0 if fields["k"] % 4 else self._bit()
        return BY_NAME["SPLS"].encode(**fields, y=byte, e=self._bit(), q=back)

    def _indexed(self) -> int:
        size = self.rng.choice(({"l": 1}, {"y": 1}, {}))
        rest = {"rd": self._free(), "s": self._bit(), "p": 1, "e": self._bit(), **size}
        if self.rng.random() < 0.2:
            word = {**rest, "s": 0, "l": 1, "y": 0}
            return BY_NAME["RRM"].encode(**word, rs1=SHIFTED, rs2=SHIFTS, op=Op.SHIFT, j=Special.LOGICAL)
        op = self.rng.choice((Op.ADD, Op.SUB, Op.OR, Op.XOR))
        return BY_NAME["RRM"].encode(
            **{**rest, "p": self._bit()}, rs1=self.rng.choice(BASES), rs2=self.rng.choice(STEPS), op=op
        )

    def _short(self) -> int:
        return BY_NAME["SLS"].encode(rd=self._free(), k=DATA + 4 * self.rng.randrange(0x700), s=self._bit())

    def _special(self) -> int:
        k = self.first_special + 4 * self.rng.randrange(-self.first_special // 4)
        return BY_NAME["RM"].encode(rd=self._free(), s=self._bit(), p=1, k=k)

    # --- jumps; an instruction in a delay slot never jumps ----------------------------------------------------------

    def _branch(self) -> None:
        ahead = self.rng.randint(1, 6)
        self.emit("BR", target=(self.here >> 2) + 1 + ahead, **self._condition())
        self._some(ahead)

    def _loop(self) -> None:
        """Append a loop of a few iterations whose body does not write the counter."""
        self.emit("SLI", rd=INDIRECT, k=self.rng.randint(1, 6))
        head = self.here
        self._bases()
        self._some(self.rng.randint(1, 5))
        self.emit("RI", op=Op.SUB, rd=INDIRECT, rs1=INDIRECT, k=1, f=1)
        self.emit("BR", target=head >> 2, d=Condition.NE >> 1, i=Condition.NE & 1)
        self._some(1)

    def _relative(self) -> None:
        ahead = self.rng.randint(1, 5)
        self.emit("BRR", k=1 + ahead, **self._condition())
        self._some(ahead)

    def _computed(self) -> None:
        """Append a computed result into pc, with one delay slot."""
        ahead = self.rng.randint(1, 5)
        self.emit("RI", op=Op.ADD, rd=PC, rs1=PC, k=4 * (1 + ahead), f=self._bit())
        self._some(ahead)

    def _moved(self) -> None:
        """Append a load that modifies its base, pc, with one delay slot."""
        ahead = self.rng.randint(1, 5)
        self.emit("RM", rd=self._free(), rs1=PC, p=self._bit(), q=1, k=4 * (1 + ahead))
        self._some(ahead)

    def _loaded(self) -> None:
        """Append a load of pc, with two delay slots."""
        ahead = self.rng.randint(2, 6)
        self.emit("SLI", rd=INDIRECT, k=self.here + 4 * (3 + ahead))
        self.emit("SLS", s=1, rd=INDIRECT, k=DATA)
        self.emit("SLS", rd=PC, k=DATA)
        self._some(ahead)
