"""Remote memory operations with bit errors on the wires.

Strategy: a run without faults gives the character slots in which the data of an operation cross a cable. In the same
run, a bit is flipped in such a slot, and in the CRC so that it stays valid. Exactly that bit must be flipped in the
target's memory (readings E1). A write to a physical address without memory must end the run with an error that names
it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.topology import End
from pymodels.trace import Part, TraceEvent
from tests.system.runs import LINK_PS, Run, must, run
from tests.system.scenarios.faults import setting
from tests.system.wires import BEFORE_SWITCH, GRIM_HEADER, SOURCE, TARGET, hidden_flip

SIZE, AT, MASK = 200, 77, 0x80
SWITCH_FROM_TARGET = End("s0", 1)


def first_slot(clean: Run, node: int, size: int) -> int:
    """Return the slot in which the first byte after the route of a node's only long packet arrives at the switch."""
    heads, tails = (clean.times(node, Part.LINK, event) for event in (TraceEvent.TX_HEAD, TraceEvent.TX_TAIL))
    (gap,) = [tail for head, tail in zip(heads, tails, strict=True) if tail - head >= size * LINK_PS]
    return gap // LINK_PS + 4 - 1 - GRIM_HEADER - size


@pytest.mark.parametrize("kind", ["RM-V", "RM-V-scattered", "RM-P", "RM-RV"])
def test_bit_flip_on_the_wire_flips_the_same_bit_in_the_target(kind: str, tmp_path: Path) -> None:
    settings = f"kind={kind} size={SIZE} link.beat_period=0"  # a BEAT would take a slot within the packet
    clean = must("grim_remote_flip", "verilator", tmp_path / "clean", settings)
    assert clean.metrics == {"flipped": 0, "interrupts": int(kind == "RM-V-scattered")}
    node, cable = (TARGET, SWITCH_FROM_TARGET) if kind == "RM-RV" else (SOURCE, BEFORE_SWITCH)
    flips = hidden_flip(cable, first_slot(clean, node, SIZE), GRIM_HEADER + AT, GRIM_HEADER + SIZE, MASK)
    done = must("grim_remote_flip", "verilator", tmp_path / "flipped", f"{settings} {setting(flips)}")
    assert done.metrics == {**clean.metrics, "flipped": 1, f"flipped_{AT}": MASK}


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_physical_write_outside_memory_ends_the_run_by_name(simulator: str, tmp_path: Path) -> None:
    done = run("grim_remote_flip", simulator, tmp_path, "kind=wild")
    assert not done.passed
    (failure,) = (tmp_path / "failures.txt").read_text(encoding="utf-8").splitlines()
    assert failure.startswith("WildDmaError: metz: wild DMA: write of host memory at 0x3f00000, at ")
    assert failure.endswith(" us, which no software has allocated; check the address")
