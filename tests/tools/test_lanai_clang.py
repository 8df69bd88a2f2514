"""Output of clang-16 for the LANai: equal results as on the local machine, and LLVM's disassembly.

Strategy: C programs, one per class of compiler output, are compiled for both at four optimisation levels. Those for the
LANai are linked with the run-time library and run on the reference model with several inputs. The text of every
instruction of every object is compared with llvm-objdump-16, and assembled again. The functions of the run-time library
are also called alone, at the limits of their arguments.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from firmware.build import library
from firmware.images import RUNTIME
from pymodels.costs.targets import LANAI
from pymodels.lanai.chips import LANAI4, V11, Chip, for_clang
from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.elf import Object
from pymodels.lanai.isa import SP, WORD
from pymodels.lanai.link import link
from pymodels.lanai.ports import Sram
from pymodels.lanai.program import Program
from pymodels.lanai.simulator import Core
from pymodels.lanai.toolchain import COMPILER, LINES, compiled

OBJDUMP = "llvm-objdump-16"
pytestmark = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(OBJDUMP)), reason=f"{COMPILER} and {OBJDUMP} are not installed"
)
HERE = Path(__file__).parent / "lanai_c"
RAM = 1 << 16
LEVELS = ("-O0", "-O1", "-O2", "-Os")
NAMES = ("arithmetic", "wide", "comparisons", "structures", "calls", "loops", "pointers")
SEEDS = (0, 12345, 0x80000001)


@cache
def program(level: str) -> Program:
    """Return the programs, linked after the common start-up code."""
    flags = [*(flag for flag in LANAI.flags if not flag.startswith("-O")), level, "-Wno-implicit-fallthrough"]
    begin, *rest = library(flags)
    main = Object.read("main.o", assembled(".globl main\nmain:\n nop\n"))
    return link([begin, compiled(HERE / "programs.c", flags, HERE), main, *rest], sram_bytes=RAM)


def assembled(text: str) -> bytes:
    """Return an object of assembly."""
    command = [COMPILER, "--target=lanai", "-x", "assembler", "-c", "-", "-o", "-"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


@pytest.fixture(name="native", scope="module")
def fixture_native(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the same programs as a library of the local machine."""
    made = tmp_path_factory.mktemp("native") / "programs.so"
    subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", "-fwrapv", "-o", made, HERE / "programs.c"], check=True)
    return ctypes.CDLL(str(made))


def called(linked: Program, name: str, *arguments: int, chip: Chip = V11) -> Core:
    """Return the processor after a call, with the caller's part done by hand."""
    sram = Sram(RAM)
    sram.data[: len(linked.data)] = linked.data
    core = Core(sram, chip=chip, start=linked.symbols[name], symbol=linked.symbol)
    stop, core.registers[SP] = linked.symbols["stop"], linked.stack - 4
    sram.store(linked.stack - 4, stop, 4)
    for number, value in zip((6, 7, 18, 19), arguments, strict=False):
        core.registers[number] = value & WORD
    core.run(stop)
    assert core.registers[SP] == linked.stack, "the stack is as it was"
    return core


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_program_has_the_same_results_as_on_the_local_machine(native: ctypes.CDLL, level: str, name: str) -> None:
    for seed in SEEDS:
        expected = getattr(native, name)(ctypes.c_uint(seed)) & WORD
        assert called(program(level), name, seed).registers[8] == expected, seed


def test_a_load_that_takes_longer_changes_clocks_and_nothing_else() -> None:
    cores = [called(program("-O2"), "structures", 7, chip=chip) for chip in (V11, for_clang(LANAI4))]
    assert len({(core.registers[8], core.steps) for core in cores}) == 1
    assert cores[0].clocks > cores[0].steps


EDGES = (0, 1, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_run_time_library_at_the_edges(level: str) -> None:
    linked = program(level)

    def signed(value: int, bits: int = 32) -> int:
        return value - (1 << bits) if value >> bits - 1 else value

    for a in EDGES:
        for b in EDGES:
            assert called(linked, "__mulsi3", a, b).registers[8] == a * b & WORD
            if b:
                assert called(linked, "__udivsi3", a, b).registers[8] == a // b
                assert called(linked, "__umodsi3", a, b).registers[8] == a % b
            if b and (a, b) != (0x80000000, WORD):
                quotient = int(abs(signed(a)) // abs(signed(b))) * (1 if signed(a) * signed(b) >= 0 else -1)
                assert called(linked, "__divsi3", a, b).registers[8] == quotient & WORD
                assert called(linked, "__modsi3", a, b).registers[8] == signed(a) - quotient * signed(b) & WORD
    for high, low in ((0x80000001, 0x40000003), (0x7FFFFFFF, WORD), (0, 1)):
        whole = high << 32 | low
        for by in (0, 1, 31, 32, 33, 63):
            for name, expected in (
                ("__ashldi3", whole << by), ("__lshrdi3", whole >> by), ("__ashrdi3", signed(whole, 64) >> by)
            ):  # fmt: skip
                got = called(linked, name, high, low, by).registers[8:10]
                assert got == [expected >> 32 & WORD, expected & WORD], (name, whole, by)
        got = called(linked, "__muldi3", high, low, 3, 0x80000005).registers[8:10]
        product = whole * (3 << 32 | 0x80000005)
        assert got == [product >> 32 & WORD, product & WORD]


def printed(folder: Path, level: str) -> list[tuple[int, str]]:
    """Return every instruction of the programs and of the library, with llvm-objdump's text in our spacing."""
    found: list[tuple[int, str]] = []
    for source in (HERE / "programs.c", *sorted(RUNTIME.glob("*.[cS]"))):
        made = folder / f"{source.stem}.o"
        target = ["--target=lanai"] if source.suffix == ".S" else [*LANAI.flags, "-Wno-error", level]
        subprocess.run([COMPILER, *target, *LINES, "-c", source, "-o", made], check=True, capture_output=True)
        shown = subprocess.run([OBJDUMP, "-d", made], check=True, encoding="utf-8", capture_output=True).stdout
        for line in re.findall(r"^ +[0-9a-f]+: ((?:[0-9a-f]{2} ){4}) *\t(.*)$", shown, re.MULTILINE):
            text = re.sub(r"\s+", " ", re.sub(r" *(?:<.*>|! return)", "", line[1])).strip()
            found.append((int(line[0].replace(" ", ""), 16), text))
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_text_is_that_of_llvm_and_assembles_to_the_same_word(tmp_path: Path, level: str) -> None:
    theirs = {word: text for word, text in printed(tmp_path, level) if text != "<unknown>"}
    assert len(theirs) > 300
    ours = {word: disassembled(word) for word in theirs}
    assert ours == theirs
    objects = Object.read("again.o", assembled("\n".join(ours.values()) + "\n"))
    (again,) = (one for one in objects.sections if one.name == ".text")
    words = [int.from_bytes(again.data[at : at + 4], "big") for at in range(0, again.size, 4)]
    assert [disassembled(word) for word in words] == list(ours.values())
    twice = {text for text in theirs.values() if text.startswith("mov 0x")}  # by an addition or by SLI
    assert {a for a, b in zip(ours, words, strict=True) if a != b} <= {a for a in ours if ours[a] in twice}


@pytest.mark.parametrize("level", LEVELS)
def test_line_information_does_not_change_the_code(tmp_path: Path, level: str) -> None:
    codes = []
    for lines in ((), LINES):
        made = tmp_path / "made.o"
        flags = [*LANAI.flags, "-Wno-error", level]
        subprocess.run(
            [COMPILER, *flags, *lines, "-c", HERE / "programs.c", "-o", made], check=True, capture_output=True
        )
        found = Object.read("made.o", made.read_bytes())
        codes.append([one.data for one in found.sections if one.name == ".text"])
    assert codes[0] == codes[1]
