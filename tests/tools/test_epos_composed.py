"""A composition of EPOS costs the same as hand-written code, and omitted parts cost nothing.

Strategy: the paths that contain a point-cut exist a second time in `tests/unit/epos/byhand/`. There they are plain C
without the protocols' headers, with switches for the compositions. Both are compiled for both processors and every
composition of the layer. Their counts are compared, and their instructions up to the names of registers and labels. The
control, flags tested at run time without any active, must cost something. A dummy with one added instruction must fail
the comparison.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pymodels.costs import sources
from pymodels.costs.compile import COMPILER, compiled, compiler_version
from pymodels.costs.compositions import composed, declared, key
from pymodels.costs.targets import I686, LANAI, Target
from pymodels.costs.walk import PathCost, explain, walk

pytestmark = pytest.mark.skipif(compiler_version() is None, reason=f"{COMPILER} is not installed")
FIRMWARE = Path(__file__).parents[2] / "firmware"
SIDES = (("nic", LANAI), ("host", I686))
SETS = [one for one in declared(FIRMWARE / "epos" / "nic") if one != ("dynamic",)]
REGISTER = re.compile(r"%\w+")
LABEL = re.compile(r"\.L\w+")

Found = dict[str, tuple[PathCost, list[str]]]


def found(folder: Path, target: Target) -> Found:
    """Return cost and instructions of each path, with normalised registers and labels."""
    told = {}
    for function in compiled(folder, target):
        lines = [LABEL.sub("label", REGISTER.sub("r", line)) for line in explain(function, str(folder))]
        told[function.name] = walk(function, str(folder), target.delays), lines
    return told


def by_hand(side: str, target: Target, composition: tuple[str, ...]) -> Found:
    """Return the hand-written paths of a composition."""
    return found(sources.by_hand(FIRMWARE / "epos" / side), composed(target, composition))


@pytest.mark.parametrize("composition", SETS, ids=lambda one: key(one) or "none")
@pytest.mark.parametrize(("side", "target"), SIDES, ids=["nic", "host"])
def test_a_composition_equals_hand_written_code(side: str, target: Target, composition: tuple[str, ...]) -> None:
    whole = found(FIRMWARE / "epos" / side, composed(target, composition))
    hand = by_hand(side, target, composition)
    assert {name: whole[name][0] for name in hand} == {name: cost for name, (cost, _) in hand.items()}
    for name, (_, lines) in hand.items():
        assert whole[name][1] == lines, name


@pytest.mark.parametrize(("side", "target"), SIDES, ids=["nic", "host"])
def test_flags_that_are_tested_at_run_time_cost_something_with_nothing_active(side: str, target: Target) -> None:
    bare, dynamic = (found(FIRMWARE / "epos" / side, composed(target, one)) for one in ((), ("dynamic",)))
    longer = {name for name in bare if dynamic[name][0].instructions > bare[name][0].instructions}
    cuts = {
        "nic": {"epos_queue", "epos_fetch", "epos_tx", "epos_sent", "epos_rx", "epos_hold", "epos_stored"},
        "host": {"epos_message", "epos_frame", "epos_frame_dma", "epos_take", "epos_copied"},
    }
    assert longer == cuts[side]
    assert all(dynamic[name] == bare[name] for name in bare.keys() - longer)


def test_the_hand_written_paths_use_none_of_the_protocols_headers() -> None:
    for side, _ in SIDES:
        text = (sources.by_hand(FIRMWARE / "epos" / side) / "paths.c").read_text(encoding="utf-8")
        assert re.findall(r'#include "(.*)"', text) in (["paths.h", "common/nic/block.h"], ["paths.h"])


def test_an_instruction_added_to_an_omitted_hook_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "epos" / "nic"
    shutil.copytree(FIRMWARE / "epos" / "nic", folder)
    shutil.copytree(FIRMWARE / "common" / "nic", tmp_path / "common" / "nic")
    hooks, dummy = folder / "hooks.h", "#define FLOW_RX(nic, source, frame) ((void)0)"
    text = hooks.read_text(encoding="utf-8")
    assert dummy in text
    hooks.write_text(text.replace(dummy, dummy.replace("((void)0)", "SHARED32(&nic->held)")), encoding="utf-8")
    spoiled, hand = found(folder, LANAI), by_hand("nic", LANAI, ())
    wrong = {name for name in hand if spoiled[name][0] != hand[name][0]}
    assert wrong == {"epos_rx", "epos_hold"}
    assert spoiled["epos_rx"][0].instructions == hand["epos_rx"][0].instructions + 1
