"""Clock model of a LANai processor: hand counts for short programs, properties for random ones.

Strategy: programs of a few words run on the reference model, and `Clocks` gets every step. Fetch stalls occur after
jumps, and beside data accesses on a 32-bit memory. Load stalls never exceed those of a core with ideal fetches, and
time never decreases.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pymodels.lanai.chips import LANAI9, for_clang
from pymodels.lanai.clocks import Clocks, Pace, Spent
from pymodels.lanai.isa import NOP, PC, Op
from pymodels.lanai.simulator import Core
from tests.unit.lanai.lanai_words import branch, core, load, ri, store

PACE = Pace(load_clocks=2, register_clocks=0)
ADD = ri(Op.ADD, 9, 8, 1)
LOAD, STORE = load(8, 0, 0x200), store(8, 0, 0x200)
REGISTER = load(8, 1, -0x4F)


def spent(words: list[int], pace: Pace = PACE, count: int = 0, held: str = "") -> list[Spent]:
    """Return the clocks of each of the first instructions. `held` has an `x` for each clock in which the SRAM is not
    granted.
    """
    model = core([*words, *[NOP] * 8], replace(for_clang(LANAI9), load_delay=pace.load_clocks))
    free = iter(held)
    clocks = Clocks(pace, granted=lambda: next(free, ".") == ".")
    return [clocks.step(model.step()) for _ in range(count or len(words))]


def total(words: list[int], pace: Pace = PACE, count: int = 0, held: str = "") -> int:
    return sum(one.clocks for one in spent(words, pace, count, held))


def test_each_instruction_costs_a_clock_after_the_first_fetch() -> None:
    assert spent([NOP] * 6) == [Spent(fetch=1), *[Spent()] * 5]


@pytest.mark.parametrize("late", [1, 2, 4])
def test_only_users_of_a_pending_load_wait(late: int) -> None:
    pace = replace(PACE, load_clocks=late)
    assert spent([NOP, NOP, LOAD, ADD], pace)[-1] == Spent(load=late)
    assert spent([NOP, NOP, LOAD, NOP, ADD], pace)[-1] == Spent(load=late - 1)
    assert spent([NOP, NOP, LOAD, *[NOP] * late, ADD], pace)[-1] == Spent()
    assert spent([NOP, NOP, LOAD, LOAD], pace)[-1] == Spent(load=late), "its register is not yet written"


def test_a_word_has_two_instructions_where_the_sram_is_wide_and_accesses_fit_beside_fetches() -> None:
    words = [NOP, NOP, *[STORE, NOP] * 6]
    assert total(words) == len(words) + 1
    assert total(words, replace(PACE, word_bytes=4)) == len(words) + 1 + 6, "each store uses the clock of a fetch"


def test_a_wait_for_a_load_lets_the_fetch_catch_up() -> None:
    narrow = replace(PACE, word_bytes=4, fetch_words=4)
    assert total([NOP, NOP, LOAD, ADD, NOP, NOP], narrow) == 6 + 1 + 2


def test_taken_branch_costs_only_its_delay_slots() -> None:
    words = [NOP, NOP, branch(0x20), NOP, *[NOP] * 8]
    assert total(words, count=8) == 8 + 1


def test_an_access_in_the_shadow_delays_the_fetch_of_the_target() -> None:
    words = [NOP, NOP, branch(0x20), STORE, *[NOP] * 8]
    assert spent(words, count=5)[-1] == Spent(fetch=1)


def test_a_return_knows_its_target_after_the_datum() -> None:
    words = [NOP, NOP, load(PC, 0, 0x200), NOP, NOP, NOP]
    model = core([*words, *[NOP] * 8])
    model.memory.store(0x200, 0x20, 4)
    clocks = Clocks(PACE)
    steps = [clocks.step(model.step()) for _ in range(7)]
    assert model.addresses[0] == 0x28 and sum(one.clocks for one in steps) == 8


@pytest.mark.parametrize("further", [0, 1, 5])
def test_special_register_costs_its_extra_clocks_and_no_sram_access(further: int) -> None:
    pace = replace(PACE, register_clocks=further, word_bytes=4)
    assert spent([NOP, NOP, REGISTER, NOP, NOP], pace)[2:] == [Spent(register=further), Spent(), Spent()]


def test_accesses_of_other_masters_stall_the_core() -> None:
    words = [NOP, NOP, NOP, STORE]
    assert spent(words, held="....xxx")[-1] == Spent(grant=3)
    assert spent(words, held="xx")[0] == Spent(fetch=3)


def test_loop_of_five_instructions_refetches_words_evicted_from_the_buffer() -> None:
    """Three words of SRAM in a buffer of two: every turn fetches all of them, one more turn costs the same again."""
    loop = [NOP, NOP, load(8, 0, 0x200), NOP, ADD, branch(8), NOP]
    turns = [total(loop, count=2 + 5 * turn) for turn in (4, 5, 6)]
    assert turns[2] - turns[1] == turns[1] - turns[0] >= 5
    wide = [total(loop, replace(PACE, fetch_words=8), count=2 + 5 * turn) for turn in (4, 5, 6)]
    assert wide[2] - wide[1] == wide[1] - wide[0] == 6, "one stall, and no fetch"


@pytest.mark.parametrize("pace", [PACE, Pace(1, 4, 4), Pace(3, 8, 8, 2)])
def test_random_code_waits_no_longer_for_loads_than_on_a_core_that_always_has_its_instruction(pace: Pace) -> None:
    rng = random.Random(3)
    words = [rng.choice((NOP, ADD, LOAD, STORE, REGISTER)) for _ in range(200)]
    model: Core = core(words, replace(for_clang(LANAI9), load_delay=pace.load_clocks))
    clocks = Clocks(pace)
    for _ in words:
        step = model.step()
        before, took = clocks.now, clocks.step(step)
        assert clocks.now == before + took.clocks and took.load <= step.waited
    assert clocks.now >= model.clocks
