"""Requests of runs on a board: whatever a board cannot do is rejected with the reason, before a port is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pymodels.config.find import find_config
from pymodels.errors import SanlabError
from tb.plan import studies
from tb.plan.on_board import REASONS, studies_on_board
from tb.plan.request import Plan, Request, plan, resolve
from tb.run.on_board import check_firmware

PORT = "run.on=board run.port=/dev/ttyUSB0"
REPORT = {
    "name": "pair for sim", "hash": "ab" * 16, "commit": "c0ffee", "profile": "lanai4", "kind": "lanai4", "nodes": "2",
    "clock.nic_ps": "40000", "clock.pci_ps": "40000", "clock.link_ps": "20000", "sram.bytes": "131072",
    "sram.queue_bytes": "65536", "memory.bytes": "32768",
}  # fmt: skip


def planned(
    study: str, settings: str, cluster: str = "", profile: str = "", waves: bool = False,
    board: Mapping[str, str] | None = None,
) -> Plan:  # fmt: skip
    """Return the plan of a request."""
    request = resolve(study, "verilator", "1", waves, cluster, profile, settings, ("verilator",))
    return plan(replace(request, board=board or {}), studies.load(study))


def test_echo_and_grim_run_on_a_board_with_firmware_in_c() -> None:
    assert {"echo_pingpong", "grim_pingpong"} <= {*studies_on_board()}
    for study in studies_on_board():
        made = planned(study, PORT, board=REPORT)
        assert made.in_c == {0, 1}
        assert made.profile.kind == "lanai4"


def test_the_values_that_the_board_reports_are_in_force_and_not_given() -> None:
    made = planned("echo_pingpong", f"{PORT} repetitions=2", board=REPORT)
    found = [made.settings[key] for key in ("clock.nic_ps", "clock.link_ps", "sram.bytes", "memory.bytes")]
    assert found == [40000, 20000, 131072, 32768]
    assert made.given == ("repetitions", "run.on", "run.port")


def test_settings_of_the_study_for_boards_give_way_to_those_of_the_user() -> None:
    assert planned("grim_pingpong", PORT, board=REPORT).options["grim.segment_bytes"] == 256
    given = planned("grim_pingpong", f"{PORT} grim.segment_bytes=128", board=REPORT)
    assert given.options["grim.segment_bytes"] == 128


def test_a_missing_port_is_rejected_with_examples() -> None:
    with pytest.raises(
        SanlabError, match="run.port missing: run.on=board needs the port of a board; name the port"
    ) as it:
        planned("echo_pingpong", "run.on=board")
    assert it.value.exit_code == 2


def test_a_port_without_a_board_to_run_on_is_rejected() -> None:
    with pytest.raises(SanlabError, match="run.port without effect: the run is on the RTL; add run.on=board"):
        planned("echo_pingpong", "run.port=/dev/ttyUSB0")


def test_a_study_that_needs_a_simulator_is_rejected_with_those_that_do_not() -> None:
    said = r"grim_deadlock cannot run on a board: .*choose one of board_compare, echo_pingpong"
    with pytest.raises(SanlabError, match=said):
        planned("grim_deadlock", PORT)


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("nic.firmware=python", "a board's NICs execute firmware, which Python is not"),
        ("fault.loss=0.1", REASONS["fault"]),
        ("core.instructions=1", REASONS["core"]),
        ("run.always_on=1", REASONS["run"]),
        ("host.clock_mhz=500", REASONS["host"]),
        ("clock.nic_ps=20000", REASONS["clock"]),
        ("sram.bytes=1048576", REASONS["sram"]),
        ("link.slack=100", "the value is fixed in the board's bitstream"),
    ],
)
def test_a_setting_without_effect_on_a_board_is_rejected_with_the_reason(setting: str, reason: str) -> None:
    with pytest.raises(SanlabError, match=reason) as error:
        planned("echo_pingpong", f"{PORT} {setting}")
    assert error.value.exit_code == 2


def test_waves_of_a_board_are_rejected() -> None:
    with pytest.raises(SanlabError, match="no waves of a board: a board records events"):
        planned("echo_pingpong", PORT, waves=True)


def test_options_of_grim_that_its_c_firmware_lacks_are_rejected() -> None:
    with pytest.raises(SanlabError, match="GRIM's firmware in C supports only queue_style=append"):
        planned("grim_pingpong", f"{PORT} grim.queue_style=slotted", board=REPORT)


def test_grim_is_rejected_on_a_board_whose_sram_is_too_small_for_it() -> None:
    small = {**REPORT, "sram.bytes": "65536", "sram.queue_bytes": "32768"}
    with pytest.raises(SanlabError, match="65536 bytes of SRAM leave 0 for each channel's queue"):
        check_firmware(planned("grim_pingpong", PORT, board=small))
    check_firmware(planned("grim_pingpong", PORT, board=REPORT))


def test_more_hosts_than_the_board_has_nodes_are_rejected() -> None:
    with pytest.raises(SanlabError, match="8 hosts: the board pair for sim has 2 nodes; use a smaller cluster"):
        planned("echo_pingpong", PORT, cluster="eight_hosts", board=REPORT)


def test_a_board_with_one_node_is_rejected_for_a_study_of_two_hosts() -> None:
    with pytest.raises(SanlabError, match=r"no second host: the board pair for sim has one host, .* use a board with"):
        planned("echo_pingpong", PORT, board={**REPORT, "nodes": "1"})


def test_another_nic_than_the_board_has_is_rejected() -> None:
    with pytest.raises(SanlabError, match="its NIC is lanai9, and the board has lanai4; leave PROFILE out"):
        planned("echo_pingpong", PORT, profile="lanai9", board=REPORT)


def test_a_network_that_differs_from_the_board_is_rejected(tmp_path: Path) -> None:
    folder = find_config("two_hosts", {}).parent
    for file in folder.iterdir():
        text = (
            file.read_text(encoding="utf-8").replace("metz 1", "metz 2").replace("1:81", "2:82").replace("0:BF", "0:BE")
        )
        (tmp_path / file.name).write_text(text.replace("\n1 0", "\n2 0"), encoding="utf-8")
    with pytest.raises(SanlabError, match="a board has one switch with its nodes at ports 0, 1, ...; use CLUSTER"):
        planned("echo_pingpong", PORT, cluster=str(tmp_path), board=REPORT)


def test_the_report_of_the_board_is_saved_with_the_request(tmp_path: Path) -> None:
    request = replace(resolve("echo_pingpong", "verilator", "1", False, "", "", PORT, ("verilator",)), board=REPORT)
    request.save(tmp_path / "request.json")
    assert Request.load(tmp_path / "request.json").board == REPORT
