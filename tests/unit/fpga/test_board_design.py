"""Designs and boards of `make board`, without the tools that build them.

Strategy: the settings of a design are compared with those that a study on the RTL takes from the same profile. The
constants are decoded field by field. The PLL's dividers must give the periods of the profile. The top of each board
must name each port of its constraints, and no other. Unknown names are rejected with the known ones.
"""

from __future__ import annotations

import re

import pytest

from pymodels.board.identity import NETLIST
from pymodels.board.map import Clock
from pymodels.profiles import load_profile
from pymodels.settings import NIC, Setting
from tb.board.engine import LONGEST_WAIT_PS
from tb.fpga.board_design import DESIGNS, NICS, PS_PER_S, constants, find_design, identity, periods, settings
from tb.fpga.board_kinds import BOARDS, BUS_HZ, VCO_HZ, clocking, dividers, find_board, pll_stub, top
from tb.fpga.board_sim import CLOCKING, SOURCE, identity_digits, manifest, with_netlists, wrapper
from tb.plan.settings import node_settings, switch_settings
from tb.tools.programs import ToolError

OF_THE_BOARD = {
    Setting.CORE_RUN,
    Setting.CORE_SRAM_BYTES,
    Setting.SRAM_ABOVE,
    Setting.MEM_LOG2,
    Setting.CABLE_DELAY,
}
"""Settings that a board has of its own."""


@pytest.mark.parametrize("name", [name for name, design in DESIGNS.items() if design.module == NICS])
def test_settings_of_a_design_are_those_of_its_profile(name: str) -> None:
    design = find_design(name)
    profile = load_profile(design.profile)
    expected = node_settings(profile) | switch_settings(profile)
    made = settings(design)
    assert all(made[key] == expected[key] for key in set(made) - OF_THE_BOARD)
    assert set(made) - OF_THE_BOARD == set(expected) - OF_THE_BOARD
    assert made[Setting.CORE_SRAM_BYTES] == 1 << design.sram_log2
    assert made[Setting.MEM_LOG2] == design.memory_log2


def test_settings_of_an_fpga_card_are_those_of_its_profile() -> None:
    design = find_design("card")
    profile, made = load_profile(design.profile), settings(design)
    assert made[Setting.CARD_START_DELAY] == profile.integer("fpga.start_delay") == made[Setting.FPGA_START_DELAY]
    assert made[Setting.CARD_READ_INITIAL] == profile.integer("fpga.read_initial")
    assert made[Setting.CARD_WRITE_INITIAL] == profile.integer("fpga.write_initial")
    assert made[Setting.PCI_WIDE] == int(profile.integer("fpga.width") == 64)
    assert [*constants(design)] == ["cfg_pci", "cfg_bridge", "cfg_card"]


def test_constants_hold_the_settings_in_the_order_of_the_struct() -> None:
    design = find_design("pair")
    bits, number = constants(design)["cfg_nic"].split("'h")
    fields = list(NIC.fields())
    assert int(bits) == sum(width for _, width in fields)
    value, found = int(number, 16), {}
    for name, width in reversed(fields):
        found[name] = value & (1 << width) - 1
        value >>= width
    made = settings(design)
    assert found["slack"] == made[Setting.SLACK]
    assert found["base"] == made[Setting.CARD_BASE]
    assert found["rtc_denominator"] == made[Setting.RTC_DENOMINATOR]
    assert value == 0


@pytest.mark.parametrize("slower", [1, 2, 5])
def test_the_pll_gives_the_periods_of_the_profile(slower: int) -> None:
    design = find_design("pair")
    profile = load_profile(design.profile)
    made = dividers(design, slower)
    assert made[Clock.NIC] * PS_PER_S == VCO_HZ * profile.integer("clock.nic_ps") * slower
    assert made[Clock.LINK] * PS_PER_S == VCO_HZ * profile.integer("clock.link_ps") * slower
    assert BUS_HZ * made[Clock.BUS] == VCO_HZ
    assert all(board.clock_hz % BUS_HZ == 0 for board in BOARDS.values())


def test_a_clock_that_the_pll_cannot_make_is_rejected() -> None:
    with pytest.raises(ToolError, match="NIC clock of lanai4: 144 periods"):
        dividers(find_design("pair"), 6)


@pytest.mark.parametrize("name", BOARDS)
def test_the_top_of_a_board_has_the_ports_of_its_constraints(name: str) -> None:
    board = find_board(name)
    text = top(board, find_design("pair"), 2, "0" * 64)
    located = re.findall(r'LOCATE COMP "(\w+)', board.constraints.read_text(encoding="utf-8"))
    ports = re.findall(r"^    (?:input|output) logic (?:\[\d+:0\] )?(\w+)", text, re.MULTILINE)
    assert set(located) == set(ports)
    assert f"module board_{name} (" in text
    assert "EHXPLLL" in text and "EHXPLLL" in pll_stub(board, find_design("pair"), 2)


def test_the_hash_follows_settings_and_clocks() -> None:
    design, board = find_design("pair"), find_board("ulx3s")
    made = {identity(design, clocking(slower), top(board, design, slower, "")).hash for slower in (1, 2)}
    made.add(identity(find_design("loopback"), clocking(1), top(board, find_design("loopback"), 1, "")).hash)
    made |= {manifest(one).identity.hash for one in DESIGNS.values()}
    assert len(made) == 3 + len(DESIGNS)


def test_the_clocks_of_a_card_are_those_of_its_bus_and_its_fpga() -> None:
    design = find_design("card")
    assert (periods(design, BUS_HZ)[Clock.NIC], periods(design, BUS_HZ)[Clock.LINK]) == (30_000, 10_000)
    made = identity(design, clocking(2), "")
    assert (made.nic, made.nic_hz, made.link_hz) == (0, 16_666_666, 50_000_000)


def test_the_frequencies_of_an_identity_are_those_of_the_clocks() -> None:
    made = identity(find_design("pair"), clocking(2), "")
    assert (made.bus_hz, made.nic_hz, made.link_hz, made.baud) == (25_000_000, 16_666_666, 80_000_000, 1_000_000)
    digits = identity_digits(made)
    assert len(digits) == 64 and digits.startswith(made.hash) and digits.endswith(f"{made.baud:08x}")


@pytest.mark.parametrize("name", DESIGNS)
def test_the_stand_in_has_the_same_generic_top(name: str) -> None:
    design = find_design(name)
    text = wrapper(design)
    assert f"{design.module} #(" in text
    assert f".DIVISOR({CLOCKING.divisor})" in text
    assert all(value in text for value in constants(design).values())


def test_a_stand_in_with_netlists_is_another_board_than_one_of_rtl() -> None:
    design = find_design("pair")
    netlists = with_netlists(design, "1")
    assert (manifest(design).board, manifest(netlists).board) == ("sim", NETLIST)
    assert manifest(design).identity.hash != manifest(netlists).identity.hash
    assert with_netlists(design, "ecp5").cells == "ecp5"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: find_board("ulx4s"), "unknown board 'ulx4s': BOARD names one of ulx3s, ecpix5"),
        (lambda: find_board(""), "unknown board ''"),
        (lambda: with_netlists(find_design("card"), "1"), "NETLIST with DESIGN=card: the design has no NIC; use"),
        (lambda: find_design("pairs"), "unknown design 'pairs': the designs are loopback, pair, card"),
    ],
)
def test_an_unknown_name_is_rejected_with_the_known_ones(call: object, text: str) -> None:
    assert callable(call)
    with pytest.raises(ToolError, match=re.escape(text)):
        call()


def test_the_stand_in_slows_down_only_after_the_longest_wait_and_the_time_out_of_the_line() -> None:
    found = re.search(r"QUIET_CLOCKS = (\d+);", SOURCE.read_text(encoding="utf-8"))
    assert found
    quiet = int(found[1])
    assert quiet > CLOCKING.timeout
    assert quiet * 10**12 // CLOCKING.bus_hz > LONGEST_WAIT_PS
