"""Circuits in Python in a running cluster: equal to those in SystemVerilog, deterministic, and reported when they fail.

Strategy: the studies of cards run with `fpga.circuits=python`, and check the results against the models as always. One
of them runs on both simulators and with free-running clocks, which must agree record for record. A repository of the
test has circuits with one mistake each; one message must end the run with the name of the circuit.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pymodels import roots
from tb.tools.paths import ROOT
from tests.system.runs import Run, assert_equal, must, run

CARDS, FAST = "two_cards", "fpga.image_bytes=3200 fpga.circuits=python"
STREAM = f"{FAST} bytes=512 message=256"
FAULTY = """
async def raises(slot):
    header, words = await slot.receive()
    await slot.send(words[header.size])

async def silent(slot):
    while True:
        await slot.receive()

async def large(slot):
    await slot.receive()
    await slot.send(bytes((1 << 24) + 1))

async def endless(slot):
    await slot.receive()
    while True:
        pass
"""


@pytest.fixture(name="stream", scope="module")
def fixture_stream(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a stream through the filters of two cards, in Python, on Verilator with gated clocks."""
    return must("card_pipeline", "verilator", tmp_path_factory.mktemp("stream"), STREAM, CARDS)


@pytest.mark.parametrize(("simulator", "always_on"), [("icarus", 0), ("verilator", 1)])
def test_simulators_and_clocks_agree(stream: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    assert stream.metrics["bytes_equal"] == 1
    assert_equal(stream, must("card_pipeline", simulator, tmp_path, f"{STREAM} run.always_on={always_on}", CARDS))


@pytest.mark.parametrize(
    ("study", "settings"),
    [
        ("card_message", "repetitions=1 row=2 largest=64"),
        ("card_contention", "messages=2"),
        ("card_reconfigure", "messages=8"),
        ("card_video", ""),
    ],
)
def test_one_setting_exchanges_the_circuits_of_a_study(study: str, settings: str, tmp_path: Path) -> None:
    must(study, "verilator", tmp_path, f"{FAST} {settings}", CARDS)


def test_all_circuits_of_both_kinds_have_equal_results_in_one_run(tmp_path: Path) -> None:
    metrics = must("card_python", "verilator", tmp_path, "bytes=2048 message=1024 fpga.image_bytes=3200").metrics
    assert metrics["bytes_equal"] == 1
    assert metrics["wakes_per_KB_loopback"] == 1, "one wake-up a message"
    assert metrics["wakes_per_KB_histogram"] == 2, "and one a read of the bank"
    for name in ("crc32", "fir16", "loopback", "sha256"):
        assert metrics[f"python_{name}_MBps"] == pytest.approx(metrics[f"rtl_{name}_MBps"], rel=0.25)


@pytest.fixture(name="faulty")
def fixture_faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cluster whose cards have circuits with mistakes, in a repository that is a root."""
    lab, cluster = tmp_path / "faultylab", tmp_path / "cluster"
    (lab / "tb").mkdir(parents=True)
    for name, text in (("__init__", ""), ("circuits", FAULTY)):
        (lab / f"{name}.py").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "pymodels" / "clusters" / CARDS, cluster)
    names = ("raises", "silent", "large", "endless")
    lines = [f"faulty.py {slot} faultylab.circuits:{name}\n" for slot, name in enumerate(names)]
    (cluster / "circuits.txt").write_text("".join(lines), encoding="utf-8")
    monkeypatch.setenv(roots.PATH, str(lab))
    roots.roots.cache_clear()
    return cluster / "grim_config"


@pytest.mark.parametrize(
    ("circuit", "settings", "told"),
    [
        ("raises", "", "raised IndexError: index 8 is out of bounds for axis 0 with size 2 (circuits.py:4)"),
        ("silent", "", "asks for the next message without a result of message 1 (circuits.py:8)"),
        ("large", "", "sends 16777217 bytes for message 1 (circuits.py:12); a result has at most 16777216 bytes here"),
        ("endless", "run.turn_s=2 run.stuck_waves=0", "Python has run for 2 s without simulated time"),
    ],
)
def test_a_failing_circuit_ends_the_run_with_its_name(
    circuit: str, settings: str, told: str, faulty: Path, tmp_path: Path
) -> None:
    given = f"fpga.image_bytes=3200 circuit={circuit} {settings}"
    done = run("card_circuit", "verilator", tmp_path / "out", given, str(faulty))
    assert not done.passed
    slot = ["raises", "silent", "large", "endless"].index(circuit)
    name = f"circuit faultylab.circuits:{circuit} (slot {slot} of the card of paris)"
    assert any(name in failure and told in failure for failure in done.failures), done.failures
