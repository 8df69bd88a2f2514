"""Errors with cards.

Strategy: calls that must fail are made in one run, and each error must name what is wrong and what would be right. An
unread mailbox, and a remote write to an address without a card, must end the run and be reported.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must, run

CARDS, FAST = "two_cards", "fpga.image_bytes=3200"


def test_invalid_calls_are_rejected_by_name(tmp_path: Path) -> None:
    assert must("card_errors", "verilator", tmp_path, FAST, CARDS).metrics["refused"] == 14


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("mailbox", "control mailbox of the FPGA card is not read; its FPGA may not be configured"),
        ("outside", "host DMA ended by a PCI abort"),
    ],
)
def test_an_error_on_the_bus_ends_the_run_and_is_reported(kind: str, told: str, tmp_path: Path) -> None:
    done = run("card_errors", "verilator", tmp_path, f"{FAST} kind={kind} fpga.patience=1000", CARDS)
    assert not done.passed
    assert any(told in failure and "node" in failure for failure in done.failures), done.failures
