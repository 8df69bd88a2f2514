"""Linker of the LANai: placement, relocation, errors.

Strategy: object files are made byte by byte, one for each rule. An object file of clang-16, with its source beside it,
is linked and run on the reference model, and its functions and lines are compared.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymodels.lanai.elf import ABSOLUTE, LOCAL, UNDEFINED, WEAK, LinkError, Object
from pymodels.lanai.isa import BY_NAME, FP, NOP, RCA, SP, Op
from pymodels.lanai.link import STACK, UNSET, link
from pymodels.lanai.ports import Sram
from pymodels.lanai.program import Program
from pymodels.lanai.relocate import Kind, refused
from pymodels.lanai.simulator import Core
from tests.unit.lanai.lanai_objects import CODE, DATA, REL, Name, Section, common, elf, made
from tests.unit.lanai.lanai_words import branch, ri, store

RAM = 0x4000
SPIN = (branch(0), NOP)
START = made("crt.o", [Section(".text", CODE, SPIN)], [Name("start", ".text", size=8)])
OBJECT = Path(__file__).parent / "lanai_c" / "count.o"


def linked(
    *objects: Object,
    library: tuple[Object, ...] = (),
    base: int = 0,
    stack: int | None = None,
    stack_bytes: int = STACK,
) -> Program:
    return link([START, *objects], library, sram_bytes=RAM, base=base, stack=stack, stack_bytes=stack_bytes)


def word(program: Program, address: int) -> int:
    at = address - program.base
    return int.from_bytes(program.data[at : at + 4], "big")


def test_sections_are_placed_in_the_order_code_data_zeros_commons() -> None:
    one = made(
        "a.o",
        [Section(".bss", DATA, zeros=6), Section(".data", DATA, [1, 2], align=16), Section(".text", CODE, [NOP])],
        [Name("f", ".text"), Name("d", ".data"), Name("z", ".bss"), common("c", 8, 32)],
    )
    program = linked(one, base=0x100)
    assert (program.base, program.entry, program.symbols["start"]) == (0x100, 0x100, 0x100)
    assert [program.symbols[name] for name in ("f", "d", "z", "c")] == [0x108, 0x110, 0x118, 0x120]
    assert (len(program.data), program.zeros, program.end) == (0x18, 0x10, 0x128)
    assert (program.symbols["__bss_start"], program.symbols["__bss_end"]) == (0x118, 0x128)
    assert program.symbols["__stack"] == program.stack == RAM


def test_uncleared_variables_are_placed_before_cleared_ones() -> None:
    one = made(
        "a.o", [Section(".bss", DATA, zeros=8), Section(UNSET, DATA, zeros=16)], [Name("z", ".bss"), Name("u", UNSET)]
    )
    program = linked(one)
    at = program.base + len(program.data)
    assert [program.symbols[name] for name in ("u", "z")] == [at, at + 16]
    assert (program.symbols["__bss_start"], program.symbols["__bss_end"]) == (at + 16, at + 24)
    assert (program.zeros, program.end) == (24, at + 24)


def test_the_entry_is_placed_first_for_any_order_of_objects() -> None:
    other = made("a.o", [Section(".text", CODE, [NOP, NOP])], [Name("f", ".text")])
    assert link([other, START], sram_bytes=RAM).symbols["start"] == 0
    behind = made("crt.o", [Section(".text", CODE, [NOP, NOP])], [Name("start", ".text", value=4)])
    with pytest.raises(LinkError, match="symbol 'start': is at 0x4, not at 0x0; put nothing before it"):
        link([behind], sram_bytes=RAM)
    with pytest.raises(LinkError, match="symbol 'start': no object defines it"):
        link([other], sram_bytes=RAM)


@pytest.mark.parametrize(
    ("kind", "before", "target", "expected"),
    [
        (Kind.ABS_32, 0, 0x12345678, 0x12345678),
        (Kind.HI16, 0x07010000, 0x12349678, 0x07011234),
        (Kind.LO16, 0x57380000, 0x12349678, 0x57389678),
        (Kind.ABS_25, 0xE0000001, 0x1FFFFF8, 0xE1FFFFF9),
        (Kind.ABS_21, BY_NAME["SLI"].encode(rd=6), 0x1ABCDF, BY_NAME["SLI"].encode(rd=6, top=0x1A, k=0xBCDF)),
        (
            Kind.ABS_21_F,
            BY_NAME["SLS"].encode(rd=6, s=1),
            0x1ABCDC,
            BY_NAME["SLS"].encode(rd=6, s=1, top=0x1A, k=0xBCDC),
        ),
        (Kind.NONE, 0xE0000001, 0x1FFFFF8, 0xE0000001),
    ],
)
def test_a_relocation_encodes_the_address_in_its_bits(kind: Kind, before: int, target: int, expected: int) -> None:
    uses = Section(".text", CODE, [NOP, before], relocations=[(4, "there", kind, 8)])
    one = made("a.o", [uses], [Name("f", ".text"), Name("there", ABSOLUTE, target - 8)])
    assert word(linked(one), 12) == expected


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        (Kind.ABS_21, 1 << 21, "0x200000 has more than 21 bits"),
        (Kind.ABS_21_F, 2, "0x2 is not a multiple of 4"),
        (Kind.ABS_25, 1 << 25, "a branch cannot reach 0x2000000"),
        (Kind.ABS_25, 6, "0x6 is not a multiple of 4"),
        (9, 0, "relocation 9 is unknown"),
    ],
)
def test_an_address_that_does_not_fit_is_rejected_with_symbol_and_object(kind: int, value: int, why: str) -> None:
    assert refused(kind, value) == why
    uses = Section(".text", CODE, [NOP], relocations=[(0, "there", kind, 0)])
    one = made("a.o", [uses], [Name("f", ".text"), Name("there", ABSOLUTE, value)])
    with pytest.raises(LinkError, match=re.escape(f"there in a.o (.text+0x0): {why}; ")):
        linked(one)


def test_symbols_are_resolved_across_objects_and_weak_ones_are_overridden() -> None:
    calls = Section(
        ".text", CODE, [0xE0000000, 0xE0000000], relocations=[(0, "f", Kind.ABS_25, 0), (4, "w", Kind.ABS_25, 0)]
    )
    user = made("user.o", [calls], [Name("g", ".text"), Name("f", UNDEFINED), Name("w", UNDEFINED, binding=WEAK)])
    weak = made("weak.o", [Section(".text", CODE, [NOP])], [Name("f", ".text", binding=WEAK)])
    strong = made("strong.o", [Section(".text", CODE, [NOP])], [Name("f", ".text")])
    for objects in ((user, weak, strong), (user, strong, weak)):
        program = linked(*objects)
        assert word(program, 8) & 0x1FFFFFC == program.symbols["f"] == 0x10 + 4 * (objects[1] is weak)
        assert word(program, 12) & 0x1FFFFFC == 0, "an undefined weak symbol is 0"


def test_local_symbols_are_not_shared_between_objects() -> None:
    def one(name: str) -> Object:
        text = Section(".text", CODE, [0], relocations=[(0, "x", Kind.ABS_32, 0)])
        return made(name, [text], [Name("x", ".text", binding=LOCAL)])

    program = linked(one("a.o"), one("b.o"))
    assert (word(program, 8), word(program, 12)) == (8, 12)


def test_a_missing_or_duplicate_symbol_is_rejected() -> None:
    calls = Section(".text", CODE, [0xE0000000], relocations=[(0, "f", Kind.ABS_25, 0)])
    user = made("user.o", [calls], [Name("g", ".text"), Name("f", UNDEFINED)])
    with pytest.raises(LinkError, match=r"symbol 'f' in user\.o: no object defines it"):
        linked(user)
    one, two = (made(name, [Section(".text", CODE, [NOP])], [Name("f", ".text")]) for name in ("a.o", "b.o"))
    with pytest.raises(LinkError, match=r"symbol 'f': is defined by a\.o and by b\.o; rename one, or make it static"):
        linked(one, two)
    stack = made("a.o", [Section(".text", CODE, [NOP])], [Name("__stack", ".text")])
    with pytest.raises(LinkError, match=r"'__stack': is defined by a\.o and by the linker"):
        linked(stack)


def test_commons_of_a_name_are_merged_and_a_definition_replaces_them() -> None:
    small, large = made("a.o", [], [common("c", 4)]), made("b.o", [], [common("c", 40, 8)])
    assert linked(small, large).zeros == 40
    defined = made("d.o", [Section(".data", DATA, [7])], [Name("c", ".data", kind=1)])
    program = linked(small, defined)
    assert (program.zeros, word(program, program.symbols["c"])) == (0, 7)


def test_only_library_objects_that_define_missing_symbols_are_linked() -> None:
    def one(name: str, *missing: str) -> Object:
        text = Section(".text", CODE, [NOP])
        return made(f"{name}.o", [text], [Name(name, ".text"), *(Name(other, UNDEFINED) for other in missing)])

    program = linked(one("main", "divide"), library=(one("rest"), one("magnitude"), one("divide", "magnitude")))
    assert [one.name for one in program.functions] == ["start", "main", "divide", "magnitude"]


def test_absolute_symbols_can_be_defined() -> None:
    uses = Section(".text", CODE, [0], relocations=[(0, "slot", Kind.ABS_32, 4)])
    one = made("a.o", [uses], [Name("f", ".text"), Name("slot", UNDEFINED)])
    program = link([START, one], sram_bytes=RAM, absolute={"slot": 0x2000})
    assert word(program, 8) == 0x2004


def test_a_program_leaves_room_for_its_stack() -> None:
    zeros = made("a.o", [Section(".bss", DATA, zeros=RAM - 8 - 0x800)], [Name("z", ".bss")])
    assert linked(zeros, stack_bytes=0x800).end == RAM - 0x800
    with pytest.raises(
        LinkError, match=r"program before the stack's begin at 0x4000: 0x3800 bytes from 0x0 on and 0x1000"
    ):
        linked(zeros)
    assert linked(stack=0x3F1C).stack == 0x3F18, "clang requires a multiple of 8"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"!<arch>\n", "a.o: is not an ELF file"),
        (elf([], [], machine=3), "a.o: is not an object file for the LANai"),
        (elf([Section(".text", CODE, [NOP])], [])[:120], "a.o: is cut short or damaged"),
        (
            elf([Section(".text", CODE, [0], relocations=[(0, "f", 4, 0)])], [Name("f", ".text")], relocation_type=REL),
            "a.o: has relocations without addends",
        ),
    ],
)
def test_a_file_that_is_not_an_object_file_is_rejected(data: bytes, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        Object.read("a.o", data)


def test_functions_are_found_by_address() -> None:
    program = linked(made("a.o", [Section(".text", CODE, [NOP] * 4)], [Name("f", ".text", size=12)]))
    assert [program.symbol(address) for address in (0, 4, 8, 0x10, 0x14)] == ["start", "start+0x4", "f", "f+0x8", ""]


def crt() -> Object:
    """Set up the stack, call `main`, stop behind it."""
    words = [
        ri(Op.ADD, SP, 0, 0, high=True), ri(Op.OR, SP, SP, 0), ri(Op.OR, FP, SP, 0),
        ri(Op.ADD, RCA, 2, 0x10), store(RCA, SP, -4, p=1, q=1), branch(0), NOP, branch(0), NOP,
    ]  # fmt: skip
    places = [(0, "__stack", Kind.HI16, 0), (4, "__stack", Kind.LO16, 0), (20, "main", Kind.ABS_25, 0)]
    text = Section(".text", CODE, words, relocations=places)
    names = [Name("start", ".text"), Name("stop", ".text", 28), Name("__stack", UNDEFINED), Name("main", UNDEFINED)]
    return made("crt.o", [text], names)


def test_code_compiled_by_clang_runs_with_line_numbers() -> None:
    program = link([crt(), Object.read("count.o", OBJECT.read_bytes())], sram_bytes=RAM)
    sram = Sram(RAM)
    sram.data[: len(program.data)] = program.data
    core = Core(sram, symbol=program.symbol)
    core.run(program.symbols["stop"])
    assert core.registers[8] == (12 + 3) + (24 + 3) + (12 + 5)
    assert [sram.load(program.symbols["counts"] + 4 * k, 4) for k in range(4)] == [0, 6, 3, 0]
    assert [one.name for one in program.functions][-3:] == ["count", "prime", "main"]
    source = OBJECT.with_suffix(".c").read_text(encoding="utf-8").splitlines()
    for one in program.functions[-3:]:
        line = program.line(one.address)
        assert line is not None and f"{one.name}(" in source[line.line - 1]
    assert {one.file for one in program.lines if one.line} == {"count.c"}
    assert program.line(0) is None, "the startup code has no lines"


def test_a_linked_program_knows_which_code_is_inline() -> None:
    program = linked(Object.read("count.o", OBJECT.read_bytes()))
    source = OBJECT.with_suffix(".c").read_text(encoding="utf-8").splitlines()
    (main,) = (one for one in program.functions if one.name == "main")
    assert [(one.name, one.file, one.depth) for one in program.inlined] == [("count", "count.c", 1)] * 3
    assert all("count(1) + count(1) + count(2)" in source[one.line - 1] for one in program.inlined), "the call"
    for one in program.inlined:
        first, _ = one.ranges[0]
        assert main.address <= first < main.address + main.size
        assert program.inlines(first) == (one,) and program.place(first) == f"count in {program.symbol(first)}"
    assert program.inlines(main.address) == () and program.place(main.address) == "main"
    assert program.names() == ("count", "main", "prime", "start")
