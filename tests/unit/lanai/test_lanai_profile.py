"""Profiler and instruction trace.

Strategy: echo's committed image runs between two NICs of the machine while every instruction is recorded. Sums must be
complete, and a polling NIC must spend its time in `main` and the polling functions inlined there. A line of the trace
must be that of the disassembler. A table is printed from invented rows.
"""

from __future__ import annotations

from firmware.images import cores, image
from pymodels.lanai.clocks import Clocks, Pace, Spent
from pymodels.lanai.image import Image
from pymodels.lanai.isa import Op
from pymodels.lanai.profile import Profile, Row, table, traced
from pymodels.lanai.program import NOWHERE, Function, Line, Program
from pymodels.machine import Machine
from pymodels.machine.executed import execute
from pymodels.profiles.default import DEFAULT_KIND
from tests.unit.lanai.lanai_words import NOP, core, load, ri, store

PROGRAM = Program(0, 0, b"", 0, 0x1000, {"start": 0, "step": 8}, (Function("start", 0, 8), Function("step", 8, 8)),
                  (Line(0, "a.c", 3), Line(8, "b.h", 7), Line(12, "a.c", 3), Line(16, "", 0)))  # fmt: skip
WORDS = [NOP, load(8, 0, 0x200), ri(Op.ADD, 9, 8, 1), store(9, 0, 0x204), load(7, 1, -0x4F), NOP]


def test_a_profile_sums_clocks_by_function_and_by_the_line_where_code_was_written() -> None:
    model, clocks, profile = core(WORDS), Clocks(Pace(load_clocks=2, register_clocks=0)), Profile(PROGRAM)
    for _ in WORDS:
        step = model.step()
        profile.add(step, clocks.step(step))
    assert profile.clocks == clocks.now == len(WORDS) + 1 + 2
    functions, lines = profile.functions(), profile.lines()
    assert {name: (row.instructions, row.spent.clocks) for name, row in functions.items()} == {
        "step": (2, 4), "start": (2, 3), NOWHERE.function: (2, 2)
    }  # fmt: skip
    assert list(functions) == ["step", "start", NOWHERE.function], "sorted by clocks, descending"
    assert lines["b.h:7"].spent == Spent(1, load=2) and lines["a.c:3"].instructions == 3


def test_a_profile_of_the_counts_of_the_core_in_rtl_is_the_same() -> None:
    counts = [[3, 1, 2, 0, 0], [0] * 5, [4, 0, 0, 1, 5]]
    functions = Profile.counted(PROGRAM, counts).functions()
    assert functions["start"] == Row(3, Spent(3, fetch=1, load=2))
    assert functions["step"] == Row(4, Spent(4, grant=1, register=5))


def test_a_table_has_the_share_of_every_place() -> None:
    rows = {"main": Row(60, Spent(60, load=10, fetch=3, grant=1, register=1)), "f": Row(25, Spent(25))}
    assert [line.split() for line in table(rows)] == [
        ["clocks", "%", "instructions", "load", "fetch", "grant", "register", "where"],
        ["75", "75.0", "60", "10", "3", "1", "1", "main"],
        ["25", "25.0", "25", "0", "0", "0", "0", "f"],
    ]


def test_a_line_of_the_trace_has_clock_place_text_and_effects() -> None:
    model = core(WORDS)
    lines = [traced(10 + clock, model.step(), PROGRAM) for clock in range(5)]
    assert lines[0] == "        10  000000  start                     nop"
    assert lines[1].split(maxsplit=3)[:3] == ["11", "000004", "start+0x4"]
    assert lines[1].endswith("r8 = 0x0, 4 B at 0x200 -> 0x0") and "ld 512[%r0], %rv" in lines[1]
    assert lines[3].endswith("4 B at 0x204 <- 0x1")
    assert lines[4].endswith("r7 = 0x0, register 0x1b0 -> 0x0")


def test_a_nic_that_polls_spends_its_time_in_the_lines_of_its_loop() -> None:
    machine, program = Machine(2), Image.load(image("echo", DEFAULT_KIND)).program
    profile = Profile(program)
    nic = machine.nic(0)
    nic.spawn(execute(nic, program, cores()[DEFAULT_KIND].chip, profile.add), "echo in C")
    machine.run(until_us=20)
    functions, lines = profile.functions(), profile.lines()
    loop = functions["main"].spent.clocks + functions["look_inbox"].spent.clocks
    assert loop > 0.9 * profile.clocks > 1000, "the loop with its inlined functions"
    assert functions["look_inbox"].spent.clocks > 0
    assert sum(row.spent.clocks for row in lines.values()) == profile.clocks
    first = next(iter(lines))
    assert first.startswith("firmware/echo/nic/"), "it waits for the host, in a step of paths.c"
