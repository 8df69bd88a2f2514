"""Cards of a host in the cluster.

Strategy: one scenario moves bytes between a host and its cards on both simulators, with gated and free-running clocks.
The host must read what it wrote, and Python must see the same bytes in the cards' memories. The runs must agree in
every metric and trace record.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymodels.results import differences
from pymodels.trace import SWITCH_BASE, TraceEvent
from tb.report.lives import lives_of
from tb.report.numbers import numbered
from tb.report.recorded import read_recorded
from tb.tools.paths import SIMULATORS
from tests.system.runs import Run, assert_equal, must

BYTES_4_TO_7 = 0x04050607
TREES = "fpga.image_bytes=640 largest=200"


def test_host_and_cards_see_the_same_bytes_and_an_image_takes_its_load_time(tmp_path: Path) -> None:
    metrics = must("card_bus", "verilator", tmp_path, cluster="two_cards").metrics
    assert metrics["read_back"] == BYTES_4_TO_7
    assert metrics["bank_equal"] == metrics["frame_equal"] == 1
    assert metrics["loading_us"] >= 30, "1000 bytes, a clock each of a bus that the card has taken to 33 MHz"
    assert metrics["images_partial"] == 0x02020201, "slot 0 has the first image, the others have the second one"
    assert metrics["images_truncated"] == 0x02020200, "slot 0 is empty"


@pytest.mark.parametrize("bridge", ["false", "true"])
def test_cards_do_the_same_on_both_simulators_asleep_and_always_on(bridge: str, tmp_path: Path) -> None:
    asleep = must("card_bus", "verilator", tmp_path / "asleep", f"fpga.bridge={bridge}", "two_cards")
    for simulator, always_on in (("icarus", 0), ("verilator", 1)):
        settings = f"run.always_on={always_on} fpga.bridge={bridge}"
        again = must("card_bus", simulator, tmp_path / f"{simulator}{always_on}", settings, "two_cards")
        assert not differences(asleep.results, again.results, same_simulator=False)
        assert np.array_equal(asleep.trace, again.trace)


@pytest.fixture(name="messages", scope="module", params=["false", "true"], ids=["one-bus", "bridge"])
def fixture_messages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run with messages through the circuits of two cards, on the host's bus or behind a bridge."""
    settings = f"fpga.image_bytes=640 fpga.bridge={request.param}"
    return must("card_messages", "verilator", tmp_path_factory.mktemp("messages"), settings, "two_cards")


def test_messages_pass_through_circuits_of_local_and_remote_cards(messages: Run) -> None:
    assert messages.metrics["results"] == 13
    assert messages.metrics["reported"] == 2
    assert messages.metrics["multicast"] == 2


def test_records_of_cards_have_the_numbers_of_their_messages(messages: Run) -> None:
    recorded = read_recorded(messages.folder)
    records = numbered(recorded.trace, recorded.legend)
    records = records[records["unit"] < SWITCH_BASE]
    takes, gives = (records[records["event"] == event] for event in (TraceEvent.CARD_TAKE, TraceEvent.CARD_GIVE))
    assert len(takes) and len(gives)
    accepted = records["message"][records["event"] == TraceEvent.NIC_ACCEPT]
    assert set(takes["message"].tolist()) <= set(accepted.tolist())
    assert len(set(gives["message"].tolist())) == len(gives)
    for give in gives:
        later = records[(records["message"] == give["message"]) & (records["time"] > give["time"])]
        assert [event in later["event"] for event in (TraceEvent.NIC_NOTICED, TraceEvent.TX_START)] == [True, True]


def test_life_of_a_message_leads_through_the_card_to_the_result(messages: Run) -> None:
    lives = lives_of(read_recorded(messages.folder)).lives
    results = [life for life in lives if life.from_card]
    through = [life for life in results if life.through is not None]
    assert len(through) >= messages.metrics["results"] - 1
    for life in through:
        assert life.through is not None and life.through.to_card and life.through.result is life
        assert life.through.target == life.node and life.through.ended == life.sent
        assert life.arrived is not None
    assert all(life.through is None for life in lives if not life.from_card)


def test_a_card_rings_the_doorbell_if_the_nic_uses_it(tmp_path: Path) -> None:
    settings = "fpga.image_bytes=640 grim.doorbell_notify=1 largest=64"
    assert must("card_messages", "verilator", tmp_path, settings, "two_cards").metrics["results"] == 8


def test_messages_through_circuits_are_equal_on_both_simulators(tmp_path: Path) -> None:
    settings = "fpga.image_bytes=640 fpga.bridge=true largest=64"  # Icarus takes 0.1 s for a microsecond
    one, other = (must("card_messages", name, tmp_path / name, settings, "two_cards") for name in SIMULATORS)
    assert_equal(one, other)


@pytest.fixture(name="channels", scope="module")
def fixture_channels(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run in which hosts, processes and cards have the channels of the cluster's file."""
    return must("card_channels", "verilator", tmp_path_factory.mktemp("channels"), "fpga.image_bytes=640 largest=64")


def test_endpoints_work_on_the_channels_of_the_configuration(channels: Run) -> None:
    assert (channels.metrics["card_channel_0"], channels.metrics["card_channel_1"]) == (1, 3)
    assert channels.metrics["results"] == 4 * 2 * 3 + 3


@pytest.mark.parametrize(("simulator", "always_on"), [("icarus", 0), ("verilator", 1)])
def test_endpoints_on_their_channels_do_the_same_on_both_simulators_asleep_and_always_on(
    channels: Run, simulator: str, always_on: int, tmp_path: Path
) -> None:
    settings = f"fpga.image_bytes=640 largest=64 run.always_on={always_on}"
    again = must("card_channels", simulator, tmp_path, settings)
    assert not differences(channels.results, again.results, same_simulator=False)
    assert np.array_equal(channels.trace, again.trace)


@pytest.fixture(name="trees", scope="module")
def fixture_trees(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run in which a card sends to a multicast tree of which another card is a member."""
    return must("card_trees", "verilator", tmp_path_factory.mktemp("trees"), TREES)


def test_results_of_a_card_reach_the_members_of_a_tree_and_a_member_card_answers_the_first_sender(trees: Run) -> None:
    metrics = trees.metrics
    assert metrics["delivered"] == 3 * 6
    assert metrics["replies"] == metrics["reported"] == metrics["ended"] == 1


@pytest.mark.parametrize(("simulator", "always_on"), [("icarus", 0), ("verilator", 1)])
def test_cards_in_trees_do_the_same_on_both_simulators_asleep_and_always_on(
    trees: Run, simulator: str, always_on: int, tmp_path: Path
) -> None:
    again = must("card_trees", simulator, tmp_path, f"{TREES} run.always_on={always_on}")
    assert not differences(trees.results, again.results, same_simulator=False)
    assert np.array_equal(trees.trace, again.trace)
