"""Remote memory of cards over the RTL.

Strategy: one scenario writes and reads windows of both cards by offset and by PCI address, and accesses what is
outside. It also moves bytes beside messages whose circuits use the same bank. It runs on the host's bus and behind a
bridge, on both simulators, with gated and free-running clocks. Runs must agree in every metric and trace record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

CARDS, FAST = "two_cards", "fpga.image_bytes=640"


@pytest.mark.parametrize("settings", ["", "fpga.bridge=true", "grim.buffering=both", "grim.timeout_us=2000"])
def test_windows_of_cards_keep_their_bytes_beside_messages(settings: str, tmp_path: Path) -> None:
    metrics = must("card_windows", "verilator", tmp_path, f"{FAST} {settings}", CARDS).metrics
    assert metrics["bytes_moved"] == 52_672
    assert metrics["errors"] == 6
    assert metrics["messages_beside"] >= 48


def test_windows_of_cards_are_equal_on_both_simulators_asleep_and_always_on(tmp_path: Path) -> None:
    settings = f"{FAST} largest=64 rounds=0"
    asleep = must("card_windows", "verilator", tmp_path / "asleep", settings, CARDS)
    for simulator, always_on in (("icarus", 0), ("verilator", 1)):
        again = must(
            "card_windows",
            simulator,
            tmp_path / f"{simulator}{always_on}",
            f"{settings} run.always_on={always_on}",
            CARDS,
        )
        assert_equal(asleep, again)
