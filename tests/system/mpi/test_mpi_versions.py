"""The three versions of MPI over LAPI on the RTL of the SP adapter, in the paper's order of cost.

Strategy: `mpi_versions` on two hosts, where both ends poll; the study compares all data. The scheduler counts context
switches: for eager messages only base has some. In a second run they cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pymodels.builders import board
from pymodels.config.generate import cluster_on
from pymodels.config.writer import write
from pymodels.updown import up_down
from tests.system.runs import must


def measured(folder: Path, settings: str) -> Mapping[str, float]:
    """Return the study's metrics on two of the paper's nodes."""
    topology = board(("paris", "metz"), chips=2)
    cluster = str(write(cluster_on("ways", topology, up_down(topology, most=2)), folder / "ways", "Two ways"))
    return must("mpi_versions", "verilator", folder, settings, cluster, profile="sp+ppc604-332").metrics


def test_versions_are_in_the_order_of_the_paper(tmp_path: Path) -> None:
    done = measured(tmp_path, "repetitions=3 largest=4095")
    for size in (4, 256, 4095):
        lapi, enhanced, counters, base = (done[f"us_{one}_{size}B"] for one in ("lapi", "enhanced", "counters", "base"))
        assert lapi < enhanced < base and counters < base and abs(counters / enhanced - 1) < 0.05
        assert enhanced - lapi < base - enhanced
    assert done["switches_a_message_enhanced"] == done["switches_a_message_counters"] == 0
    assert done["switches_a_message_base"] >= 1 == done["handlers_a_message_base"]


def test_the_additional_cost_of_base_is_its_context_switches(tmp_path: Path) -> None:
    done = measured(tmp_path, "largest=256 host.context_switch_ns=0")
    for size in (4, 256):
        assert done[f"us_base_{size}B"] == pytest.approx(done[f"us_enhanced_{size}B"], rel=0.1)
