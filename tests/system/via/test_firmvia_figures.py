"""Results of FirmVIA on the SP adapter's RTL agree with paper 001, 3.3.

Strategy: the studies run as a user runs them, with fewer sizes where possible. Compared are the published values with
the agreement of `published.toml`, or with the deviation that the page states; the orderings in the paper's text; and
that the profile of the paper's future system uses the calibrated values of the present one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodels.profiles import load_profile
from pymodels.published import load_published
from tb.figures.record import load_record
from tests.system.runs import must


def agrees(study: str, metric: str, profile: str, value: float) -> None:
    """Check that a measured value agrees with the published one as required."""
    alone = (row for row in load_published() if not row.over)
    (row,) = (row for row in alone if (row.study, row.metric, row.profile) == (study, metric, profile))
    assert row.agrees(value), f"{study} {metric}: {value}, published {row.value}"


def test_the_latency_agrees_with_the_published_value(tmp_path: Path) -> None:
    metrics = must("firmvia_latency", "verilator", tmp_path, "largest=64", profile="sp").metrics
    for metric in ("one_way_us_4B", "host_us"):
        agrees("firmvia_latency", metric, "sp+p3-450", metrics[metric])
    stages = {name: us for name, us in metrics.items() if name.startswith("stage_us_16B_") and "sum" not in name}
    assert len(stages) == 7 and all(us > 0 for us in stages.values())
    assert sum(stages.values()) == pytest.approx(metrics["stage_us_16B_sum"])


def test_bandwidth_and_half_bandwidth_point_agree_with_the_page(tmp_path: Path) -> None:
    metrics = must("firmvia_bandwidth", "verilator", tmp_path, "", profile="sp").metrics
    agrees("firmvia_bandwidth", "bandwidth_MBps_peak", "sp+p3-450", metrics["bandwidth_MBps_peak"])
    assert metrics["half_bandwidth_B"] == pytest.approx(load_record()["FirmVIA, half bandwidth"].measured, rel=0.01)
    rates = [metrics[f"bandwidth_MBps_{size}B"] for size in (64, 256, 512, 1024, 4096, 65536)]
    assert rates == sorted(rates)
    assert metrics["receive_busy_over_send_busy"] > 1, "the receive side limits"


@pytest.mark.parametrize(
    ("bus", "metric"), [("", "pci64_66_wc"), ("clock.pci_ps=30000 pci.width=32", "pci32_33")], ids=["64/66", "32/33"]
)
def test_the_future_systems_latency_agrees_with_the_papers_estimate(bus: str, metric: str, tmp_path: Path) -> None:
    metrics = must(
        "firmvia_future", "verilator", tmp_path, f"rounds=8 {bus}", "four_hosts", profile="sp-future"
    ).metrics
    agrees(
        "firmvia_future",
        f"one_way_us_16B_250MHz_{metric}",
        "sp-future+p3-450",
        metrics[f"one_way_us_16B_250MHz_{metric}"],
    )
    name = "one_way_us_16B_250MHz_" + metric.removesuffix("_wc")
    assert metrics[name + "_wc"] < metrics[name], "bursts are quicker than words"


@pytest.mark.parametrize("key", ["processor.uncached_clocks", "dma.start_ns", "bridge.drain_num", "pci.write_initial"])
def test_the_future_system_uses_the_calibrated_values(key: str) -> None:
    assert load_profile("sp-future").integer(key) == load_profile("sp").integer(key)
