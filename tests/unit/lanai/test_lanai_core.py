"""The reference model of the LANai, by class of instructions.

Strategy: programs of a few words run on a processor with a small SRAM. Registers, flags and memory are compared with
arithmetic in Python or with the definition given here. Operands of arithmetic operations are random. Since chips differ
in delay slots and load delays, the same words run on each.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.lanai.alu import Flags, calculate
from pymodels.lanai.chips import LANAI4, LANAI9, V11, Chip, for_clang
from pymodels.lanai.isa import BY_NAME, NOP, ONES, PC, WORD, Condition, Count, Op, Special, signed
from pymodels.lanai.ports import CoreError
from pymodels.lanai.simulator import Access
from tests.unit.lanai.lanai_words import SRAM, branch, constant, core, load, part, ri, rr, run, store

WORDS = st.one_of(st.integers(0, WORD), st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, WORD]))
ARITHMETIC = (Op.ADD, Op.ADDC, Op.SUB, Op.SUBB)


@given(st.sampled_from(ARITHMETIC), WORDS, WORDS, st.integers(0, 1))
def test_sums_and_their_flags(op: Op, a: int, b: int, carry: int) -> None:
    cin = carry if op in (Op.ADDC, Op.SUBB) else int(op is Op.SUB)
    negated = op in (Op.SUB, Op.SUBB)
    total = a + (b ^ WORD if negated else b) + cin
    exact = signed(a) + (-signed(b) - 1 if negated else signed(b)) + cin
    made = core([rr(op, 8, 6, 7, flags=True)], values={6: a, 7: b})
    made.flags.c = carry
    made.step()
    value = total & WORD
    assert made.registers[8] == value
    assert made.flags == Flags(int(value == 0), value >> 31, int(signed(value) != exact), total >> 32)


@given(st.sampled_from([Op.AND, Op.OR, Op.XOR]), WORDS, WORDS)
def test_logic_clears_overflow_and_carry(op: Op, a: int, b: int) -> None:
    made = core([rr(op, 8, 6, 7, flags=True)], values={6: a, 7: b})
    made.flags.c = made.flags.v = 1
    made.step()
    value = {Op.AND: a & b, Op.OR: a | b, Op.XOR: a ^ b}[op]
    assert (made.registers[8], made.flags) == (value, Flags(int(value == 0), value >> 31))


@given(WORDS, st.integers(-31, 31), st.booleans(), st.booleans())
def test_shifts_go_left_by_a_positive_amount(a: int, by: int, arithmetic: bool, constant_amount: bool) -> None:
    if constant_amount:
        made = run([ri(Op.SHIFT, 8, 6, by, high=arithmetic, flags=True)], values={6: a})
    else:
        j = Special.ARITHMETIC if arithmetic else Special.LOGICAL
        made = run([rr(Op.SHIFT, 8, 6, 7, flags=True, j=j)], values={6: a, 7: by & WORD})
    whole = a << by if by >= 0 else (signed(a) if arithmetic else a) >> -by
    assert made.registers[8] == whole & WORD
    assert made.flags.c == (whole >> 32 & 1 if by > 0 else 0)
    assert (made.flags.z, made.flags.n, made.flags.v) == (int(not whole & WORD), whole >> 31 & 1, 0)


@pytest.mark.parametrize(
    ("op", "high", "expected"),
    [
        (Op.ADD, False, 0x1234FFFF + 0x8001),
        (Op.ADD, True, 0x1234FFFF + 0x80010000),
        (Op.OR, False, 0x1234FFFF),
        (Op.OR, True, 0x9235FFFF),
        (Op.AND, False, 0x12348001),
        (Op.AND, True, 0x0000FFFF),
        (Op.XOR, True, 0x9235FFFF),
    ],
)
def test_a_constant_is_in_one_half_and_for_and_the_other_is_ones(op: Op, high: bool, expected: int) -> None:
    assert run([ri(op, 8, 6, 0x8001, high=high)], values={6: 0x1234FFFF}).registers[8] == expected & WORD


def test_flags_change_only_if_the_instruction_sets_them() -> None:
    made = run([ri(Op.SUB, 8, 6, 1), ri(Op.SUB, 0, 6, 1, flags=True), ri(Op.ADD, 8, 6, 1)], values={6: 1})
    assert (made.flags, made.registers[8], made.registers[0]) == (Flags(z=1, c=1), 2, 0)


@given(WORDS, WORDS, st.sampled_from(list(Condition)))
def test_conditions_after_a_comparison_are_those_of_the_numbers(a: int, b: int, condition: Condition) -> None:
    x, y = signed(a), signed(b)
    expected = {
        "T": True, "F": False, "HI": a > b, "LS": a <= b, "CC": a < b, "CS": a >= b, "NE": a != b, "EQ": a == b,
        "GE": x >= y, "LT": x < y, "GT": x > y, "LE": x <= y,
    }  # fmt: skip
    flags = Flags()
    flags.z, flags.n = int(a == b), (a - b & WORD) >> 31
    _, flags.c, flags.v = calculate(Op.SUB, a, b, 0)
    expected |= {"VC": -(1 << 31) <= x - y < 1 << 31, "PL": not flags.n}
    expected |= {"VS": not expected["VC"], "MI": not expected["PL"]}
    assert flags.holds(condition) == expected[condition.name]
    made = core([BY_NAME["SCC"].encode(rd=9, d=condition >> 1, i=condition & 1)])
    made.flags = flags
    made.step()
    assert made.registers[9] == int(expected[condition.name])


def test_a_select_and_a_conditional_instruction_depend_on_the_flags() -> None:
    words = [
        ri(Op.SUB, 0, 6, 5, flags=True),
        rr(Op.SHIFT, 8, 6, 7, condition=Condition.EQ, j=Special.SELECT, flags=True),
        rr(Op.ADD, 9, 6, 7, condition=Condition.EQ),
        rr(Op.SUB, 10, 6, 7, condition=Condition.NE, flags=True),
    ]
    equal, other = run(words, values={6: 5, 7: 70}), run(words, values={6: 6, 7: 70})
    assert [equal.registers[k] for k in (8, 9, 10)] == [5, 75, 0]
    assert [other.registers[k] for k in (8, 9, 10)] == [70, 0, 6 - 70 & WORD]
    assert equal.flags == Flags(z=1, c=1), "an instruction with a false condition does not change the flags"
    assert other.flags == Flags(n=1)


@given(WORDS)
def test_bits_are_counted(a: int) -> None:
    words = [BY_NAME["SPECIAL"].encode(rd=8 + op, rs1=6, op=op) for op in Count]
    text = f"{a:032b}"
    made = run(words, values={6: a})
    assert made.registers[9:12] == [
        text.count("1"),
        32 - len(text.lstrip("0")),
        32 - len(text.rstrip("0")),
    ]


def test_constants_and_pc_as_an_operand() -> None:
    made = run([constant(8, 0x1FFFFF), ri(Op.ADD, 9, PC, 0x10), ri(Op.OR, 1, 0, 3), ri(Op.OR, 0, 0, 3)])
    assert (made.registers[8], made.registers[9]) == (0x1FFFFF, 4 + 0x10)
    assert (made.registers[0], made.registers[ONES]) == (0, WORD)


@pytest.mark.parametrize(
    ("p", "q", "address", "after"), [(0, 0, 0x100, 0x100), (0, 1, 0x100, 0xFC), (1, 0, 0xFC, 0x100), (1, 1, 0xFC, 0xFC)]
)
def test_an_address_may_be_moved_before_or_after_its_use(p: int, q: int, address: int, after: int) -> None:
    for word, stores in ((store(7, 6, -4, p=p, q=q), True), (load(8, 6, -4, p=p, q=q), False)):
        made = core([word], values={6: 0x100, 7: 0x01020304})
        made.memory.store(address, 0x0A0B0C0D, 4)
        step = made.step()
        value = 0x01020304 if stores else 0x0A0B0C0D
        assert step.access == Access(stores, False, address, 4, value)
        assert made.registers[6] == after
        assert made.memory.load(address, 4) == value


@pytest.mark.parametrize(
    ("byte", "zero", "expected"),
    [(True, False, 0xFFFFFF82), (True, True, 0x82), (False, False, 0xFFFF8283), (False, True, 0x8283)],
)
def test_parts_of_words_are_extended(byte: bool, zero: bool, expected: int) -> None:
    by_register = BY_NAME["RRM"].encode(rd=9, rs1=6, rs2=7, p=1, y=int(byte), e=int(zero))
    made = core([part(8, 6, -2, byte=byte, zero=zero), by_register], values={6: 0x104, 7: WORD - 1})
    made.memory.store(0x100, 0x80818283, 4)
    made.step(), made.step()
    assert made.registers[8] == made.registers[9] == expected


def test_parts_of_words_are_stored_alone() -> None:
    made = run(
        [store(7, 6, 0), part(7, 6, 1, byte=True, stores=True), part(7, 6, 2, byte=False, stores=True)],
        values={6: 0x100, 7: 0x01020304},
    )
    assert made.memory.load(0x100, 4) == 0x01040304


def test_a_store_of_the_modified_address_register_stores_its_old_value() -> None:
    made = run([store(6, 6, 4, p=1, q=1)], values={6: 0x100})
    assert (made.registers[6], made.memory.load(0x104, 4)) == (0x104, 0x100)


def test_an_address_of_21_bits_loses_its_lowest_two() -> None:
    made = core([BY_NAME["SLS"].encode(rd=8, k=0x103), BY_NAME["SLS"].encode(rd=8, k=0x206, s=1)])
    made.memory.store(0x100, 77, 4)
    made.step(), made.step()
    assert (made.registers[8], made.memory.load(0x204, 4)) == (77, 77)


class Bank:
    """Special registers that remember what is done to them."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int, int]] = []

    def read(self, register: int) -> int:
        self.done.append(("read", register, 0))
        return 0x80000000 + register

    def write(self, register: int, value: int) -> None:
        self.done.append(("write", register, value))


@pytest.mark.parametrize(("chip", "size"), [(V11, 0x200), (LANAI4, 0x100)])
def test_the_last_addresses_are_special_registers(chip: Chip, size: int) -> None:
    bank = Bank()
    made = core([store(6, 0, 0xF0 - size), load(7, 0, 0x28 - size), NOP], chip, {6: 0x1234}, bank)
    steps = [made.step(), made.step(), made.step()]
    assert bank.done == [("write", 0xF0, 0x1234), ("read", 0x28, 0)]
    assert made.registers[7] == 0x80000028
    assert steps[0].access == Access(True, True, 0xF0, 4, 0x1234)
    assert steps[1].access == Access(False, True, 0x28, 4, 0x80000028)


def visited(words: list[int], steps: int, chip: Chip = V11, memory: dict[int, int] | None = None) -> list[int]:
    """Return the addresses of the executed instructions."""
    made = core(words, chip, {6: 0x40})
    for address, value in (memory or {}).items():
        made.memory.store(address, value, 4)
    return [made.step().pc for _ in range(steps)]


def test_a_branch_has_one_shadow() -> None:
    assert visited([branch(0x40), NOP, NOP], 4) == [0, 4, 0x40, 0x44]
    assert visited([branch(0x40, Condition.F), NOP, NOP], 4) == [0, 4, 8, 12]
    assert visited([NOP, BY_NAME["BRR"].encode(k=0x10), NOP], 4) == [0, 4, 8, 0x44]
    assert visited([NOP, BY_NAME["BRR"].encode(rs1=6, k=-1), NOP], 4) == [0, 4, 8, 0x3C]


@pytest.mark.parametrize(("chip", "expected"), [(V11, [0, 4, 0x40, 0x44]), (LANAI9, [0, 4, 8, 0x40])])
def test_a_result_in_pc_has_the_shadows_of_the_chip(chip: Chip, expected: list[int]) -> None:
    assert visited([ri(Op.OR, PC, 6, 0), NOP, NOP, NOP], 4, chip) == expected


@pytest.mark.parametrize("chip", [V11, LANAI9])
def test_a_load_of_pc_has_two_shadows(chip: Chip) -> None:
    assert visited([load(PC, 0, 0x100), NOP, NOP, NOP], 5, chip, {0x100: 0x40}) == [0, 4, 8, 0x40, 0x44]


def test_a_step_has_its_jump_target() -> None:
    made = core([branch(0x40), NOP])
    assert [made.step().target, made.step().target] == [0x40, None]


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ([branch(0x40), branch(0x80)], 4),
        ([branch(0x40), ri(Op.OR, PC, 6, 0)], 4),
        ([load(PC, 0, 0x100), NOP, branch(0x80)], 8),
        ([load(PC, 0, 0x100), load(PC, 0, 0x100)], 4),
    ],
)
def test_a_jump_in_a_shadow_is_an_error(words: list[int], at: int) -> None:
    made = core(words)
    for _ in words[:-1]:
        made.step()
    with pytest.raises(CoreError, match=rf"^{at:#x}: jump in a shadow: .*; put a nop between them"):
        made.step()


def test_jump_may_follow_an_untaken_jump_and_the_delay_slots_of_a_taken_one() -> None:
    assert visited([branch(0x40, Condition.F), branch(0x80), NOP], 3) == [0, 4, 8]
    made = core([branch(0x10), NOP, NOP, NOP, branch(0x20), NOP])
    assert [made.step().pc for _ in range(5)] == [0, 4, 0x10, 0x14, 0x20]


def test_an_interlocked_load_makes_its_user_wait() -> None:
    use, other = ri(Op.ADD, 8, 7, 0), ri(Op.ADD, 9, 0, 1)
    for chip, words, clocks in (
        (V11, [load(7, 0, 0x100), use], 3),
        (V11, [load(7, 0, 0x100), other, use], 3),
        (LANAI9, [load(7, 0, 0x100), use], 4),
        (LANAI9, [load(7, 0, 0x100), other, use], 4),
        (LANAI9, [load(7, 0, 0x100), other, other, use], 4),
        (LANAI9, [load(7, 0, 0x100), store(7, 0, 0x200)], 4),
        (LANAI9, [load(7, 0, 0x100), ri(Op.ADD, 7, 0, 1)], 4),
    ):
        made = core(words, chip)
        made.memory.store(0x100, 5, 4)
        waits = [made.step().waited for _ in words]
        assert made.clocks == clocks
        assert waits == [0] * (len(words) - 1) + [clocks - len(words)]
        assert made.registers[8] in (0, 5)


def test_an_exposed_load_shows_the_old_value_to_the_instruction_after_it() -> None:
    copies = [ri(Op.ADD, number, 7, 0) for number in (8, 9)]
    made = core([load(7, 0, 0x100), *copies], LANAI4, {7: 1})
    made.memory.store(0x100, 5, 4)
    steps = [made.step() for _ in range(3)]
    assert (made.registers[8], made.registers[9], made.clocks) == (1, 5, 3)
    assert steps[0].writes == ((7, 5),)
    clang = core([load(7, 0, 0x100), *copies], for_clang(LANAI4), {7: 1})
    clang.memory.store(0x100, 5, 4)
    assert [clang.step().waited for _ in range(3)] == [0, 1, 0]
    assert clang.registers[8] == 5


def test_a_result_written_after_an_exposed_load_stays() -> None:
    made = core([load(7, 0, 0x100), ri(Op.ADD, 7, 0, 9), NOP], LANAI4)
    made.memory.store(0x100, 5, 4)
    made.step(), made.step(), made.step()
    assert made.registers[7] == 9
    twice = core([load(7, 0, 0x100), load(7, 0, 0x104), ri(Op.ADD, 8, 7, 0), ri(Op.ADD, 9, 7, 0)], LANAI4)
    twice.memory.store(0x100, 5, 4)
    twice.memory.store(0x104, 6, 4)
    for _ in range(4):
        twice.step()
    assert (twice.registers[8], twice.registers[9]) == (5, 6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([0xF0038000], "0x0: illegal word: 0xf0038000 is not an instruction; check the target of the last jump"),
        ([load(7, 0, 0x102)], "0x0: unaligned access: 4 bytes at 0x102; align it to its size"),
        ([part(7, 0, 0x101, byte=False)], "0x0: unaligned access: 2 bytes at 0x101"),
        ([load(7, 0, SRAM)], "0x0: access beyond SRAM: address 0x1000, the SRAM ends at 0x1000"),
        ([store(7, 0, SRAM)], "0x0: access beyond SRAM: address 0x1000"),
        ([part(7, 0, -4, byte=True)], "0x0: part of a register: 1 bytes at 0xfffffffc; registers are whole words"),
        ([ri(Op.OR, PC, 0, 2)], "0x0: unaligned jump: to 0x2; jump to a multiple of 4"),
        ([branch(SRAM), NOP, NOP], "0x1000: no instruction: the SRAM ends at 0x1000"),
    ],
)
def test_an_undefined_action_ends_with_its_name_and_address(words: list[int], message: str) -> None:
    with pytest.raises(CoreError, match=re.escape(message)):
        run(words)


def test_an_error_names_the_function_and_the_chip() -> None:
    made = core([rr(Op.SHIFT, 8, 6, 7, j=Special.SELECT)], LANAI9)
    made.symbol = lambda address: f"main+{address:#x}"
    with pytest.raises(
        CoreError, match=r"0x0 in main\+0x0: instruction 0xc4183f00.*the LANai 9 has no select"
    ) as raised:
        made.step()
    assert raised.value.address == 0


def test_an_endless_run_ends_at_its_limit() -> None:
    with pytest.raises(CoreError, match="still runs: 100 instructions did not lead to 0x40"):
        core([branch(0), NOP]).run(0x40, limit=100)


def test_a_run_ends_before_the_instruction_at_its_stop() -> None:
    made = core([branch(0x40), ri(Op.ADD, 8, 0, 1), ri(Op.ADD, 8, 8, 1)])
    made.run(0x40)
    assert (made.steps, made.registers[8], made.addresses[0]) == (2, 1, 0x40)
