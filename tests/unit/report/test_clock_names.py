"""Each clock of a cluster has a readable name, including the clock of a bus behind a bridge.

Strategy: hosts with every set of cards, with and without a bridge. The names of all clocks are compared with a list
written by hand; each must occur once. The word that states a clock's need is compared with one written by hand, too.
"""

from __future__ import annotations

import pytest

from pymodels.builders import single_switch
from pymodels.config.model import FPGA_CARD, FRAME_CARD
from tb.build.instances import HALF_RX, GatedClocks, clock_wants, gated_index
from tb.build.numbers import Numbers

OWN = ["NIC of {}", "link of {}", "PCI of {}"]
CARDS = (frozenset({FPGA_CARD}), frozenset({FRAME_CARD}), frozenset({FPGA_CARD, FRAME_CARD}), frozenset[str]())


@pytest.mark.parametrize(
    ("bridge", "card"),
    [(False, ["FPGA of {}"]), (True, ["FPGA of {}", "PCI behind the bridge of {}"])],
)
def test_every_clock_has_the_name_of_what_it_drives(bridge: bool, card: list[str]) -> None:
    numbers = Numbers(single_switch("abcd"), CARDS, bridge=bridge)
    expected = [
        name.format(host)
        for host, cards in zip("abcd", CARDS, strict=True)
        for name in [*OWN, *(card if FPGA_CARD in cards else [])]
    ]
    assert [numbers.clock_name(clock) for clock in range(numbers.clocks)] == [*expected, "switch s0"]
    assert numbers.clock_name(numbers.bus_clock(2)) == "PCI of c"


def test_a_clock_wants_edges_in_the_order_of_its_gated_clocks_below_its_own_need() -> None:
    gated = [GatedClocks("setup_", 0, 1), GatedClocks("link_", 1, 2), GatedClocks("nic_", 0, 6)]
    lines = clock_wants(2, gated).splitlines()
    assert "  assign wants_0 = {awake_0, 24'd0, nic_gated_needed, setup_gated_needed};" in lines
    assert "  assign wants_1 = {awake_1, 29'd0, link_gated_needed};" in lines
    assert gated_index(gated, "link_", HALF_RX) == HALF_RX
    assert gated_index(gated, "nic_", 0) == 1, "behind the one of setup, as in the word"
