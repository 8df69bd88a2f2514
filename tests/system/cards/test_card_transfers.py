"""Remote writes and reads that circuits issue.

Strategy: one scenario moves bytes from card to card, between a card and both hosts, and within a card, and lets
transfers fail. On the path from card to card no record of a host CPU may occur, and no byte of host memory may change.
The scenario runs on the host's bus and behind a bridge, on both simulators, with gated and free-running clocks. Runs
must agree in every metric and trace record. The study of the costs runs once with minimal settings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import assert_equal, must

CARDS, FAST = "two_cards", "fpga.image_bytes=640"


@pytest.mark.parametrize("settings", ["", "fpga.bridge=true", "grim.timeout_us=2000"])
def test_transfers_between_cards_use_no_host_cpu_and_no_host_memory(settings: str, tmp_path: Path) -> None:
    metrics = must("card_transfers", "verilator", tmp_path, f"{FAST} {settings}", CARDS).metrics
    assert metrics["host_cpu_events"] == metrics["host_memory_changed"] == 0
    assert metrics["host_cpu_events_before"] > 0, "the control: the hosts' message that starts the transfer"
    assert metrics["messages_written"] == metrics["messages_read"] == 3
    assert metrics["reported"] == 4


def test_transfers_of_cards_are_equal_on_both_simulators_asleep_and_always_on(tmp_path: Path) -> None:
    settings = f"{FAST} largest=61"
    asleep = must("card_transfers", "verilator", tmp_path / "asleep", settings, CARDS)
    for simulator, always_on in (("icarus", 0), ("verilator", 1)):
        folder = tmp_path / f"{simulator}{always_on}"
        assert_equal(asleep, must("card_transfers", simulator, folder, f"{settings} run.always_on={always_on}", CARDS))


def test_remote_memory_between_cards_has_no_host_cpu_on_its_path(tmp_path: Path) -> None:
    settings = f"{FAST} repetitions=1 row=2 largest=256"
    metrics = must("card_remote", "verilator", tmp_path, settings, CARDS).metrics
    assert metrics["host_cpu_events_card_writes_card"] == metrics["host_cpu_events_card_reads_card"] == 0
    assert metrics["host_cpu_events_host_writes_card"] > 0, "the control: a host as the source"
    assert metrics["card_writes_card_us_64B"] < metrics["card_reads_card_us_64B"], "a read goes there and back"
