"""Long messages to and from cards in a running cluster.

Strategy: one scenario sends long messages from two hosts at once, there and back, and through two cards, and compares
every result with the model. It runs on both simulators, with gated and free-running clocks, which must agree record for
record, and with circuits in Python. A copy of the cluster limits a circuit, and its errors are compared.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tb.tools.paths import ROOT
from tests.system.runs import assert_equal, must

CARDS, FAST, SHORT = "two_cards", "fpga.image_bytes=3200", "grim.segment_bytes=512"
RESULTS = 18


@pytest.mark.parametrize(("simulator", "always_on"), [("icarus", 0), ("verilator", 1)])
def test_long_messages_are_whole_on_both_simulators_asleep_and_always_on(
    simulator: str, always_on: int, tmp_path: Path
) -> None:
    settings = f"{FAST} grim.segment_bytes=128 bytes=400"
    asleep = must("card_long", "verilator", tmp_path / "asleep", settings, CARDS)
    assert asleep.metrics["equal"] == RESULTS
    again = must("card_long", simulator, tmp_path / "again", f"{settings} run.always_on={always_on}", CARDS)
    assert_equal(asleep, again)


@pytest.mark.parametrize(
    "settings",
    [
        "bytes=65536",
        f"{SHORT} fpga.circuits=python bytes=5000",
        f"{SHORT} fpga.clock_divisor=3 bytes=3001",
        f"{SHORT} grim.queue_bytes=2048 grim.retry_delay_us=0 bytes=5000",
        f"{SHORT} grim.card_queue_bytes=2048 bytes=5000",
        f"{SHORT} grim.queue_bytes=2048 grim.timeout_us=300 fpga.bridge=true bytes=5000",
    ],
)
def test_long_messages_are_whole_with_other_settings(settings: str, tmp_path: Path) -> None:
    assert must("card_long", "verilator", tmp_path, f"{FAST} {settings}", CARDS).metrics["equal"] == RESULTS


@pytest.mark.parametrize("kind", ["rtl", "python"])
def test_a_message_longer_than_its_circuit_accepts_is_rejected_to_its_sender(kind: str, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    shutil.copytree(ROOT / "pymodels" / "clusters" / CARDS, cluster)
    file = cluster / "circuits.txt"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("digests.bit 0 crc32", "digests.bit 0 crc32 most=1500"), encoding="utf-8")
    settings = f"{FAST} {SHORT} fpga.circuits={kind} bytes=3000 limit=1500"
    metrics = must("card_long", "verilator", tmp_path / "out", settings, str(cluster / "grim_config")).metrics
    assert (metrics["equal"], metrics["rejected"]) == (RESULTS, 2)
