"""Errors of a program with undefined actions.

Strategy: echo's committed image polls on a NIC of the machine. All of `main` is then replaced by an illegal word, a
jump in a delay slot, or an invalid access. The error must contain position, cause, node, callers and the last 64
disassembled instructions, like that of the RTL core. A program that stops immediately has fewer.
"""

from __future__ import annotations

import pytest

from firmware.images import cores, image
from pymodels.lanai.faults import MESSAGES, Fault
from pymodels.lanai.image import Image
from pymodels.lanai.isa import FP, SP
from pymodels.lanai.ports import CoreError
from pymodels.lanai.stopped import LAST, Stopped
from pymodels.machine import Machine
from pymodels.machine.executed import execute
from pymodels.profiles.default import DEFAULT_KIND
from tests.unit.lanai.lanai_words import wild

PROGRAM = Image.load(image("echo", DEFAULT_KIND)).program
MAIN = next(one for one in PROGRAM.functions if one.name == "main")


@pytest.mark.parametrize("fault", [Fault.ILLEGAL, Fault.SHADOW, Fault.BEYOND])
def test_an_undefined_action_is_reported_with_function_and_last_instructions(fault: Fault) -> None:
    machine = Machine(2)
    nic = machine.nic(1)
    nic.spawn(execute(nic, PROGRAM, cores()[DEFAULT_KIND].chip), "echo in C")
    machine.run(until_us=10)
    nic.store_words(MAIN.address, [wild(MAIN.address)[fault]] * (MAIN.size // 4))
    with pytest.raises(CoreError) as raised:
        machine.run(until_us=20)
    lines = str(raised.value).splitlines()
    assert raised.value.fault is fault
    assert f" in main+{raised.value.address - MAIN.address:#x} on node 1: {MESSAGES[fault].what}: " in lines[0]
    assert lines[1].startswith("  calls: ") and "main+" in lines[1] and " <- start+" in lines[1]
    assert "%sp 0x7ff" in lines[2]
    assert lines[3] == "  last instructions:" and len(lines) == 4 + LAST
    assert all("main+" in line for line in lines[4:-1]), "the instructions of its loop"
    assert any(" ld [" in line for line in lines[4:]), "disassembled"


def test_a_program_that_stops_early_has_few_last_instructions_and_no_calls() -> None:
    zeros = [0] * 32
    stopped = Stopped(PROGRAM, PROGRAM.symbols["start"] + 4, zeros, [0], lambda at: 0)
    calls, _, _, *last = stopped.lines()
    assert calls == "calls: start+0x4"
    assert [line.split()[0] for line in last] == ["0x00000"]


def test_caller_of_a_function_without_a_frame_is_read_from_the_stack() -> None:
    """`start` has called `main`: its frame is the whole stack, without remains of an earlier call."""
    registers = [0] * 32
    registers[SP], registers[FP] = PROGRAM.stack - 4, PROGRAM.stack
    stopped = Stopped(PROGRAM, MAIN.address, registers, [], {PROGRAM.stack - 4: 0x44}.__getitem__)
    assert next(stopped.lines()) == "calls: main <- start+0x44"
