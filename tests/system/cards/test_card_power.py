"""Loss of power of a card in the middle of each operation, over the RTL.

Strategy: one scenario runs an operation to the end, and cuts the card's power in the middle of the next one. It checks
what the hosts get, lets the power return, restarts the card and repeats the operation. It runs for each operation on
Verilator, for some at several times. Two operations run with gated and with free-running clocks, one on both
simulators, too. These runs must agree in every metric and trace record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from tests.system.runs import assert_equal, must
from tests.system.scenarios.card_power import NAMES

CARDS, FAST = "two_cards", "fpga.image_bytes=640"
TIMES = {
    "write_v": 60,
    "write_p": 40,
    "read": 60,
    "load_dma": 10,
    "load_pio": 10,
    "tpil": 30,
    "card_writes": 40,
    "card_reads": 25,
    "writes": 40,
    "reads": 25,
}
"""Time of the loss after the start of the operation, us; others: that of the scenario."""
FURTHER = [("short", 3), ("long_in", 150), ("long_out", 300), ("read", 9), ("writes", 12), ("tree_to", 55)]


@pytest.mark.parametrize("operation", NAMES)
def test_loss_of_power_within_an_operation_is_reported_and_harms_no_other_message(
    operation: str, tmp_path: Path
) -> None:
    settings = f"{FAST} operation={operation} after_us={TIMES.get(operation, 20)}"
    metrics = must("card_power", "verilator", tmp_path, settings, CARDS).metrics
    assert metrics["errors_at_the_senders"] >= 2, "one without power, one before the restart"
    assert metrics["errors_at_the_host"] >= 1


@pytest.mark.parametrize(("operation", "after"), FURTHER)
def test_loss_of_power_at_other_times_is_reported_too(operation: str, after: int, tmp_path: Path) -> None:
    settings = f"{FAST} operation={operation} after_us={after}"
    assert must("card_power", "verilator", tmp_path, settings, CARDS).metrics["errors_at_the_host"] >= 1


@pytest.mark.parametrize(("operation", "others"), [("long_out", []), ("read", ["icarus"])])
def test_loss_of_power_is_equal_on_both_simulators_asleep_and_always_on(
    operation: str, others: list[str], tmp_path: Path
) -> None:
    settings = f"{FAST} operation={operation} after_us=60 bytes=3000"
    asleep = must("card_power", "verilator", tmp_path / "asleep", settings, CARDS)
    for simulator in (*others, "verilator"):
        always = f"{settings} run.always_on={int(simulator == 'verilator')}"
        assert_equal(asleep, must("card_power", simulator, tmp_path / simulator, always, CARDS))


def test_power_of_a_card_behind_a_bridge_cannot_be_lost(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="behind a bridge keep their power"):
        must("card_windows", "verilator", tmp_path, "fpga.bridge=true fault.inject=power:metz:1@50", CARDS)


@pytest.mark.parametrize("after", [5, 30])
def test_io_card_that_loses_its_power_harms_no_other_message_and_serves_again(after: int, tmp_path: Path) -> None:
    metrics = must("io_power", "verilator", tmp_path, f"after_us={after}", "io_card").metrics
    assert metrics["errors"] >= 1
