"""Disassembly of instructions.

Strategy: for each form, a word is compared with the text of llvm-objdump-16. Every legal word has a text that no other
meaning has. tests/tools compares code compiled by clang with llvm-objdump.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.lanai.decode import decode
from pymodels.lanai.disassemble import disassembled, listing
from pymodels.lanai.elf import Object
from pymodels.lanai.link import link

OBJECT = Path(__file__).parent / "lanai_c" / "count.o"
TEXTS = {
    0x00000001: "nop",
    0x0381001F: "mov 0x1f0000, %r7",
    0x0398001F: "add %r6, 0x1f, %r7",
    0x4398FFFE: "and %r6, 0xfffffffe, %r7",
    0x5398001F: "or %r6, 0x1f, %r7",
    0x7398FFE5: "sh %r6, -0x1b, %r7",
    0x741BFFFD: "sha.f %r6, -0x3, %rv",
    0x02900008: "add %sp, 0x8, %fp",
    0xC4183FC0: "sha %r6, %r7, %rv",
    0xC4183803: "add.ne %r6, %r7, %rv",
    0xC3984801: "add.ugt %r6, %r9, %r7",
    0xC80D8703: "sel.eq %r3, %r16, %r16",
    0xC1003500: "bt %r6",
    0xC10C0000: "mov %r3, %pc",
    0x4184FFFA: "mov 0xfffffffa, %r3",
    0xD3980001: "popc %r6, %r7",
    0xE2000101: "bule 0x100",
    0xE7000012: "bne.r 0x10",
    0xE6240003: "seq %r9",
    0xF4001234: "ld [0x1234], %rv",
    0xF4011234: "st %rv, [0x1234]",
    0xF6020080: "mov 0x80, %r12",
    0x9293FFFC: "st %fp, [--%sp]",
    0x83990004: "ld [%r6++], %r7",
    0x839B0008: "ld 8[*%r6], %r7",
    0x83990008: "ld 8[%r6*], %r7",
    0x839AFFFC: "ld -4[%r6], %r7",
    0x83980008: "ld 0[%r6], %r7",
    0xF19B5805: "uld.b 5[%r6], %r3",
    0xF39B2C02: "st.h %r7, [++%r6]",
    0xA39A4802: "ld [%r6 add %r9], %r7",
    0xA3994A02: "ld [%r6* sub %r9], %r7",
    0xA39B4F82: "ld [*%r6 sh %r9], %r7",
    0xB8267004: "st.b %r16, [%r9 add %r14]",
    0xF0038000: ".word 0xf0038000",
}


@pytest.mark.parametrize(("word", "text"), TEXTS.items(), ids=TEXTS.values())
def test_a_word_is_written_as_the_assembler_writes_it(word: int, text: str) -> None:
    assert disassembled(word) == text


@given(st.integers(0, 2**32 - 1))
def test_every_word_has_a_text(word: int) -> None:
    assert disassembled(word).startswith(".word") == (decode(word) is None)


def test_a_listing_has_functions_and_the_lines_where_they_change() -> None:
    program = link([Object.read("count.o", OBJECT.read_bytes())], sram_bytes=0x4000, entry="count")
    lines = list(listing(program))
    assert lines[:2] == ["00000000 <count>:", "  000000: 9293fffc  st %fp, [--%sp]  ! count.c:11"]
    assert "00000064 <prime>:" in lines
    assert lines[2] == "  000004: 02900008  add %sp, 0x8, %fp"
