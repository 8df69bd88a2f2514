"""Clocks of the machine's NIC processor with firmware in C: those that the profile gives the RTL core.

Strategy: a loop that uses a loaded value, reads ISR and jumps back runs with the clocks of a changed profile. The
longest stall of each kind must equal the setting of the RTL. A buffer that holds the loop causes fetch stalls in the
first turn only.
"""

from __future__ import annotations

from dataclasses import astuple

import pytest

from firmware.images import cores
from pymodels.lanai.clocks import Spent
from pymodels.lanai.isa import NOP, Op
from pymodels.lanai.program import Program
from pymodels.machine import Machine
from pymodels.machine.executed import execute
from pymodels.machine.timing import Timing
from pymodels.nics.common.lanai import core_pace
from pymodels.nics.lanai9.kind import KIND
from pymodels.profiles import load_profile, parse_settings
from pymodels.registers import Reg
from pymodels.settings import Setting
from tests.unit.lanai.lanai_words import branch, load, ri

LOOP = [load(8, 0, 0x200), ri(Op.ADD, 9, 8, 1), load(10, 0, Reg.ISR - 0x200), *[NOP] * 5, branch(0), load(11, 0, 0x200)]
PROGRAM = Program(0, 0, b"".join(word.to_bytes(4, "big") for word in LOOP), 0, 0x1000, {}, ())
TURNS = 3


def waits(settings: str | None) -> list[Spent]:
    """Return the clocks of each instruction over some turns; None: of a machine without a profile."""
    pace = None if settings is None else core_pace(load_profile("lanai9").override(parse_settings(settings)))
    machine, spent = Machine(2, timing=Timing(core=pace)), list[Spent]()
    chip = cores()["lanai9"].chip
    machine.nic(0).spawn(execute(machine.nic(0), PROGRAM, chip, lambda step, one: spent.append(one)), "a loop")
    machine.run(until_us=1)
    return spent[: TURNS * len(LOOP)]


@pytest.mark.parametrize("settings", ["processor.load_clocks=4", "processor.uncached_clocks=6", ""])
def test_each_stall_equals_the_setting_of_the_rtl(settings: str) -> None:
    values = KIND.settings(load_profile("lanai9").override(parse_settings(settings)))
    most = Spent(*map(max, zip(*map(astuple, waits(settings)), strict=True)))
    assert (most.load, most.register) == (values[Setting.CORE_LOAD_DELAY], values[Setting.CORE_REGISTER_CLOCKS])


def test_a_buffer_that_holds_the_loop_waits_for_fetches_once() -> None:
    fetches = {words: [one.fetch for one in waits(f"core.fetch_words={words}")] for words in (2, 8)}
    assert sum(fetches[8][: len(LOOP)]) > 0 and not any(fetches[8][len(LOOP) :])
    assert any(fetches[2][len(LOOP) :])


def test_a_machine_without_profile_has_the_clocks_of_the_default_one() -> None:
    assert waits(None) == waits("")
