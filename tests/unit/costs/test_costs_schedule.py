"""Stalls of a path: equal to those of a processor that executes it, and charged.

Strategy: random instructions without jumps run on the reference model of the LANai, and the counter reads them as
assembly: each instruction must wait equally long in both. Hand-counted pieces of assembly contain what only the counter
handles: marks of registers that a verb accesses, frames, and the path around an unlikely block. The committed tables
must match the profiles for every layer.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.images import cores
from pymodels.costs import CostError, PathCost, PathTable
from pymodels.costs.lanai import DELAYS, decode
from pymodels.costs.schedule import Schedule
from pymodels.costs.targets import LANAI
from pymodels.costs.walk import walk
from pymodels.hardware.processors import NicProcessor, nic_charge
from pymodels.lanai.chips import LANAI4, LANAI9, Chip, for_clang
from pymodels.lanai.disassemble import disassembled
from pymodels.lanai.isa import Op
from pymodels.profiles import load_profile
from tests.unit.costs.test_costs_walk import RETURN, function
from tests.unit.lanai.lanai_words import core, load, part, ri, rr, store

FEW, MOVED = st.integers(8, 12), range(13, 16)
PLACE = st.integers(0x40, 0x7F).map(lambda word: 4 * word)
WORD = st.one_of(
    st.builds(load, FEW, FEW, PLACE),
    st.builds(store, FEW, FEW, PLACE),
    st.builds(load, FEW, st.sampled_from(MOVED), st.just(4), p=st.just(0), q=st.just(1)),
    st.builds(part, FEW, FEW, PLACE, byte=st.booleans(), stores=st.booleans()),
    st.builds(rr, st.sampled_from([Op.AND, Op.XOR]), FEW, FEW, FEW, flags=st.booleans()),
    st.builds(ri, st.just(Op.OR), FEW, FEW, st.just(0)),
)
"""Memory stays 0, and so do all registers but those that a load moves: every address is one."""


@given(st.lists(WORD, max_size=30), st.sampled_from(DELAYS))
def test_an_instruction_waits_as_long_as_on_the_reference_model(words: list[int], delay: int) -> None:
    model = core(words, replace(for_clang(LANAI9), load_delay=delay), dict.fromkeys(MOVED, 0x200))
    schedule = Schedule(delay)
    for word in words:
        one, before = decode(disassembled(word)), schedule.stalls
        schedule.issue(one.uses, one.brings)
        assert schedule.stalls - before == model.step().waited, disassembled(word)


def stalls(body: str) -> tuple[int, ...]:
    """Return the stalls on the likely path of a function, by load delay."""
    return walk(function("nic", body + RETURN), "paths.c", DELAYS).stalls


def test_a_load_used_late_enough_costs_no_stalls() -> None:
    assert stalls("ld 4[%r6], %r9\nadd %r9, 0x1, %r9") == (1, 2, 3, 4)
    assert stalls("ld 4[%r6], %r9\nadd %r7, 0x1, %r7\nadd %r9, 0x1, %r9") == (0, 1, 2, 3)
    assert stalls("ld 4[%r6], %r9\nld 8[%r6], %r12\nld 12[%r6], %r13\nadd %r9, %r12, %r13") == (1, 2, 3, 4)
    assert stalls("ld 4[%r6], %r9") == (0, 0, 0, 0), "no instruction waits for the path's last load"


def test_a_chain_of_loads_waits_for_each_and_a_store_waits_too() -> None:
    assert stalls("ld 4[%r6], %r9\nld 0[%r9], %r9\nst %r9, 0[%r7]") == (2, 4, 6, 8)


def test_only_the_likely_path_waits() -> None:
    body = "ld 4[%r6], %r9\nbeq .LBB0_2\nnop\n.LBB0_1:\n!@off rare\nadd %r9, 0x1, %r9\n.LBB0_2:\nadd %r9, 0x1, %r9"
    assert stalls(body) == (0, 0, 1, 2)


def test_a_register_that_a_verb_reads_is_late_too_and_one_that_it_writes_is_waited_for() -> None:
    assert stalls("!@read RMP r9\nadd %r9, 0x1, %r9") == (1, 2, 3, 4)
    assert stalls("ld 4[%r6], %r9\n!@write SMP r9\nadd %r7, 0x1, %r7") == (1, 2, 3, 4)
    assert stalls("!@sample ISR\nld 0[%r0], %r9\nand.f %r9, %r12, %r9") == (1, 2, 3, 4)


def test_jump_back_and_frame_instruction_in_a_delay_slot_cost_their_clocks() -> None:
    assert stalls("ld 4[%r6], %r9\n!@again\nadd %r9, 0x1, %r9") == (0, 0, 1, 2)
    enter = "st %fp, [--%sp]\nadd %sp, 0x8, %fp"
    assert stalls(f"{enter}\nld 4[%r6], %r9\nbeq .LBB0_1\nsub %sp, 0x8, %sp\nadd %r9, 0x1, %r9\n.LBB0_1:") == (
        0,
        0,
        1,
        2,
    )


def test_a_path_is_charged_its_stalls_and_not_its_loads() -> None:
    cost = PathCost(instructions=12, loads=3, stalls=(1, 3, 5, 7))
    clocks = [nic_charge(cost, NicProcessor(delay, 0, 1, 2)).clocks for delay in range(5)]
    assert clocks == [12, 13, 15, 17, 19]


def test_an_uncounted_load_delay_is_rejected() -> None:
    with pytest.raises(CostError, match=r"a load that is 5 clocks late: stalls are counted for .* 0 to 4 clocks late"):
        PathCost(3, stalls=(1, 2, 3, 4)).waits(5)
    assert PathCost(3).waits(0) == 0


@pytest.mark.parametrize("layer", ["echo", "grim", "common", "via"])
def test_every_committed_path_has_the_stalls_of_every_delay(layer: str) -> None:
    for path, cost in PathTable.load("nic", layer, table=LANAI.table).paths.items():
        assert len(cost.stalls) == len(DELAYS), path
        assert list(cost.stalls) == sorted(cost.stalls), f"{path}: a later result is not used earlier"
        assert cost.stalls[0] <= cost.loads + cost.uncached, f"{path}: a result one clock late stalls one instruction"


@pytest.mark.parametrize(("kind", "chip"), [("lanai4", LANAI4), ("lanai9", LANAI9)])
def test_loads_are_as_late_as_on_the_chip(kind: str, chip: Chip) -> None:
    late = load_profile(kind).integer("processor.load_clocks")
    assert late == cores()[kind].chip.load_delay == chip.load_delay
