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
from tb.tools.paths import SIMULATORS
from tests.system.runs import Run, assert_equal, must

BYTES_4_TO_7 = 0x04050607


def test_host_and_cards_see_the_same_bytes_and_an_image_takes_its_load_time(tmp_path: Path) -> None:
    metrics = must("card_bus", "verilator", tmp_path, cluster="two_cards").metrics
    assert metrics["read_back"] == BYTES_4_TO_7
    assert metrics["bank_equal"] == metrics["frame_equal"] == 1
    assert metrics["loading_us"] >= 30, "1000 clocks of a bus that the card has taken to 33 MHz"


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
    settings = f"fpga.config_us=20 fpga.bridge={request.param}"
    return must("card_messages", "verilator", tmp_path_factory.mktemp("messages"), settings, "two_cards")


def test_messages_pass_through_circuits_of_local_and_remote_cards(messages: Run) -> None:
    assert messages.metrics["results"] == 13
    assert messages.metrics["reported"] == 2
    assert messages.metrics["multicast"] == 2


def test_a_card_rings_the_doorbell_if_the_nic_uses_it(tmp_path: Path) -> None:
    settings = "fpga.config_us=20 grim.doorbell_notify=1 largest=64"
    assert must("card_messages", "verilator", tmp_path, settings, "two_cards").metrics["results"] == 8


def test_messages_through_circuits_are_equal_on_both_simulators(tmp_path: Path) -> None:
    settings = "fpga.config_us=20 fpga.bridge=true largest=64"  # Icarus takes 0.1 s for a microsecond
    one, other = (must("card_messages", name, tmp_path / name, settings, "two_cards") for name in SIMULATORS)
    assert_equal(one, other)
