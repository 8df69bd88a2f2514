"""Equality of the number of clocked parts of a component in the HDL and in Verilator's main loop.

Strategy: the numbers are read from the text of the packages and compared with the generated instances. A part that the
main loop does not know would never get a clock edge.
"""

from __future__ import annotations

import re

import pytest

from tb.build.instances import ENGINE_SRAM, ENGINES, HALVES, SIDES
from tb.tools.paths import ROOT


@pytest.mark.parametrize(
    ("package", "name", "number"),
    [
        ("nic/common/myri_nic_engines_pkg.sv", "ENGINES", ENGINES),
        ("nic/common/myri_nic_engines_pkg.sv", "ENGINE_SRAM", ENGINE_SRAM),
        ("nic/common/myri_nic_engines_pkg.sv", "HALVES", HALVES),
        ("host/myri_pci_pkg.sv", "PCI_SIDES", SIDES),
    ],
)
def test_the_hdl_has_as_many_parts_as_the_main_loop_drives(package: str, name: str, number: int) -> None:
    found = re.search(rf"localparam int {name} = (\d+);", (ROOT / "hdl" / package).read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) == number
