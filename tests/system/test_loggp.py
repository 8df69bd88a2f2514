"""LogGP studies on the RTL.

Strategy: small runs between two hosts, on both simulators, which must agree to the picosecond. The files for LogGOPSim
are read back and must give the prediction of the run.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymodels.loggp.goal import all_to_all, text
from pymodels.loggp.predict import LogGOPS, finish_times
from tests.system.runs import assert_equal, must

SMALL = "repetitions=1 sizes=2 largest=64 exchange=16"


def test_parameters_and_prediction_are_equal_on_both_simulators(tmp_path: Path) -> None:
    done, other = [must("loggp", one, tmp_path / one, SMALL, "two_hosts") for one in ("verilator", "icarus")]
    assert_equal(done, other)
    assert (done.folder / "alltoall.goal").read_text(encoding="utf-8") == text(all_to_all(2, 16))
    command = (done.folder / "loggopsim.sh").read_text(encoding="utf-8").splitlines()[-1]
    given = {name: int(value) for name, value in re.findall(r"-(\w) (-?\d+)", command)}
    assert command.startswith("LogGOPSim -f alltoall.bin -L ") and set(given) == set("LogGOS")
    predicted = max(finish_times(all_to_all(2, 16), LogGOPS(**given))) / 1e6
    assert done.metrics["alltoall_us_predicted"] == pytest.approx(predicted)
    columns = (done.folder / "loggp.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split()[:2] for line in columns[1:]] == [["4", "10"], ["64", "10"]]
    assert float(columns[1].split()[6]) == pytest.approx(done.results.series["message_send"].y[0], abs=1e-6)


def test_overheads_and_latency_add_up_to_a_round_trip(tmp_path: Path) -> None:
    small = "repetitions=1 messages=8 largest=64"
    found = must("am_logp", "verilator", tmp_path, small, "two_hosts").metrics
    law = 2 * (found["o_s_us"] + found["latency_us"] + found["o_r_us"])
    assert found["law_us"] == pytest.approx(law)
    assert found["round_trip_us"] == pytest.approx(law, rel=0.05)


@pytest.mark.parametrize("layer", ["epos"])
def test_the_model_counts_only_reads_from_the_card_twice(layer: str, tmp_path: Path) -> None:
    """Measure a host of EPOS, which finds messages over the bus and does not answer any by itself."""
    small = f"layer={layer} repetitions=3 messages=8 largest=64"
    found = must("am_logp", "verilator", tmp_path, small, "two_hosts").metrics
    twice = 2 * (found["found_us"] + found["behind_reply_us"])
    assert found["found_us"] > 0.3, "a read over the bus"
    assert 0.95 * found["round_trip_us"] <= found["law_us"] <= 1.05 * found["round_trip_us"] + twice


def test_the_time_of_a_message_is_equal_on_both_simulators(tmp_path: Path) -> None:
    small = "repetitions=1 messages=1 largest=8 size=4"
    done, other = [must("am_logp", one, tmp_path / one, small, "two_hosts") for one in ("verilator", "icarus")]
    assert_equal(done, other)
