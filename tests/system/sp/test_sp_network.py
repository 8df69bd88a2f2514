"""SP switches between many adapters: no packet is lost or changed under contention, and link faults are detected.

Strategy: all nodes send to all while receivers pause, so that packets wait in the central queues. The run fails when a
packet is missing, changed or out of order, and hangs when packets wait in a cycle. Central queues of several sizes, one
chip and two. Results and trace are equal on both simulators and with clocks always on. A fault-free run shows in which
character slots a packet crosses a cable; a fault there must make the receiver reject exactly that packet.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.formats.sp import HEADER_BYTES, VIA_BYTES
from pymodels.profiles import load_profile
from pymodels.topology import End
from pymodels.trace import Part, TraceEvent
from tb.nics.sp import WAVES as VIEW
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.report import waves
from tb.report.activity import SIGNALS
from tb.report.recorded import read_recorded
from tb.report.wire import Wire, rows
from tb.run.command import execute, leave_views
from tb.tools.paths import SIMULATORS
from tests.amount import EVERY_CASE
from tests.system.runs import SCENARIOS, Run, assert_equal, must, run
from tests.system.scenarios.faults import Fault, setting

PROFILE = "sp"
SCENARIO = f"{SCENARIOS}.sp_traffic"
LINK_PS = load_profile(PROFILE).integer("clock.link_ps")
FAULTY = "each=2 largest=48 pause_us=0"
AROUND = HEADER_BYTES + VIA_BYTES
USER = 48
"""User bytes of every packet of the runs with faults."""
INTO_SWITCH, INTO_TARGET = End("s0", 0), End("metz", 0)
TAILS = {INTO_SWITCH: (0, TraceEvent.TX_TAIL, 3), INTO_TARGET: (1, TraceEvent.RX_TAIL, -2)}
"""Trace of each cable that records the GAP of a packet, and its distance from the cable's end in slots."""


@pytest.mark.parametrize(
    ("settings", "peak"), [("switch.central_queue=0", 0), ("switch.central_queue=64", 64), ("", 4096)]
)
def test_fourteen_hosts_on_two_chips_lose_nothing_and_do_not_deadlock(settings: str, peak: int, tmp_path: Path) -> None:
    done = must(
        "sp_traffic", "verilator", tmp_path, f"each=1 largest=1000 {settings}", "fourteen_hosts", profile=PROFILE
    )
    wanted = {"arrived": 14 * 13, "bad": 0, "missing": 0}
    assert {name: done.metrics[name] for name in wanted} == wanted
    assert done.metrics.get("central_queue_peak_B", 0) == peak
    assert done.metrics["queued_packets"] > 50


@pytest.fixture(name="eight", scope="module")
def fixture_eight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run all to all on one chip; Verilator with gated clocks."""
    return must("sp_traffic", "verilator", tmp_path_factory.mktemp("eight"), "each=1", "eight_hosts", profile=PROFILE)


def test_contention_is_equal_with_gated_and_running_clocks(eight: Run, tmp_path: Path) -> None:
    assert_equal(
        eight, must("sp_traffic", "verilator", tmp_path, "each=1 run.always_on=1", "eight_hosts", profile=PROFILE)
    )
    assert eight.metrics["queued_packets"] > 10


def test_contention_is_equal_on_both_simulators(tmp_path: Path) -> None:
    hosts = "eight_hosts" if EVERY_CASE else "four_hosts"
    one, other = (must("sp_traffic", name, tmp_path / name, "each=2", hosts, profile=PROFILE) for name in SIMULATORS)
    assert_equal(one, other)
    assert one.metrics["queued_packets"] > 3


def test_every_packet_is_followed_through_the_central_queues(eight: Run) -> None:
    """Packets are matched by their order in an output's queue; the keys must agree."""
    wire = Wire(read_recorded(eight.folder).legend)
    for row in rows(eight.trace):
        wire.take(row)
    ways = [(packet.source, packet.target, packet.lost) for packet in wire.packets]
    assert ways == [(packet.key >> 24, packet.key >> 16 & 0xFF, False) for packet in wire.packets]
    assert len(ways) == 8 * 7
    assert all(hop.grant is not None and hop.tail is not None for packet in wire.packets for hop in packet.hops)


@pytest.fixture(name="clean", scope="module")
def fixture_clean(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run two packets each way without faults."""
    return must("sp_traffic", "verilator", tmp_path_factory.mktemp("clean"), FAULTY, profile=PROFILE)


def slot_of(clean: Run, cable: End, number: int) -> int:
    """Return the slot in which the first byte of a packet arrives at a cable's end; `number` counts packets there."""
    node, event, later = TAILS[cable]
    return clean.times(node, Part.LINK, event)[number] // LINK_PS + later - (AROUND + USER + 1)


def faulty(fault: Fault, tmp_path: Path, simulator: str = "verilator") -> dict[str, float]:
    """Return the result of the same run with a fault."""
    done = must("sp_traffic", simulator, tmp_path, f"{FAULTY} {setting([fault])}", profile=PROFILE)
    return {name: value for name, value in done.metrics.items() if "queue" not in name}


CABLES = [pytest.param(INTO_SWITCH, id="into the switch"), pytest.param(INTO_TARGET, id="into the destination")]


@pytest.mark.parametrize("cable", CABLES)
@pytest.mark.parametrize("offset", [10, HEADER_BYTES, AROUND + 3, AROUND + USER])
def test_a_flipped_bit_is_detected_at_every_position(clean: Run, cable: End, offset: int, tmp_path: Path) -> None:
    """Flips are in the header's source, the VIA header, user data, and the CRC-8."""
    found = faulty(Fault(cable, "flip", slot_of(clean, cable, 0) + offset, 1, 0x10), tmp_path)
    assert found == {"arrived": 3, "bad": 1, "missing": 0, "explained_crc_bad": 1}


def test_a_flipped_bit_has_the_same_effect_on_the_other_simulator(clean: Run, tmp_path: Path) -> None:
    fault = Fault(INTO_TARGET, "flip", slot_of(clean, INTO_TARGET, 1) + AROUND, 1, 0x01)
    assert faulty(fault, tmp_path, "icarus") == {"arrived": 3, "bad": 1, "missing": 0, "explained_crc_bad": 1}


@pytest.mark.parametrize("cable", CABLES)
def test_a_lost_character_damages_only_its_packet(clean: Run, cable: End, tmp_path: Path) -> None:
    found = faulty(Fault(cable, "drop", slot_of(clean, cable, 0) + AROUND + 5), tmp_path)
    assert (found["arrived"], found["bad"], found["missing"]) == (3, 1, 0)


def test_a_packet_with_an_invalid_route_byte_is_lost_in_the_switch(clean: Run, tmp_path: Path) -> None:
    found = faulty(Fault(INTO_SWITCH, "flip", slot_of(clean, INTO_SWITCH, 0), 1, 0x20), tmp_path)
    assert found == {"arrived": 3, "bad": 0, "missing": 1}


def test_two_packets_whose_gap_is_lost_become_one_damaged_packet(clean: Run, tmp_path: Path) -> None:
    found = faulty(Fault(INTO_TARGET, "drop", slot_of(clean, INTO_TARGET, 0) + AROUND + USER + 1), tmp_path)
    assert (found["arrived"], found["bad"], found["missing"]) == (2, 1, 1)


def test_an_unannounced_fault_fails_the_run_and_is_named(clean: Run, tmp_path: Path) -> None:
    fault = Fault(INTO_TARGET, "flip", slot_of(clean, INTO_TARGET, 0) + AROUND, 1, 0x10)
    done = run("sp_traffic", "verilator", tmp_path, f"{FAULTY} {setting([fault])} expected=0", profile=PROFILE)
    assert not done.passed
    assert any("node 1" in line and "packet with a wrong CRC-8" in line for line in done.failures)


@pytest.mark.parametrize("option", ["fault.loss", "fault.damage"])
def test_random_loss_and_damage_are_counted_by_seed(option: str, tmp_path: Path) -> None:
    settings = f"each=20 largest=100 pause_us=0 {option}=0.2"
    first, again = (
        must("sp_traffic", "verilator", tmp_path / str(on), f"{settings} run.always_on={on}", profile=PROFILE)
        for on in (0, 1)
    )
    assert_equal(first, again)
    gone = first.metrics["missing" if option == "fault.loss" else "bad"]
    assert first.metrics["arrived"] + gone == 40 and 1 <= gone <= 20


def test_views_of_waves_find_every_signal_of_an_adapter_and_a_switch(tmp_path: Path) -> None:
    """Fails when a signal of the hardware is renamed."""
    asked = resolve(SCENARIO, "icarus", "1", True, "", PROFILE, "each=1", SIMULATORS)
    asked = replace(asked, folder=str(tmp_path))
    info = studies.load(SCENARIO)
    assert execute(asked, info, plan(asked, info), Console(file=io.StringIO())).passed
    leave_views(asked, tmp_path, Console(file=io.StringIO()))
    found = waves.groups(read_recorded(tmp_path).legend, waves.signals_of(tmp_path / waves.FILE))
    of_a_host = waves.HOST_SIGNALS + VIEW.bus + VIEW.nic + VIEW.port
    of_the_switch = waves.SWITCH_SIGNALS + waves.SP_SWITCH_SIGNALS + 2 * waves.SWITCH_PORT_SIGNALS
    texts = [signal.path for group in found for signal in group.signals if not signal.bits]
    assert sum(len(group.signals) for group in found) - len(texts) == 2 * len(of_a_host) + len(of_the_switch)
    assert len(texts) == 2 * (len(SIGNALS["cpu"]) + len(SIGNALS["nic"]))
