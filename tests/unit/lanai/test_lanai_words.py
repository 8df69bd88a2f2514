"""The table of instruction words, and decoding.

Strategy: the formats are compared with each other, random fields are encoded and decoded, and random words are decoded:
each is illegal or has the format that the table defines for it. Some words are given as clang-16 assembles them, so
that table and compiler are compared without a compiler.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.lanai.chips import CHIPS, LANAI4, LANAI9, V11, for_clang
from pymodels.lanai.decode import DECODERS, Instruction, Kind, decode
from pymodels.lanai.isa import BY_NAME, FORMATS, NOP, Condition, Count, Format, Op, format_of

WORDS = st.integers(0, 2**32 - 1)


def known(word: int) -> Instruction:
    """Return the instruction of a legal word."""
    one = decode(word)
    assert one is not None
    return one


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_fields_of_a_format_share_no_bits_with_each_other_or_with_its_mark(one: Format) -> None:
    assert one.match & ~one.mask == 0
    taken = one.mask
    for field in one.fields.values():
        assert not taken & field.mask
        taken |= field.mask


def test_no_word_has_two_formats() -> None:
    pairs = [(a, b) for a in FORMATS for b in FORMATS if a is not b]
    assert all((a.match ^ b.match) & a.mask & b.mask for a, b in pairs)
    assert DECODERS.keys() == BY_NAME.keys()


@given(st.sampled_from(FORMATS), st.data())
def test_encoded_values_are_decoded_unchanged(one: Format, data: st.DataObject) -> None:
    values = {}
    for name, field in one.fields.items():
        bits = field.high - field.low + 1
        least = -(1 << bits - 1) if field.signed else 0
        values[name] = data.draw(st.integers(least, least + (1 << bits) - 1), name)
    word = one.encode(**values)
    assert format_of(word) is one
    assert one.get(word) == values


@given(WORDS)
def test_a_word_is_illegal_or_has_the_format_of_the_table(word: int) -> None:
    form, one = format_of(word), decode(word)
    if one is not None:
        assert form is not None and one.format == form.name and one.word == word
        assert 0 <= one.constant < 1 << 32


def test_a_value_that_does_not_fit_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"16 does not fit into bits 2\.\.0"):
        BY_NAME["SPECIAL"].encode(op=16)
    with pytest.raises(ValueError, match="32768 does not fit"):
        BY_NAME["RM"].encode(k=32768)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0x9293FFFC, Instruction(0, "RM", Kind.STORE, 5, 4, None, 0xFFFFFFFC, back=True)),  # st %fp, [--%sp]
        (0x2210_0008, Instruction(0, "RI", Kind.ALU, 4, 4, None, 8, Op.SUB)),  # sub %sp, 0x8, %sp
        (0x6080_0007 | 6 << 18, Instruction(0, "RI", Kind.ALU, 1, 6, None, 7, Op.XOR)),
        (
            0x741BFFFD,
            Instruction(0, "RI", Kind.ALU, 8, 6, None, 0xFFFFFFFD, Op.SHIFT, arithmetic=True, sets_flags=True),
        ),
        (0xC4183F80, Instruction(0, "RR", Kind.ALU, 8, 6, 7, 0, Op.SHIFT)),  # sh %r6, %r7, %r8
        (0xC4183FC0, Instruction(0, "RR", Kind.ALU, 8, 6, 7, 0, Op.SHIFT, arithmetic=True)),  # sha
        (0xC4183803, Instruction(0, "RR", Kind.ALU, 8, 6, 7, 0, Op.ADD, condition=Condition.NE)),  # add.ne
        (0xC80D8703, Instruction(0, "RR", Kind.SELECT, 16, 3, 16, 0, Op.SHIFT, condition=Condition.EQ)),  # sel.eq
        (0xC1003500, Instruction(0, "RR", Kind.ALU, 2, 0, 6, 0, Op.OR)),  # bt %r6
        (0xD3980001, Instruction(0, "SPECIAL", Kind.COUNT, 7, 6, count=Count.POPC)),
        (0xB8267004, Instruction(0, "RRM", Kind.STORE, 16, 9, 14, 0, Op.ADD, size=1)),  # st.b %r16, [%r9 add %r14]
        (0xA19A3800, Instruction(0, "RRM", Kind.LOAD, 3, 6, 7, 0, Op.ADD, size=2)),  # ld.h [%r6 add %r7], %r3
        (0xE7000012, Instruction(0, "BRR", Kind.RELATIVE, constant=0x10, condition=Condition.NE)),  # bne.r 0x10
        (0xE6240003, Instruction(0, "SCC", Kind.SET, 9, condition=Condition.EQ)),  # seq %r9
        (0xE6000000, Instruction(0, "BR", Kind.BRANCH, condition=Condition.NE)),  # bne 0x0
        (0xF4001234, Instruction(0, "SLS", Kind.LOAD, 8, constant=0x1234)),  # ld [0x1234], %r8
        (0xF602_0080, Instruction(0, "SLI", Kind.CONSTANT, 12, constant=0x80)),  # mov 0x80, %r12
        (
            0xF19B5405,
            Instruction(0, "SPLS", Kind.LOAD, 3, 6, None, 5, before=False, back=True, size=1, zero_extends=True),
        ),
    ],
)
def test_a_word_of_the_assembler_is_decoded(word: int, expected: Instruction) -> None:
    assert known(word) == replace(expected, word=word)


def test_a_select_sets_no_flags() -> None:
    assert not known(0xC80F8703).sets_flags


def test_nop_and_zero_change_nothing() -> None:
    assert known(NOP).writes == known(0).writes == frozenset()


@pytest.mark.parametrize("word", [0xF0038000, 0xD0000000, 0xD0000004, 0xD0020001, 0xC0000708, 0xA0000006, 0xA0000702])
def test_reserved_words_are_illegal(word: int) -> None:
    assert decode(word) is None


@pytest.mark.parametrize(
    ("word", "lacking"),
    [
        (0xD3980001, "has no SPECIAL instruction"),
        (0xC80D8703, "has no select"),
        (0xC4183803, "has no conditional RR instruction"),
        (0x81190000, "must not load pc"),
        (0xE6240003, "has no SCC instruction"),
        (0x51980000, "has its flags in r3, which is not modelled"),
        (0x5E000000, "has other registers from r28 on, which are not modelled"),
        (0x30020000 | 6 << 23, "leaves a wrong Z after subb.f"),
    ],
)
def test_a_chip_rejects_unsupported_instructions(word: int, lacking: str) -> None:
    refused = [chip.refuses(known(word)) for chip in CHIPS]
    assert refused[0] == "", "v11 has all instructions"
    assert refused[2] == lacking
    assert (refused[1] != "") == (lacking.endswith(("SPECIAL instruction", "select", "RR instruction")))


def test_chip_for_clang_keeps_register_addresses_and_load_delays() -> None:
    for chip in (LANAI4, LANAI9):
        made = for_clang(chip)
        assert (made.register_bits, made.load_delay) == (chip.register_bits, chip.load_delay)
        assert (made.interlocked, made.additions, made.load_shadows) == (True, True, V11.load_shadows)
