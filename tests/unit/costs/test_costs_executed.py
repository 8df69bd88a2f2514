"""Clocks of paths on the LANai core, from the compiler's output.

Strategy: clocks of short functions are counted by hand, including fetch stalls after jumps and accesses of a 32-bit
SRAM. The committed tables must match the C sources, count what is charged, and be close to the charges.
"""

from __future__ import annotations

import pytest

from pymodels import generated
from pymodels.costs import PathTable
from pymodels.costs.executed import LEVELS, PACES, TABLE, at_level, entries, load, rows, taken
from pymodels.costs.sources import FIRMWARE, fingerprint
from pymodels.costs.targets import LANAI
from pymodels.errors import SanlabError
from pymodels.hardware.processors import NicProcessor
from pymodels.nics.common.lanai import core_pace
from pymodels.profiles import load_profile
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.studies.costs import executed_costs
from tb.studies.costs.executed_costs import WITHIN, beside, layers
from tb.tools.paths import SIMULATORS
from tests.unit.costs.test_costs_walk import RETURN, function

ENTER = "st %fp, [--%sp]\nadd %sp, 0x8, %fp\nsub %sp, 0x8, %sp\n"


def clocks(body: str) -> dict[str, tuple[int, int]]:
    """Return the clocks of a function by chip."""
    return taken(function("nic", ENTER + body + RETURN), "paths.c", LANAI).clocks


def test_a_frame_instruction_costs_no_clock_and_any_other_one() -> None:
    plain = "add %r6, 0x1, %r6\nadd %r6, 0x1, %r6"
    assert clocks(f"{plain}\nadd %r6, 0x1, %r6") == {"lanai4": (3, 3), "lanai9": (3, 3)}
    assert clocks(f"add %r6, 0x1, %r6\nsub %sp, 0x10, %sp\n{plain}") == {"lanai4": (3, 3), "lanai9": (3, 3)}


def test_a_load_is_waited_for_as_long_as_on_the_chip() -> None:
    body = "ld 4[%r6], %r9\nadd %r9, 0x1, %r9"
    assert clocks(body) == {"lanai4": (3, 3), "lanai9": (4, 4)}


def test_each_access_of_a_narrow_sram_uses_the_clock_of_a_fetch() -> None:
    stores = "\n".join(f"st %r7, {4 * place}[%r6]" for place in range(8))
    narrow, wide = clocks(stores).values()
    assert min(narrow) >= 8 + 6 and max(wide) <= 8 + 4, "a 64-bit word holds two instructions"


def test_a_loop_is_measured_in_its_turns() -> None:
    body = "ld 4[%r6], %r9\nadd %r9, 0x1, %r9\n!@again"
    assert clocks(body)["lanai9"][0] == 4 + 2
    stores = "\n".join(["st %r7, 0[%r6]"] * 3)
    assert clocks(f"{stores}\n!@again") == {"lanai4": (8, 8), "lanai9": (6, 7)}, "3 accesses, and 5 or 3 fetched words"


def test_access_in_a_delay_slot_uses_the_clock_of_the_target_fetch() -> None:
    jump = "bt .LBB0_2\nst %r9, 0[%r6]\nnop\nnop\nnop\nnop\nnop\nnop\n.LBB0_2:\nst %r9, 4[%r6]"
    assert clocks(jump)["lanai9"][0] == 3 + 1


def test_registers_that_verbs_access_take_the_clock_that_the_verbs_charge() -> None:
    found = taken(function("nic", "!@read RMP r9\nadd %r9, 0x1, %r9\n!@write SMP r9" + RETURN), "paths.c", LANAI)
    assert (found.by_verb, found.cost.instructions, found.clocks["lanai9"]) == (2, 1, (7, 7))


def test_a_path_that_cannot_be_counted_has_the_reason() -> None:
    (line,) = rows(entries([function("nic", "bt other\nnop")], "paths.c", LANAI))
    assert line == 'path = { refused = "jumps out of the function to other" }'


def test_a_level_replaces_the_one_of_the_count() -> None:
    flags = at_level(LANAI, "-Os").flags
    assert [flag for flag in flags if flag.startswith("-O")] == ["-Os"] and len(flags) == len(LANAI.flags)


@pytest.mark.parametrize("layer", layers())
def test_committed_tables_match_the_c_sources_and_the_charges(layer: str) -> None:
    compiled = generated.table(FIRMWARE / layer / "nic" / TABLE)["compiled"]
    assert compiled["sources_sha256"] == fingerprint(FIRMWARE / layer / "nic", LANAI)
    found = load(layer)
    assert tuple(found) == LEVELS
    assert {path: one.cost for path, one in found["-O2"].items()} == PathTable.load("nic", layer).paths


@pytest.mark.parametrize("chip", PACES)
@pytest.mark.parametrize("layer", layers())
def test_charges_are_close_to_the_clocks_of_the_core(layer: str, chip: str) -> None:
    processor = NicProcessor.from_profile(load_profile(chip))
    for level in LEVELS:
        found = [one for one in beside(layer, chip, processor) if one.level == level]
        ratio = sum(one.least + one.most for one in found) / 2 / sum(one.charged for one in found)
        assert abs(ratio - 1) < WITHIN, level
        assert all(abs(one.ratio - 1) < 0.25 or abs(one.most - one.charged) <= 2 for one in found)


@pytest.mark.parametrize("chip", PACES)
def test_a_pace_is_that_of_the_profile(chip: str) -> None:
    assert PACES[chip] == core_pace(load_profile(chip))


def planned(settings: str) -> None:
    """Plan the study on a LANai 9 with these settings."""
    request = resolve("executed_costs", "verilator", "1", False, "", "lanai9", settings, SIMULATORS)
    plan(request, studies.load("executed_costs"))


def test_the_study_rejects_a_core_without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    planned("")
    with pytest.raises(SanlabError, match=r"SET: another core: the path clocks were counted for Pace\(.*; leave "):
        planned("core.fetch_words=4")
    monkeypatch.setattr(executed_costs, "layers", list)  # no layer: their tables have clocks of the LANai 9
    monkeypatch.delitem(PACES, "lanai9")
    with pytest.raises(SanlabError, match=r"PROFILE: no path clocks for 'lanai9': clocks are known for lanai4; "):
        planned("")
