"""Effect of each profile value on the machine, or the reason why it has none.

Strategy: a change of each implemented value must change the machine's delays or sizes. The time of one packet shows
that the network's delays are those of the RTL. The command that runs studies on the machine rejects every setting
without effect.
"""

from __future__ import annotations

import fnmatch

import pytest

from firmware.layers import host_library, nic_program
from firmware.view import ClusterView
from pymodels.errors import ConfigError
from pymodels.machine import Machine
from pymodels.machine.timing import Timing
from pymodels.profiles import Profile, load_profile
from pymodels.profiles.keys import every_key
from pymodels.trace import TraceEvent
from tb.lab import on_machine
from tb.lab.honoured import HONOURED, IGNORED, SIZES, TIMES, check_honoured, reason, timing_of
from tb.plan.request import RUN_OPTIONS

KINDS = ("lanai9", "lanai4", "sp", "fifo")
OTHER = {"cable.metres": 9, "cable.ns_per_metre": 20, "core.fetch_words": 8, "processor.load_clocks": 4}
"""Values of settings whose default plus 20 is out of range."""
TAKEN = [
    (kind, key)
    for kind in KINDS
    for key in sorted(load_profile(kind).values)
    if not reason(key, load_profile(kind)) and key not in SIZES
]


def changed(profile: Profile, key: str) -> Profile:
    """Return the profile with another value of a key."""
    other = {"sram.width": 96 - profile.integer("sram.width")} | OTHER
    settings = {key: str(other.get(key) or int(profile.number(key)) + 20)}
    if key == "clock.nic_ps" and profile.nic.one_clock:
        settings = dict.fromkeys(("clock.nic_ps", "clock.pci_ps"), "25000")
    return profile.override(settings)


def test_every_value_is_honoured_or_has_a_reason() -> None:
    for key in every_key():
        ignored = [pattern for pattern in IGNORED if fnmatch.fnmatchcase(key, pattern)]
        assert (key in HONOURED) + len(ignored) == 1, f"{key}: either implemented or listed once as ignored: {ignored}"


@pytest.mark.parametrize("kind", KINDS)
def test_only_values_of_a_profile_that_are_declared_as_honoured_have_no_reason(kind: str) -> None:
    profile = load_profile(kind)
    without = {key for key in profile.values if not reason(key, profile)}
    assert without <= HONOURED and "switch.fall_through_ns" in without
    assert ("sram.width" in without) == ("core.fetch_words" in profile.values)


def test_every_reason_is_of_a_value_that_exists() -> None:
    known = list(every_key())
    assert set(known) >= HONOURED
    assert [pattern for pattern in IGNORED if not fnmatch.filter(known, pattern)] == []


@pytest.mark.parametrize(("kind", "key"), TAKEN)
def test_each_value_that_is_honoured_changes_the_delays(kind: str, key: str) -> None:
    profile = load_profile(kind)
    before, after = timing_of(profile), timing_of(changed(profile, key))
    own = {field for field, (keys, _) in TIMES.items() if key in keys}
    assert {field for field in own if getattr(before, field) != getattr(after, field)} == own


def test_delays_of_the_default_profile_are_those_that_the_machine_has_without_one() -> None:
    """Ignore a cable of whole characters, and kernel costs of another host."""
    profile, plain = timing_of(load_profile("lanai9")), Timing()
    differ = {field for field in TIMES if getattr(profile, field) != getattr(plain, field)}
    assert differ == {"cable", "copy_byte", "core", "signal", "syscall"}


def arrival_ps(profile: Profile) -> int:
    """Return the time from the start of a packet to its first word in the SRAM of the other NIC."""
    machine = Machine(2, nic=profile.kind, timing=timing_of(profile))
    hosts = []
    for node in range(2):
        view = ClusterView(**machine.view(node))
        machine.processor(node).spawn(nic_program("echo")(machine.processor(node), view), "echo")
        hosts.append(host_library("echo")(machine.host(node), view))
    machine.finish(*(host.start() for host in hosts))
    machine.finish(hosts[0].send(1, b"8 bytes."), hosts[1].receive())
    (started,), (stored,) = machine.trace.of_event(TraceEvent.TX_START), machine.trace.of_event(TraceEvent.RX_HEAD)
    return stored[0] - started[0]


def test_slower_switch_and_longer_cable_delay_a_packet_by_their_latency() -> None:
    profile = load_profile("lanai9")
    usual = arrival_ps(profile)
    slower = arrival_ps(profile.override({"switch.fall_through_ns": "1000"}))
    assert slower - usual == 900_000
    longer = arrival_ps(profile.override({"cable.metres": "9"}))
    assert longer - usual == 2 * (10 - 4) * 6250, "two cables of 10 characters instead of 4"


@pytest.mark.parametrize("key", sorted(key for key in load_profile("lanai9").values if key not in HONOURED))
def test_a_setting_without_effect_is_rejected_with_its_reason(key: str) -> None:
    profile = load_profile("lanai9")
    with pytest.raises(ConfigError, match=f"{key} has no effect on the machine"):
        check_honoured([key], profile)


def test_settings_that_are_honoured_pass() -> None:
    check_honoured(HONOURED, load_profile("lanai9"))
    on_machine.check_run(["messages", *on_machine.HONOURED])


@pytest.mark.parametrize("name", sorted(RUN_OPTIONS.keys() - set(on_machine.HONOURED)))
def test_a_setting_of_the_run_without_effect_is_rejected(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert on_machine.main(["am2_reliability", "--set", f"{name}=1"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"SET: {name} has no effect on the machine: ") and printed.count("\n") == 1


def test_a_study_takes_settings_of_the_network_and_sizes() -> None:
    small = "messages=24 endpoints=1 fault.loss=0 fault.damage=0"
    more = "switch.fall_through_ns=1500 sram.bytes=4194304 memory.bytes=33554432"
    usual, other = (on_machine.run("am2_reliability", text, 2, "lanai9", 1) for text in (small, f"{small} {more}"))
    assert other.findings.metrics["messages_per_s"] < usual.findings.metrics["messages_per_s"]
    assert other.machine.nic(0).sram_bytes == 4194304 and other.machine.host(0).memory.size == 33554432
