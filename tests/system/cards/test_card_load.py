"""Loading of images into FPGA cards, as the study `card_load` measures it, with small images.

Strategy: the study itself compares outcomes and slots with the reference model, and all results with the messages.
Here its claims are checked: time follows bytes and clock, only messages for the slots that are loaded wait, and none is
lost. Results are equal with clocks always on, and with circuits in Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.card.registers import SLOTS, Load
from tests.system.runs import Run, assert_equal, must

CARDS, PAUSE_US, WHOLE, PART, CLOCK_US = "two_cards", 20, 6400, 3200, 0.03
SMALL = f"pause_us={PAUSE_US} fpga.image_bytes={WHOLE} fpga.slot_bytes={PART}"


@pytest.fixture(name="loads", scope="module")
def fixture_loads(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of the study."""
    return must("card_load", "verilator", tmp_path_factory.mktemp("loads"), SMALL, CARDS)


def test_a_load_takes_the_clocks_of_its_bytes(loads: Run) -> None:
    for method in ("dma", "pio"):
        for kind, size in (("whole", WHOLE), ("slot", PART)):
            least = size * CLOCK_US
            assert least <= loads.metrics[f"load_us_{kind}_{method}"] <= 1.3 * least + 15, (kind, method)


def test_only_messages_for_slots_that_are_loaded_wait_and_those_behind_them(loads: Run) -> None:
    metrics = loads.metrics
    for method in ("dma", "pio"):
        assert metrics[f"gap_us_slot_{method}"] < 1.5 * PAUSE_US
        assert metrics[f"gap_us_whole_{method}"] >= WHOLE * CLOCK_US
    assert metrics["gap_us_slot_waiting"] > 0.5 * PART * CLOCK_US
    assert (metrics["lost"], metrics["bytes_equal"]) == (0, 1)


def test_bad_images_have_an_outcome_each_and_empty_what_they_had_begun(loads: Run) -> None:
    bad = {
        "no_image": (Load.NO_IMAGE, 0), "damaged_header": (Load.DAMAGED_HEADER, 0), "other_card": (Load.OTHER_CARD, 0),
        "other_circuits": (Load.OTHER_CIRCUITS, 0), "no_place": (Load.NO_PLACE, 0), "truncated": (Load.TRUNCATED, 1),
        "damaged": (Load.DAMAGED, 1), "damaged_device": (Load.DAMAGED, SLOTS - 2), "no_shell": (Load.NO_SHELL, 0),
    }  # fmt: skip
    found = {name: (loads.metrics[f"outcome_{name}"], loads.metrics[f"emptied_{name}"]) for name in bad}
    assert found == bad


def test_a_slower_clock_takes_longer(loads: Run, tmp_path: Path) -> None:
    slow = must("card_load", "verilator", tmp_path, f"{SMALL} fpga.config_wait=3", CARDS).metrics
    assert 3.5 < slow["load_us_whole_dma"] / loads.metrics["load_us_whole_dma"] < 4.5


def test_clocks_that_never_stop_load_in_the_same_time(loads: Run, tmp_path: Path) -> None:
    assert_equal(loads, must("card_load", "verilator", tmp_path, f"{SMALL} run.always_on=1", CARDS))


def test_circuits_in_python_are_loaded_in_the_same_way(loads: Run, tmp_path: Path) -> None:
    python = must("card_load", "verilator", tmp_path, f"{SMALL} fpga.circuits=python", CARDS).metrics
    names = [name for name in loads.metrics if not name.startswith(("gap_us", "load_"))]
    assert {name: python[name] for name in names} == {name: loads.metrics[name] for name in names}
    assert python["load_us_slot_dma"] >= PART * CLOCK_US
