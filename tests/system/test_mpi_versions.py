"""The three versions of MPI over LAPI on the RTL of the SP adapter stand in the paper's order.

Strategy: one run of `mpi_versions` on two hosts, where both ends poll; the study compares all data. Context switches
are counted by the scheduler: of eager messages only base has some.
"""

from __future__ import annotations

from pathlib import Path

from pymodels.builders import board
from pymodels.config.generate import drawn
from pymodels.config.writer import write
from pymodels.updown import up_down
from tests.system.runs import must


def test_versions_stand_in_the_order_of_the_paper(tmp_path: Path) -> None:
    topology = board(("paris", "metz"), chips=2)
    cluster = str(write(drawn("ways", topology, up_down(topology, most=2)), tmp_path / "ways", "Two ways"))
    done = must("mpi_versions", "verilator", tmp_path, "largest=4095", cluster, profile="sp+ppc604-332").metrics
    for size in (4, 256, 4095):
        lapi, enhanced, counters, base = (done[f"us_{one}_{size}B"] for one in ("lapi", "enhanced", "counters", "base"))
        assert lapi < enhanced < base and counters < base and abs(counters / enhanced - 1) < 0.05
        assert enhanced - lapi < base - enhanced
    assert done["switches_a_message_enhanced"] == done["switches_a_message_counters"] == 0
    assert done["switches_a_message_base"] >= 1 == done["handlers_a_message_base"]
