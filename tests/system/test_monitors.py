"""Monitors on a running cluster: they change no result, and both simulators show the same transactions.

Strategy: small studies of several layers, with cards and with other kinds of NICs, run without monitors and with them
on each simulator. Results, traces and packets must be equal, and so must the tables of transactions. Every run checks
the rules of the protocols. The transactions of one message are compared with the trace. A fault of the hardware on a
cable must be reported by the monitor of that link.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pymodels.cards import DOORBELLS, SLOT, SLOT_BYTES
from pymodels.errors import ConfigError
from pymodels.trace import Part, TraceEvent, unit
from tb.monitors.table import FILE
from tb.tools.paths import SIMULATORS
from tests.system.runs import Run, assert_equal, must, run
from tests.system.scenarios.echo_faults import SIZE, payload
from tests.system.scenarios.faults import Fault, setting
from tests.system.wires import BEFORE_TARGET, slot_of

VIA = "repetitions=2 largest=16 via.preset=hwvia via.vis=4"
ALL = "run.monitors=pci,dma,link"
SRAM = "run.monitors=pci,dma,sram,link"
STUDIES = [
    ("echo_pingpong", "repetitions=1", SRAM, ""),
    ("grim_pingpong", "repetitions=1 largest=256", SRAM, ""),
    ("grim_streaming", "messages=4 size=1024 sram.accesses=1", SRAM, "lanai4+p2-300"),
    ("firmvia_latency", VIA, SRAM, ""),
    ("firmvia_latency", "repetitions=2 largest=64", ALL, "sp"),
    ("fifo_pingpong", "repetitions=1 messages=2 largest=16", ALL, ""),
    ("card_poll", "changes=8 busy=1 others=1", SRAM, ""),
]
HEADER = 8
"""Bytes of an echo packet before its payload."""


def transactions(done: Run) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(done.folder / FILE).to_pylist()
    return rows


@pytest.mark.parametrize(
    ("study", "settings", "monitors", "profile"), STUDIES, ids=[f"{study} {profile}" for study, *_, profile in STUDIES]
)
def test_monitors_change_no_result_and_agree_on_both_simulators(
    study: str, settings: str, monitors: str, profile: str, tmp_path: Path
) -> None:
    without = must(study, "verilator", tmp_path / "without", settings, profile=profile)
    runs = [
        must(study, simulator, tmp_path / simulator, f"{settings} {monitors}", profile=profile)
        for simulator in ("verilator", "icarus")
    ]
    for one in runs:
        assert_equal(without, one)
    rows, others = map(transactions, runs)
    assert len(rows) > 50 and rows == others
    assert not (without.folder / FILE).exists()


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_callbacks_and_scoreboards_see_each_transaction_when_it_ends(simulator: str, tmp_path: Path) -> None:
    done = must("monitored", simulator, tmp_path, ALL)
    assert done.metrics["transactions"] == 40


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_character_flipped_on_a_cable_breaks_the_crc_rule_of_that_link_only(simulator: str, tmp_path: Path) -> None:
    clean = must("echo_faults", "verilator", tmp_path / "clean")
    slot = slot_of(clean, BEFORE_TARGET, 1, HEADER + SIZE) + HEADER + 10
    settings = setting([Fault(BEFORE_TARGET, "flip", slot, 1, 0x10)])
    done = run("echo_faults", simulator, tmp_path / "broken", f"{settings} expected=0 {ALL}")
    name, damaged = f"{BEFORE_TARGET.node}.link", bytearray(payload(1))
    damaged[10] ^= 0x10
    wrong = [(row["monitor"], row["data"][HEADER:-1]) for row in transactions(done) if row["crc_good"] is False]
    assert wrong == [(name, bytes(damaged))]
    assert re.findall(r"invariant: (\S+): CRC-8 is wrong, syndrome 0x", "; ".join(done.failures)) == [name]


def test_a_scoreboard_fails_the_run_at_an_unexpected_transaction(tmp_path: Path) -> None:
    done = run("monitored", "verilator", tmp_path, f"{ALL} wrong=1")
    assert not done.passed
    assert "Received transaction differed" in "\n".join(done.failures)


def test_monitors_need_a_known_kind(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"run\.monitors: unknown kind of monitor 'pcj'; did you mean 'pci'\?"):
        run("echo_pingpong", "verilator", tmp_path, "run.monitors=pcj")


BEHIND = "fpga.image_bytes=640 fpga.bridge=true largest=64"
"""Settings of card_messages with the cards on a bus of their own."""


BRIDGE = 2
"""Agent of the host's bus."""


def written(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(row["data"] for row in rows if row["command"] == "memory write")


def test_a_bus_behind_a_bridge_has_a_monitor_of_its_own(tmp_path: Path) -> None:
    without = must("card_messages", "verilator", tmp_path / "without", BEHIND, "two_cards")
    runs = [
        must("card_messages", simulator, tmp_path / simulator, f"{BEHIND} run.monitors=pci", "two_cards")
        for simulator in SIMULATORS
    ]
    for one in runs:
        assert_equal(without, one)
    rows, others = map(transactions, runs)
    assert rows == others
    near, far = ([row for row in rows if row["monitor"] == f"paris.{name}"] for name in ("pci", "pci1"))
    assert {row["master"] for row in far} == {0, 1}, "the bridge and the FPGA card begin transactions"
    down = [row for row in near if row["master"] < BRIDGE and row["address"] >= SLOT + SLOT_BYTES]
    assert written(down) == written([row for row in far if row["master"] == 0]) != b"", "stores to cards"
    up = [row for row in near if row["master"] == BRIDGE]
    assert written(up) == written([row for row in far if row["master"] == 1]) != b"", "stores of the FPGA card"


def test_an_adapter_without_arbiter_has_no_monitor_of_its_sram(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the NICs of this profile have no monitor of their SRAM; leave `sram` out"):
        run("firmvia_latency", "verilator", tmp_path, "run.monitors=sram", profile="sp")


def test_the_memory_of_a_processor_that_executes_machine_code_is_compared_with_what_was_written(
    tmp_path: Path,
) -> None:
    done = must("echo_pingpong", "verilator", tmp_path, "repetitions=1 nic.firmware=c run.monitors=sram")
    reads = {row["requester"] for row in transactions(done) if row["command"] == "read"}
    assert {"processor", "send"} <= reads


def test_host_and_receive_engine_share_the_sram_of_a_stream(tmp_path: Path) -> None:
    done = must("grim_streaming", "verilator", tmp_path, "messages=4 size=4096 run.monitors=sram")
    rows = [row for row in transactions(done) if row["monitor"] == "metz.sram"]
    stored = [row for row in rows if (row["requester"], row["command"]) == ("receive", "write")]
    assert sum(row["bytes"] for row in stored) > 2 * 4096, "half of the messages go to each host"
    assert {row["port"] for row in rows} == {"a", "b"} and sum(row["wait_clocks"] for row in rows) > 0
    records = done.trace
    used = records[(records["event"] == TraceEvent.SRAM_USE) & (records["unit"] == unit(1, Part.SRAM))]
    assert used["argument"].sum() == len(rows)


def test_a_lone_crossbar_has_no_monitors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the study has no hosts and no links"):
        run("switch_saturation", "verilator", tmp_path, ALL)


def test_a_monitor_in_a_run_without_any_names_the_setting(tmp_path: Path) -> None:
    done = run("monitored", "verilator", tmp_path)
    assert "monitor 'paris.pci': this run has no monitors; set run.monitors" in "\n".join(done.failures)


def test_transfers_and_doorbells_agree_with_the_trace(tmp_path: Path) -> None:
    done = must("firmvia_latency", "verilator", tmp_path, f"{VIA} run.monitors=dma,doorbell")
    rows, records = transactions(done), done.trace
    for node, host in enumerate(("paris", "metz")):
        bells = [row for row in rows if row["monitor"] == f"{host}.doorbell"]
        own = records[(records["event"] == TraceEvent.DOORBELL) & (records["unit"] == unit(node, Part.DOORBELL))]
        offsets = own["argument"] - (DOORBELLS.start - SLOT)
        assert len(bells) > 5 and [row["address"] for row in bells] == offsets.tolist()
        assert [int.from_bytes(row["data"], "big") for row in bells] == own["argument2"].tolist()
        moved = [row["bytes"] for row in rows if row["monitor"] == f"{host}.dma"]
        own = records[(records["event"] == TraceEvent.DMA_DONE) & (records["unit"] == unit(node, Part.HOST_DMA))]
        assert len(moved) > 5 and moved == np.abs(own["argument2"]).tolist()
