"""Claims of the paper about VIA, measured by studies on the RTL.

Strategy: each study runs as a user runs it, with small settings, on the paper's system. Its metrics are compared with
the orderings of the paper's text, and with published values within their agreements. The suite of micro-benchmarks runs
one part on both simulators, with equal results.
"""

from __future__ import annotations

from pathlib import Path

from pymodels.published import load_published
from pymodels.results import differences
from tests.system.runs import must


def test_a_payload_of_1024_beats_1000_and_2032(tmp_path: Path) -> None:
    done = must("firmvia_packet_size", "verilator", tmp_path, "messages=4", "eight_hosts", profile="sp")
    rate = {payload: done.metrics[f"bandwidth_MBps_payload_{payload}"] for payload in (1000, 1024, 2032)}
    assert rate[1024] > 1.02 * rate[1000], "clearly"
    assert rate[1024] >= rate[2032] > 0.9 * rate[1024], "a little below"
    packets = [done.metrics[f"packets_of_5000B_payload_{payload}"] for payload in (1000, 1024)]
    assert packets == [6, 5]


def test_polling_work_queues_costs_less_than_an_entry_by_dma(tmp_path: Path) -> None:
    done = must("via_completion", "verilator", tmp_path, "rounds=6", "four_hosts", profile="sp")
    rows = [row for row in load_published() if row.study == "via_completion" and row.metric.startswith("cq2")]
    assert len(rows) == 12
    for row in rows:
        assert done.metrics[row.metric] < done.metrics["cq1_us"], row.name
    looks = [done.metrics[f"cq2_look_us_{queues}_queues"] for queues in range(1, 8)]
    assert looks == sorted(looks) and looks[-1] > 3 * looks[0], "it grows with the queues"


def test_calls_that_move_no_data_cost_the_same_on_both_simulators(tmp_path: Path) -> None:
    settings = "part=costs rounds=1"
    first, second = (must("vibe", simulator, tmp_path / simulator, settings) for simulator in ("verilator", "icarus"))
    assert differences(first.results, second.results, same_simulator=False) == []
    told = (first.folder / "vibe.md").read_text(encoding="utf-8")
    assert told.startswith("# VIBe: firmvia on lanai9+p3-450") and "| create_vi_us |" in told
