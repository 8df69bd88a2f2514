"""Blocks for Yosys: the command that reads a block, and the errors for names that there are not.

Strategy: the command is compared word by word for a block with parameters; it names packages before the modules that
import them. Unknown blocks and cells are rejected with the nearest name.
"""

from __future__ import annotations

import pytest

from pymodels.errors import ConfigError
from tb.fpga import mapping
from tb.fpga.mapping import Block
from tb.tools.programs import ToolError


def test_a_block_is_read_with_its_parameters_and_all_of_its_files() -> None:
    block = Block("myri_crc8", {"B": 2, "A": 1})
    assert mapping.read_command(block) == (
        "read_slang --threads 1 -DSYNTHESIS --top myri_crc8 -G A=1 -G B=2 myri_crc8_pkg.sv myri_crc8.sv\n"
    )
    assert block.shown == "myri_crc8 A=1 B=2"


def test_packages_come_first() -> None:
    names = [path.stem for path in Block("myri_switch").files]
    packages = [name.endswith("_pkg") for name in names]
    assert packages == sorted(packages, reverse=True) and any(packages) and "myri_switch_input" in names


def test_unknown_blocks_and_cells_are_rejected_with_the_nearest_name() -> None:
    with pytest.raises(ToolError, match="unknown block 'myri_fifi': no module of hdl/sources.f has that name; .*fifo"):
        mapping.mapped(Block("myri_fifi"), "generic")
    with pytest.raises(ConfigError, match="NETLIST: unknown cells 'ecp4': it names a kind of cells: generic, ecp5"):
        mapping.mapped(Block("myri_fifo"), "ecp4")
