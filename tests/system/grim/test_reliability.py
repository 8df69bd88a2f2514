"""GRIM on RTL, on networks that lose and damage packets, and in a deadlock.

Strategy: the study `grim_reliability` checks that nothing is lost, duplicated, reordered or changed. Its counters must
show that packets were lost, that messages got NACKs, and that both were repaired. The reference model follows each step
of the firmware by the packets on the wires and the trace. Runs of the same seed must be equal on both simulators and
with clocks always on. Each style of queue, kind of sequencing and kind of buffering runs once. Without the time-out
extension a damaged packet must fail the run with an error that names it. `grim_deadlock` must deadlock without the
control-message queue, report the cycle of waiting nodes, and pass with the queue.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from firmware.grim.formats import MAX_WINDOW
from pymodels.trace import TraceEvent
from tests.system.pcap import sent
from tests.system.runs import Run, assert_equal, must, run
from tests.unit.grim.grim_replay import LossyReplay, is_message, without_route
from tests.unit.grim.model import Verdict


def on_four_hosts(study: str, simulator: str, folder: Path, settings: str) -> Run:
    """Run a study that must pass on four hosts."""
    return must(study, simulator, folder, settings, cluster="four_hosts")


def test_ten_thousand_messages_arrive_once_and_in_order(tmp_path: Path) -> None:
    counted = on_four_hosts("grim_reliability", "verilator", tmp_path, "messages=10000").metrics
    assert counted["delivered"] == 10_000
    assert counted["lost"] == counted["doubled"] == counted["out_of_order"] == counted["changed"] == 0
    assert counted["packets_lost"] > 5
    assert counted["packets_damaged"] == counted["bad_crc"] > 5
    assert counted["timeouts"] > 10
    assert counted["duplicates"] > 0, "answers were lost too"
    assert counted["nacks"] > 100, "and receivers refused"


LOSSES = "messages=400 fault.loss=0.02 fault.damage=0.02"


@pytest.fixture(name="lossy", scope="module")
def fixture_lossy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a lossy run with its trace and its packets."""
    return on_four_hosts("grim_reliability", "verilator", tmp_path_factory.mktemp("lossy"), LOSSES)


def test_losses_are_equal_with_clocks_always_on(lossy: Run, tmp_path: Path) -> None:
    assert lossy.metrics["packets_lost"] > 0
    assert lossy.metrics["packets_damaged"] > 0
    other = on_four_hosts("grim_reliability", "verilator", tmp_path, f"{LOSSES} run.always_on=1")
    assert_equal(lossy, other)


PASSED = "messages=40 largest=200 fault.loss=0 fault.damage=0 fault.reorder=0.1"


def test_reordered_packets_are_resequenced_equally_on_both_simulators(tmp_path: Path) -> None:
    """Whole packets are delayed before a host, without damage and without overflow of a slack buffer."""
    one, other, awake = (
        on_four_hosts("grim_reliability", simulator, tmp_path / name, f"{PASSED} {more}")
        for name, simulator, more in (
            ("verilator", "verilator", ""),
            ("icarus", "icarus", ""),
            ("awake", "verilator", "run.always_on=1"),
        )
    )
    assert one.metrics["packets_passed"] > 5
    assert one.metrics["resent"] > 3
    assert one.metrics["lost"] == one.metrics["doubled"] == one.metrics["out_of_order"] == one.metrics["bad_crc"] == 0
    assert not [name for name in one.metrics if name.startswith("explained")]
    assert_equal(one, other)
    assert_equal(one, awake)


def test_every_step_of_recovery_matches_the_reference_model(lossy: Run) -> None:
    hosts = json.loads((lossy.folder / "legend.json").read_text(encoding="utf-8"))["hosts"]
    left = [[without_route(packet) for packet in packets] for packets in sent(lossy.folder, hosts)]
    replay = LossyReplay({n: filter(is_message, packets) for n, packets in enumerate(left)}, MAX_WINDOW)
    fields = ("unit", "event", "packet", "argument")
    records = lossy.trace[np.argsort(lossy.trace["time"], kind="stable")]
    replay.run(zip(*(records[name].tolist() for name in fields), strict=True))
    streams = replay.lossy.values()
    assert sum(stream.transmissions for stream in streams) == len(
        records[records["event"] == TraceEvent.NIC_SEND_START]
    )
    assert replay.total(Verdict.DUPLICATE) == lossy.metrics["duplicates"] > 0
    assert replay.total(Verdict.REFUSE) == lossy.metrics["nacks"] > 0
    assert sum(stream.expiries for stream in streams) == lossy.metrics["timeouts"] > 0
    assert all(stream.base == stream.expected for stream in streams), "all answers have come"


def test_losses_are_equal_on_both_simulators(tmp_path: Path) -> None:
    settings = "messages=30 largest=100 fault.loss=0.1 fault.damage=0.06"
    one, other = (must("grim_reliability", name, tmp_path / name, settings) for name in ("verilator", "icarus"))
    assert one.metrics["packets_lost"] > 0
    assert one.metrics["packets_damaged"] > 0
    assert_equal(one, other)


@pytest.mark.parametrize(
    "choice",
    [
        "grim.queue_style=slotted grim.sequencing=per-ni grim.channels=2",
        "grim.queue_style=hybrid",
        "grim.buffering=both",
    ],
)
def test_every_protocol_option_delivers_all_messages(choice: str, tmp_path: Path) -> None:
    counted = on_four_hosts("grim_reliability", "verilator", tmp_path, f"messages=800 fault.loss=0.01 {choice}").metrics
    assert counted["delivered"] == 800
    assert counted["timeouts"] > 0


def test_damaged_packet_without_timeouts_fails_the_run_by_name(tmp_path: Path) -> None:
    done = run("grim_streaming", "verilator", tmp_path, "messages=200 fault.damage=0.02 run.hang_us=5000")
    assert not done.passed
    failures = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert "link: packet with a wrong CRC-8 at" in failures
    assert "(packet 0x0636" in failures


def test_messages_to_a_host_that_is_down_fail_only_at_their_sender(tmp_path: Path) -> None:
    counted = on_four_hosts("grim_down", "verilator", tmp_path, "grim.timeout_us=100 grim.timeout_tries=4").metrics
    assert counted == {"delivered": 3, "errors": 3}


def test_hang_without_timeouts_names_the_host_that_is_down(tmp_path: Path) -> None:
    done = run("grim_down", "verilator", tmp_path, "run.hang_us=3000", cluster="four_hosts")
    assert not done.passed
    failures = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert "NIC 0 waits for answers of metz to 3 messages (a host that is down does not answer; " in failures
    assert failures.count("node 1 net recv: packet dropped at a NIC in reset") == 3


def cycle_of_report(folder: Path) -> str:
    """Return the cycle of waiting nodes from a run's report."""
    told = (folder / "stuck.txt").read_text(encoding="utf-8")
    return told[told.index("A cycle of") :].split("\n\n")[0]


def test_nis_deadlock_without_the_control_message_queue(tmp_path: Path) -> None:
    done = on_four_hosts("grim_deadlock", "verilator", tmp_path, "each=12 grim.control_queue=0")
    assert done.metrics["deadlocks"] >= 1
    assert done.metrics["undelivered"] > 0
    cycle = cycle_of_report(tmp_path)
    assert cycle.count("waits for the outgoing link, held by node") >= 2
    assert cycle.count("waits for a receive buffer, held by NIC") >= 2


def test_control_message_queue_prevents_the_deadlock(tmp_path: Path) -> None:
    counted = on_four_hosts("grim_deadlock", "verilator", tmp_path, "each=12").metrics
    assert counted == {"deadlocks": 0, "delivered": 144, "undelivered": 0, "units_in_cycles": 0}


HASTE = "longest=96 bridge.drain_den=255"
"""Settings in which two nodes send faster than their hosts receive, with a short message before every header."""


@pytest.mark.parametrize("profile", ["", "lanai4"])
def test_nis_that_wait_between_header_and_payload_deadlock(profile: str, tmp_path: Path) -> None:
    settings = f"{HASTE} grim.queue_style=hybrid grim.hybrid_wait=1"
    done = must("grim_deadlock", "icarus", tmp_path, settings, cluster="two_hosts", profile=profile)
    assert done.metrics["deadlocks"] == 1
    assert done.metrics["units_in_cycles"] == 8
    cycle = cycle_of_report(tmp_path)
    for near, far in ((0, 1), (1, 0)):
        for wait in (
            f"NIC {near} waits for the outgoing link, held by node {near} net send",
            f"node {near} net send waits for room in the slack buffer of switch 0 port {near}, ",
            f"switch 0 port {near} waits for room at NIC {far}, held by node {far} net recv",
            f"node {far} net recv waits for a receive buffer, held by NIC {far}",
        ):
            assert wait in cycle


@pytest.mark.parametrize("style", ["append", "slotted", "hybrid"])
def test_nis_that_do_not_wait_between_header_and_payload_do_not_deadlock(style: str, tmp_path: Path) -> None:
    wait = int(style != "hybrid")  # of no effect in the queues that are sent by one DMA
    settings = f"{HASTE} grim.queue_style={style} grim.hybrid_wait={wait}"
    counted = must("grim_deadlock", "verilator", tmp_path, settings, cluster="two_hosts").metrics
    assert counted == {"deadlocks": 0, "delivered": 40, "undelivered": 0, "units_in_cycles": 0}


def test_slow_hosts_are_not_reported_as_a_deadlock(tmp_path: Path) -> None:
    done = run(
        "grim_deadlock",
        "verilator",
        tmp_path,
        "longest=4096 bridge.drain_den=255 run.stuck_waves=0",
        cluster="two_hosts",
    )
    assert not done.passed
    said = (tmp_path / "failures.txt").read_text(encoding="utf-8")
    assert said == "cycle of waits: no message for 200 us, but no cycle of waits; increase quiet_us\n"
