"""The I/O card as a disk server in a cluster, beside the same server on a host's CPU.

Strategy: the study compares every byte and every status itself. Here one run must show what it is about: the card
leaves its host's CPU to the application, and a server that polls between slices makes its clients wait. Runs on both
simulators, with gated and free-running clocks, must agree in every metric and trace record. A missing file and a
cluster without the card are rejected before the run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.errors import ConfigError, SanlabError
from tests.system.runs import assert_equal, must, run

CARD = "io_card"
SMALL = "repetitions=1 row=1 largest=64 slice_us=20"


def test_the_card_serves_three_hosts_and_leaves_the_cpu_of_its_own(tmp_path: Path) -> None:
    metrics = must("io_server", "verilator", tmp_path, "repetitions=2 row=4 largest=512", CARD).metrics
    for operation in ("read", "write"):
        for size in (64, 512):
            assert metrics[f"card_{operation}_cpu_left_{size}B"] > 0.99
            assert metrics[f"host_{operation}_cpu_left_{size}B"] == 0
            assert metrics[f"shared_{operation}_us_{size}B"] > metrics[f"host_{operation}_us_{size}B"]


def test_the_card_is_equal_on_both_simulators_asleep_and_always_on(tmp_path: Path) -> None:
    asleep = must("io_server", "verilator", tmp_path / "asleep", SMALL, CARD)
    for simulator, always_on in (("icarus", 0), ("verilator", 1)):
        folder = tmp_path / f"{simulator}{always_on}"
        assert_equal(asleep, must("io_server", simulator, folder, f"{SMALL} run.always_on={always_on}", CARD))


def test_a_file_of_the_user_is_the_disk_and_keeps_what_is_written(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(4 * 4096))
    must("io_server", "verilator", tmp_path / "run", f"{SMALL} disk={disk} access_us=5", CARD)
    assert disk.read_bytes()[0] and disk.stat().st_size == 4 * 4096


def test_a_missing_file_is_rejected_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(SanlabError, match="disk .*nothing: the file does not exist; create it, or name another file"):
        run("io_server", "verilator", tmp_path, f"disk={tmp_path}/nothing", CARD)


def test_a_cluster_without_an_io_card_is_rejected_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="CLUSTER: no IO_CARD: .*; choose CLUSTER=io_card"):
        run("io_server", "verilator", tmp_path, cluster="four_hosts")
