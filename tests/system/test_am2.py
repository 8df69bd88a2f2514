"""AM-II on the RTL: stages add up, retransmissions are packets on the cable, returned messages are whole.

Strategy: one small run of each study, on a LANai 9 and on the LANai 4 of paper 002. The counts of the cable are
compared with the options that determine them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must

NOW = "lanai4-now+ultra-167"


def test_the_stages_of_a_short_message_are_its_time_to_the_handler(tmp_path: Path) -> None:
    measured = must("am2_latency", "verilator", tmp_path, "repetitions=1").metrics
    to_endpoint = measured["one_way_us_to_endpoint"]
    stages = [value for name, value in measured.items() if name.endswith("_us") and name != "round_trip_us"]
    assert sum(stages) == pytest.approx(measured["one_way_us_to_handler"], abs=1e-5)
    assert measured["host_notices_us"] + measured["host_dispatch_us"] == pytest.approx(
        measured["one_way_us_to_handler"] - to_endpoint, abs=1e-5
    )
    assert 2 * to_endpoint < measured["round_trip_us"] < 3 * measured["one_way_us_to_handler"]


def test_hosts_that_poll_their_cards_cause_no_wake_up_until_a_word_changes(tmp_path: Path) -> None:
    cost = must("am2_short", "verilator", tmp_path, "repetitions=40 messages=0").results.cost
    assert cost.python_wakes < 50 * cost.messages, "120 where each read of a word wakes Python"


@pytest.mark.parametrize("profile", ["", NOW])
def test_a_message_is_returned_whole_after_the_set_number_of_packets(profile: str, tmp_path: Path) -> None:
    settings = "am2.retries=20 am2.timeout_us=4000"
    measured = must("am2_return", "verilator", tmp_path, settings, profile=profile).metrics
    assert (measured["transmissions"], measured["retries"], measured["bytes_returned_equal"]) == (21, 20, 1)
    assert measured["time_to_return_over_timeout"] == pytest.approx(21, rel=0.01)


def test_more_endpoints_than_frames_lose_and_duplicate_nothing_and_fewer_move_nothing(tmp_path: Path) -> None:
    measured = must("am2_paging", "verilator", tmp_path, "uses=1 am2.frames=2 size=64").metrics
    assert (measured["lost"], measured["duplicated"], measured["knee"]) == (0, 0, 2)
    assert measured["faults_per_message_at_frames"] == 0
    assert measured["faults_per_message_beyond_frames"] > 0
    stages = sum(measured[f"fault_{stage}_us"] for stage in ("waited", "room", "out", "back"))
    assert measured["fault_us"] == pytest.approx(stages)


def test_a_full_queue_returns_messages_at_once_if_the_option_is_set(tmp_path: Path) -> None:
    measured = must("am2_return", "verilator", tmp_path, "am2.full=nack").metrics
    assert (measured["transmissions"], measured["retries"], measured["returned_congestion"]) == (1, 0, 1)
