"""Runs on a stand-in board: a board's top in Verilator behind a port, with unrelated, jittering clocks.

Strategy: studies run as on a real board, by the name of a port; nothing on the host side knows the stand-in. Between
port and host, a wire can lose, double or damage a byte or end. After every failure the next run must succeed.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.errors import SanlabError
from tb.ask.explain import explain
from tb.board.transport import open_port
from tb.fpga.board_design import find_design
from tb.fpga.board_sim import StandIn, start
from tb.report.recorded import BOARD, read_recorded
from tests.patience import PATIENCE_S
from tests.system.runs import must, run
from tests.system.test_abnormal_ends import in_terminal

DESIGN = find_design("pair")
PATIENT = "run.patience_s=60"
IMPATIENT = "run.patience_s=20"


@pytest.fixture(name="board", scope="module")
def fixture_board() -> Iterator[StandIn]:
    """Yield a stand-in board that all tests of the module use one after the other."""
    with start(DESIGN) as board:
        yield board


def settings(port: str, more: str = PATIENT) -> str:
    """Return the settings of a short run on the board behind a port."""
    return f"run.on=board run.port={port} repetitions=1 {more}"


class Wire:
    """Pseudo-terminal that passes bytes to and from the port of a board, with one fault.

    Args:
        port: Port of the board.
        after: Bytes from the host before the fault.
        fault: `lost`, `doubled`, `damaged`, or `cut` for a pulled plug.
    """

    def __init__(self, port: str, after: int, fault: str) -> None:
        self._board = open_port(port, 1_000_000)
        self._after, self._fault, self._passed = after, fault, 0
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._pass, daemon=True)
        self._end = threading.Event()
        self._thread.start()

    def close(self) -> None:
        """End the wire and free the port of the board."""
        self._end.set()
        self._thread.join()
        self._board.close()
        for one in {self._master, self._slave} - {-1}:
            os.close(one)

    def _pass(self) -> None:
        while not self._end.is_set():
            if select.select([self._master], [], [], 0)[0]:
                data = self._faulty(os.read(self._master, 4096))
                if self._fault == "cut" and self._passed > self._after:
                    os.close(self._slave)
                    os.close(self._master)
                    self._master = self._slave = -1
                    return
                self._board.send(data, PATIENCE_S)
            if back := self._board.receive(4096, 0.0005):
                os.write(self._master, back)

    def _faulty(self, data: bytes) -> bytes:
        at, self._passed = self._after - self._passed, self._passed + len(data)
        if not 0 <= at < len(data):
            return data
        byte = data[at : at + 1]
        other = {"lost": b"", "doubled": byte + byte, "damaged": bytes([byte[0] ^ 0x40])}.get(self._fault, byte)
        return data[:at] + other + data[at + 1 :]


@contextmanager
def wired(board: StandIn, after: int, fault: str) -> Iterator[str]:
    """Yield the port of a faulty wire to a board."""
    wire = Wire(board.port, after, fault)
    try:
        yield wire.port
    finally:
        wire.close()


def test_echo_runs_on_a_board_with_the_results_trace_and_stages_of_the_rtl(board: StandIn, tmp_path: Path) -> None:
    done = must("echo_pingpong", "verilator", tmp_path, settings(board.port))
    assert done.results.simulator == BOARD
    assert board.manifest.name in done.results.versions["simulator"]
    assert done.results.settings["sram.bytes"] == 1 << DESIGN.sram_log2
    recorded, said = read_recorded(tmp_path), io.StringIO()
    assert recorded.legend.place == BOARD
    assert not recorded.legend.lost
    explain(recorded, "3", Console(file=said, width=200))
    for line in ("send engine", "wire and switch", "reception", "measured by the PC"):
        assert line in said.getvalue()


def test_grim_runs_on_a_board_as_far_as_its_c_firmware(board: StandIn, tmp_path: Path) -> None:
    done = must("grim_pingpong", "verilator", tmp_path, settings(board.port, f"largest=64 {PATIENT}"))
    assert {f"one_way_us_{size}B" for size in (0, 4, 16, 64)} <= {*done.metrics}


@pytest.mark.parametrize("fault", ["lost", "doubled", "damaged"])
def test_a_faulty_byte_fails_the_run_and_the_next_run_succeeds(board: StandIn, tmp_path: Path, fault: str) -> None:
    with wired(board, 3000, fault) as port:
        done = run("echo_pingpong", "verilator", tmp_path / "one", settings(port, IMPATIENT))
    assert not done.passed
    assert "bytes were lost, doubled or damaged" in str(done.failures) or "answers no more" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_a_pulled_plug_fails_the_run_and_the_next_run_succeeds(board: StandIn, tmp_path: Path) -> None:
    with wired(board, 3000, "cut") as port:
        done = run("echo_pingpong", "verilator", tmp_path / "one", settings(port))
    assert "the connection was lost" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_a_board_that_is_reset_fails_the_run_and_the_next_run_succeeds(board: StandIn, tmp_path: Path) -> None:
    timer = threading.Timer(4.0, board.press_reset)
    timer.start()
    done = run(
        "echo_pingpong", "verilator", tmp_path / "one", settings(board.port, f"{PATIENT}").replace("=1", "=999", 1)
    )
    timer.join()
    assert not done.passed
    assert "was reset" in str(done.failures) or "lost, doubled or damaged" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_an_interrupted_run_leaves_nothing_and_the_next_run_succeeds(board: StandIn, tmp_path: Path) -> None:
    given = settings(board.port).replace("repetitions=1", "repetitions=9999")
    command = [sys.executable, "-m", "tb.run", "echo_pingpong", "--set", given, "--out", str(tmp_path / "one")]
    with in_terminal(command) as process:
        with pytest.raises(Exception, match="timed out"):
            process.wait(8)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == 130
    assert not (tmp_path / "one").exists() or not [*(tmp_path / "one").iterdir()]
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_a_port_that_another_run_holds_is_rejected(board: StandIn, tmp_path: Path) -> None:
    held = open_port(board.port, 1_000_000)
    with pytest.raises(SanlabError, match="another process uses it"):
        run("echo_pingpong", "verilator", tmp_path, settings(board.port))
    held.close()


def test_an_older_bitstream_is_rejected_with_the_hashes_of_both(tmp_path: Path) -> None:
    with start(DESIGN, seed=2) as usual:
        expected = usual.manifest.identity
    said = f"the board holds 01234567, and expected is .*{expected.hash[:8]}"
    with start(DESIGN, seed=2, reported=replace(expected, hash="0123456789abcdef" * 2)) as older:
        with_error = pytest.raises(SanlabError, match=said)
        with with_error:
            run("echo_pingpong", "verilator", tmp_path, settings(older.port))


def test_a_board_with_related_clocks_moves_messages_in_the_clocks_of_the_rtl(tmp_path: Path) -> None:
    rtl = must("board_compare", "verilator", tmp_path / "rtl", "nic.firmware=c repetitions=1", profile="lanai4")
    with start(DESIGN, related=True) as board:
        both = f"beside={rtl.folder} {PATIENT}"
        done = must("board_compare", "verilator", tmp_path / "board", settings(board.port, both))
    for name in ("cable", "switch", "dma"):
        assert done.metrics[f"clocks_{name}_board"] == done.metrics[f"clocks_{name}_rtl"]
