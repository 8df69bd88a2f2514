"""Faults on cables are detected by the hardware and reported by the invariants; the data that arrive are those on the
wire.

Strategy: a run without faults gives the character slots in which a message crosses a cable. Because time does not
depend on Python, the same run with a fault in exactly those slots disturbs exactly that message. CRC-8 must reject a
flipped bit wherever it was flipped. A flip that CRC-8 cannot detect (payload and CRC changed together) must arrive
flipped (readings E1). Lost flow control must behave as in the fact sheet: one lost STOP is repaired by its refresh,
lost refreshes let the sender continue.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymodels.profiles import load_profile
from pymodels.topology import End
from pymodels.trace import Part, TraceEvent
from tb.plan.limits import longest_cable
from tb.tools.paths import SIMULATORS
from tests.amount import EVERY_CASE
from tests.system.runs import LINK_PS, Run, assert_equal, must, run
from tests.system.scenarios.faults import Fault, setting
from tests.system.wires import (
    BEFORE_SOURCE,
    BEFORE_SWITCH,
    BEFORE_TARGET,
    GRIM_HEADER,
    SOURCE,
    SWITCH_FROM_TARGET,
    TARGET,
    hidden_flip,
    last_long,
    slot_of,
)

VIA_HEADER = 8
ECHO = 8 + 64
"""Bytes of an echo packet: header and payload."""
PLACES = [pytest.param(BEFORE_SWITCH, id="into the switch"), pytest.param(BEFORE_TARGET, id="into the destination")]


@pytest.fixture(name="clean", scope="module")
def fixture_clean(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of three echo messages without faults."""
    return must("echo_faults", "verilator", tmp_path_factory.mktemp("clean"))


def test_without_faults_all_bytes_are_equal(clean: Run) -> None:
    assert clean.metrics == {"arrived": 3, "changed": 0, "in_order": 1}


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
@pytest.mark.parametrize("cable", PLACES)
def test_a_flipped_bit_is_rejected_by_crc(clean: Run, cable: End, simulator: str, tmp_path: Path) -> None:
    fault = Fault(cable, "flip", slot_of(clean, cable, 1, ECHO) + 8 + 10, 1, 0x10)
    done = must("echo_faults", simulator, tmp_path, setting([fault]))
    assert done.metrics == {"arrived": 2, "changed": 0, "in_order": 1, "explained_crc_bad": 1}


@pytest.mark.parametrize("cable", PLACES)
def test_a_flip_undetectable_by_crc_arrives_flipped(clean: Run, cable: End, tmp_path: Path) -> None:
    """Check E1: the bytes at the destination are those of the wire."""
    flips = hidden_flip(cable, slot_of(clean, cable, 1, ECHO), 8 + 10, ECHO, 0x21)
    done = must("echo_faults", "verilator", tmp_path, setting(flips))
    assert done.metrics == {"arrived": 3, "changed": 1, "in_order": 1, "flipped_1_10": 0x21}


@pytest.mark.parametrize(("size", "way"), [(200, "send"), (1504, "send"), (1504, "multicast")])
def test_flip_arrives_flipped_in_a_grim_message(size: int, way: str, tmp_path: Path) -> None:
    settings = f"size={size} way={way} link.beat_period=0"  # a BEAT would take a slot within the packet
    clean = must("grim_flip", "verilator", tmp_path / "clean", settings)
    assert clean.metrics == {"arrived": 2, "flipped": 0}
    length = GRIM_HEADER + size
    first = slot_of(clean, BEFORE_SWITCH, last_long(clean, size), length)
    flips = hidden_flip(BEFORE_SWITCH, first, GRIM_HEADER + 77, length, 0x80)
    done = must("grim_flip", "verilator", tmp_path / "flipped", f"{settings} {setting(flips)}")
    assert done.metrics == {"arrived": 2, "flipped": 1, "flipped_1_77": 0x80}


@pytest.mark.parametrize("choice", ["send", "write", "write via.rdma=table", "send via.preset=hwvia via.vis=4"])
def test_flip_arrives_flipped_in_a_via_message(choice: str, tmp_path: Path) -> None:
    settings = f"way={choice} link.beat_period=0"
    clean = must("via_flip", "verilator", tmp_path / "clean", settings)
    assert clean.metrics == {"flipped": 0}
    length = VIA_HEADER + 1000
    flips = hidden_flip(BEFORE_SWITCH, slot_of(clean, BEFORE_SWITCH, last_long(clean, 1000), length), 300, length, 0x04)
    done = must("via_flip", "verilator", tmp_path / "flipped", f"{settings} {setting(flips)}")
    assert done.metrics == {"flipped": 1, f"flipped_{300 - VIA_HEADER}": 0x04}


def test_an_unexpected_fault_fails_the_run_and_is_reported_with_unit_packet_and_time(
    clean: Run, tmp_path: Path
) -> None:
    first = slot_of(clean, BEFORE_TARGET, 1, ECHO)
    done = run(
        "echo_faults", "verilator", tmp_path, f"expected=0 {setting([Fault(BEFORE_TARGET, 'flip', first + 20, 1, 1)])}"
    )
    tail_us = clean.times(TARGET, Part.LINK, TraceEvent.RX_TAIL)[1] / 1e6
    assert not done.passed
    assert (tmp_path / "failures.txt").read_text(encoding="utf-8").splitlines() == [
        f"invariant: node 1 link: packet with a wrong CRC-8 at {tail_us:.3f} us (packet 0x0ec00002)"
    ]
    assert "packet with a wrong CRC-8" in "".join(done.failures)
    told = (tmp_path / "stuck.txt").read_text(encoding="utf-8")
    assert told.startswith("invariant: node 1 link: packet with a wrong CRC-8")
    assert "study tests.system.scenarios.echo_faults waits for " in told
    at = float(re.search(r"the last event before was at ([\d.]+) us", told)[1])  # type: ignore[index]
    assert tail_us - 1 < at <= tail_us + 0.001


def between_packets(clean: Run) -> int:
    """Return a slot in which no cable carries a character: halfway between two messages."""
    return sum(t // LINK_PS for t in clean.times(TARGET, Part.LINK, TraceEvent.RX_HEAD)[:2]) // 2


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("cable", PLACES)
def test_illegal_symbol_is_counted_and_ignored(clean: Run, cable: End, simulator: str, tmp_path: Path) -> None:
    fault = Fault(cable, "flip", between_packets(clean), 1, 0x10)
    done = must("echo_faults", simulator, tmp_path, setting([fault]))
    assert done.metrics == {"arrived": 3, "changed": 0, "in_order": 1, "explained_illegal": 1}


def test_unexpected_illegal_symbol_names_the_port_of_the_switch(clean: Run, tmp_path: Path) -> None:
    slot = between_packets(clean)
    fault = Fault(SWITCH_FROM_TARGET, "flip", slot, 1, 0x10)
    done = run("echo_faults", "verilator", tmp_path, f"expected=0 {setting([fault])}")
    assert not done.passed
    at_us = (slot + 1) * LINK_PS / 1e6
    assert (tmp_path / "failures.txt").read_text(encoding="utf-8").splitlines() == [
        f"invariant: switch 0 port 1: illegal control symbol at {at_us:.3f} us (packet 0x00000000)"
    ]


def test_a_lost_end_of_packet_leaves_unfinished_work_which_fails_the_run(clean: Run, tmp_path: Path) -> None:
    """Two good packets in one have a good CRC-8 (its initial value is 0), but echo's limit register stops them."""
    gap = slot_of(clean, BEFORE_TARGET, 0, ECHO) + ECHO + 1
    done = run("echo_faults", "verilator", tmp_path, f"expected=0 {setting([Fault(BEFORE_TARGET, 'drop', gap)])}")
    assert done.metrics == {"arrived": 0, "changed": 0, "in_order": 1}
    assert not done.passed
    assert (
        "invariant: still in flight at the end: NIC of metz"
        in (tmp_path / "failures.txt").read_text(encoding="utf-8").splitlines()
    )


BLOCKED = "count=6 gap_us=0 pause_us=100 rest_us=150"
"""Settings in which the receiver pauses during six messages: the network fills, STOP holds the sender."""


@pytest.fixture(name="blocked", scope="module")
def fixture_blocked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run with messages that wait in the network, without faults."""
    return must("echo_faults", "verilator", tmp_path_factory.mktemp("blocked"), BLOCKED)


def held(blocked: Run) -> tuple[int, int]:
    """Return the first and last slot in which the receiver's STOP held the network."""
    begin, end = (blocked.times(SOURCE, Part.LINK, event) for event in (TraceEvent.STALL_START, TraceEvent.STALL_END))
    longest = max(zip(begin, end, strict=True), key=lambda pair: pair[1] - pair[0])
    return longest[0] // LINK_PS, longest[1] // LINK_PS


def test_stop_holds_messages_back_and_loses_none(blocked: Run) -> None:
    begin, end = held(blocked)
    assert blocked.metrics == {"arrived": 6, "changed": 0, "in_order": 1}
    assert end - begin > 50 * 160, "STOP held the sender for most of the pause"


def test_stop_arrives_in_time_over_the_longest_accepted_cable(tmp_path: Path) -> None:
    longest = longest_cable(load_profile("lanai9"))
    done = must("echo_faults", "verilator", tmp_path, f"{BLOCKED} cable.metres={longest}")
    assert done.metrics == {"arrived": 6, "changed": 0, "in_order": 1}


def test_lost_stop_is_repaired_by_its_refresh(blocked: Run, tmp_path: Path) -> None:
    """Lose any eight slots around the first STOP: the next refresh arrives before the slack is used up."""
    begin, _ = held(blocked)
    for offset in (-40, -12, -6):
        done = must(
            "echo_faults",
            "verilator",
            tmp_path / str(offset),
            f"{BLOCKED} {setting([Fault(BEFORE_SOURCE, 'drop', begin + offset, 8)])}",
        )
        assert done.metrics == blocked.metrics, f"8 slots from {begin + offset} on"


@pytest.mark.parametrize(("slots", "overflows"), [(12, False), (400, True)])
def test_lost_refreshes_let_the_sender_continue(blocked: Run, slots: int, overflows: bool, tmp_path: Path) -> None:
    """Lose STOP for 16 characters: the sender assumes GO, the slack overflows, and CRC-8 rejects incomplete packets."""
    begin, end = held(blocked)
    settings = f"{BLOCKED} {setting([Fault(SWITCH_FROM_TARGET, 'drop', (begin + end) // 2, slots)])}"
    one, other = (
        must("echo_faults", "verilator", tmp_path / str(on), f"{settings} run.always_on={on}") for on in (0, 1)
    )
    assert ("explained_slack_overflow" in one.metrics) is overflows
    assert one.metrics == other.metrics, "faults act equally with clocks asleep"
    assert one.metrics["changed"] == 0
    assert one.metrics["in_order"] == 1
    assert (one.metrics["arrived"] == 6) is not overflows


SILENT = "count=1 rest_us=130"
"""Settings of one message, then no traffic for 130 us: 13 BEATs, each computed while clocks sleep."""
SILENCE = [Fault(BEFORE_TARGET, "drop", 6_000, 5_000), Fault(BEFORE_SOURCE, "flip", 9_600, 40, 0x04)]
"""Faults: three BEATs to the destination lost; one to the source becomes an illegal symbol."""


@pytest.fixture(name="silent", scope="module")
def fixture_silent(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of a quiet network with sleeping clocks and BEATs lost on its cables."""
    return must("echo_faults", "verilator", tmp_path_factory.mktemp("silent"), f"{SILENT} {setting(SILENCE)}")


def test_beats_lost_on_a_sleeping_link_are_missed_and_three_are_link_down(silent: Run) -> None:
    assert silent.metrics == {
        "arrived": 1,
        "changed": 0,
        "in_order": 1,
        "explained_illegal": 40,
        "explained_link_down": 1,
    }
    events = (TraceEvent.BEAT_MISSED, TraceEvent.LINK_DOWN, TraceEvent.BEAT_BACK, TraceEvent.LINK_UP)
    at = [[time // LINK_PS // 1600 for time in silent.times(TARGET, Part.LINK, event)] for event in events]
    assert at == [[4], [6], [7], [7]], "which multiple of the period stood before it"
    assert [len(silent.times(SOURCE, Part.LINK, event)) for event in events] == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("simulator", "always_on"), [("verilator", 1), ("icarus", 0), *([("icarus", 1)] if EVERY_CASE else [])]
)
def test_beats_lost_are_noticed_equally_asleep_and_always_on(
    silent: Run, simulator: str, always_on: int, tmp_path: Path
) -> None:
    settings = f"{SILENT} {setting(SILENCE)} run.always_on={always_on}"
    assert_equal(silent, must("echo_faults", simulator, tmp_path, settings))
