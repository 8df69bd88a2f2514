"""Runs on a stand-in board: a board's top in Verilator behind a port, with unrelated, jittering clocks.

Strategy: studies run as on a real board, by the name of a port; nothing on the host side knows the stand-in. Between
port and host, a wire can lose, double or damage a byte, end, or reset the board. After every failure the next run must
succeed. Events happen after a number of bytes, never after a time. All waits have a limit.
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
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pymodels.errors import SanlabError
from tb.ask.explain import explain
from tb.board.transport import open_port
from tb.fpga.board_design import find_design
from tb.fpga.board_sim import StandIn, start, with_netlists
from tb.report.recorded import BOARD, read_recorded
from tests.junit_schema import cases
from tests.patience import PATIENCE_S, wait_for
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
    """Pseudo-terminal that passes bytes to and from a board, with one fault.

    Args:
        board: The board.
        after: Bytes from the host before the fault.
        fault: `lost`, `doubled`, `damaged`, `cut` for a pulled plug, `reset` for the board's button, or empty.
    """

    def __init__(self, board: StandIn, after: int, fault: str) -> None:
        self.passed = 0
        """Bytes from the host so far."""
        self._stand_in, self._board = board, open_port(board.port, 1_000_000)
        self._after, self._fault = after, fault
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(target=self._pass, daemon=True)
        self._end = threading.Event()
        self._thread.start()

    def close(self) -> None:
        """End the wire and free the port of the board."""
        self._end.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the wire passes no more bytes"
        self._board.close()
        self._unplug()

    def _unplug(self) -> None:
        for one in {self._master, self._slave} - {-1}:
            os.close(one)
        self._master = self._slave = -1

    def _pass(self) -> None:
        while not self._end.is_set():
            if select.select([self._master], [], [], 0)[0]:
                data = self._faulty(os.read(self._master, 4096))
                if self._fault == "cut" and self.passed > self._after:
                    self._unplug()
                    return
                self._board.send(data, PATIENCE_S)
            if back := self._board.receive(4096, 0.0005):
                with suppress(BlockingIOError):  # a host that does not read loses bytes, as on a serial line
                    os.write(self._master, back)

    def _faulty(self, data: bytes) -> bytes:
        at, self.passed = self._after - self.passed, self.passed + len(data)
        if not 0 <= at < len(data):
            return data
        if self._fault == "reset":
            self._stand_in.press_reset()
        byte = data[at : at + 1]
        other = {"lost": b"", "doubled": byte + byte, "damaged": bytes([byte[0] ^ 0x40])}.get(self._fault, byte)
        return data[:at] + other + data[at + 1 :]


@contextmanager
def wired(board: StandIn, after: int, fault: str) -> Iterator[Wire]:
    """Yield a wire with a fault to a board."""
    wire = Wire(board, after, fault)
    try:
        yield wire
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
    with wired(board, 3000, fault) as wire:
        done = run("echo_pingpong", "verilator", tmp_path / "one", settings(wire.port, IMPATIENT))
    assert not done.passed
    assert "bytes were lost, doubled or damaged" in str(done.failures) or "answers no more" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_a_pulled_plug_fails_the_run_and_the_next_run_succeeds(board: StandIn, tmp_path: Path) -> None:
    with wired(board, 3000, "cut") as wire:
        done = run("echo_pingpong", "verilator", tmp_path / "one", settings(wire.port))
    assert "the connection was lost" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


@pytest.mark.parametrize("after", [3000, 9000])
def test_a_board_that_is_reset_fails_the_run_and_the_next_run_succeeds(
    board: StandIn, tmp_path: Path, after: int
) -> None:
    with wired(board, after, "reset") as wire:
        given = settings(wire.port, IMPATIENT).replace("repetitions=1", "repetitions=99")
        done = run("echo_pingpong", "verilator", tmp_path / "one", given)
    assert not done.passed
    assert "it was reset during the run" in str(done.failures)
    must("board_compare", "verilator", tmp_path / "two", settings(board.port))


def test_an_interrupted_run_leaves_no_results_and_the_next_run_succeeds(board: StandIn, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    with wired(board, 0, "") as wire:
        given = settings(wire.port).replace("repetitions=1", "repetitions=9999")
        command = [sys.executable, "-m", "tb.run", "echo_pingpong", "--set", given, "--out", str(folder)]
        with in_terminal(command) as process:
            wait_for(lambda: wire.passed > 3000 or process.poll() is not None, "the run on the board to begin")
            os.killpg(process.pid, signal.SIGINT)
            said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    assert {file.name for file in folder.iterdir()} == {"manifest.json", "results.xml"}
    assert cases(folder / "results.xml")["run"].message.startswith("the run was interrupted")
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


def test_netlists_and_a_board_with_related_clocks_move_messages_in_the_clocks_of_the_rtl(tmp_path: Path) -> None:
    before = must("board_compare", "verilator", tmp_path / "rtl", "nic.firmware=c repetitions=1", profile="lanai4")
    for place, design in (("netlist", with_netlists(DESIGN, "1")), ("board", DESIGN)):
        with start(design, related=True) as board:
            more = f"beside={before.folder} {PATIENT}"
            before = must("board_compare", "verilator", tmp_path / place, settings(board.port, more))
    for name in ("cable", "switch", "dma"):
        assert len({before.metrics[f"clocks_{name}_{place}"] for place in ("rtl", "netlist", "board")}) == 1
