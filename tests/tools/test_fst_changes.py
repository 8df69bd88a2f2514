"""Writer of waves: the file contains all changes, for any widths and amounts.

Strategy: random changes of signals of many widths are passed to the writer like from Verilator, and read back by the
independent reader of Surfer. One signal is so wide that the changes fill more than one block of the file, and many
chunks of memory; its values are noise, which cannot be compressed. A clock is passed by its levels only.
"""

from __future__ import annotations

import random
import resource
import signal
import subprocess
from pathlib import Path

import pytest
import pywellen

from tb.tools import programs
from tb.tools.paths import ROOT

WIDTHS = (1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 77, 96, 100, 128, 200_000)
CLOCK = 2**32 - 2
"""Index of the clock among those of the signals."""
Change = tuple[int, int, int]
"""Time, index of the signal, value."""


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that passes its standard input to the writer."""
    program = tmp_path_factory.mktemp("writer") / "fst_changes"
    include = [f"-I{path}" for path in (programs.verilator().root / "include", ROOT / "hdl" / "sim" / "verilator")]
    source = str(ROOT / "tests" / "tools" / "fst_changes.cpp")
    command = ["g++", "-std=gnu++20", "-O1", *include, "-o", str(program), source, "-llz4", "-lz", "-pthread"]
    subprocess.run(command, check=True)
    return program


def words_of(changes: list[Change]) -> bytes:
    """Return the changes in the program's input format: 32-bit words, least significant byte first."""
    data = [len(WIDTHS).to_bytes(4, "little"), *(bits.to_bytes(4, "little") for bits in WIDTHS)]
    now = None
    for time, index, value in changes:
        if time != now:
            data.append(bytes(4) + time.to_bytes(8, "little"))
            now = time
        words = 1 if index == CLOCK else -(-WIDTHS[index] // 32)
        data.append((index + 1).to_bytes(4, "little") + value.to_bytes(words * 4, "little"))
    return b"".join(data)


def random_changes(steps: int, narrow: int) -> list[Change]:
    """Return random changes: in each step the wide signal and `narrow` narrow ones get new values."""
    rng = random.Random(1)
    values = [-1] * len(WIDTHS)
    changes: list[Change] = []
    time = 0
    for _ in range(steps):
        for index in (*sorted(rng.sample(range(len(WIDTHS) - 1), narrow)), len(WIDTHS) - 1):
            value = rng.getrandbits(WIDTHS[index])
            if value == values[index]:
                value ^= 1
            values[index] = value
            changes.append((time, index, value))
        time += rng.choice((1, 100, 10**12))
    return changes


def read_back(file: Path) -> dict[str, list[tuple[int, int]]]:
    """Return times and values of every signal of a waveform file, by its full name."""
    return {str(var.full_name)[4:]: list(var.signal) for var in pywellen.Waveform(str(file)).all_vars()}


def test_every_change_is_in_the_file_at_its_time(writer: Path, tmp_path: Path) -> None:
    changes = random_changes(steps=1600, narrow=5)
    subprocess.run([writer, tmp_path / "waves.fst"], input=words_of(changes), check=True)
    found = read_back(tmp_path / "waves.fst")
    for index in range(len(WIDTHS)):
        assert found[f"s{index}"] == [(time, value) for time, of, value in changes if of == index], WIDTHS[index]
    assert found["again"] == found["s0"]


def test_a_file_without_changes_has_its_signals(writer: Path, tmp_path: Path) -> None:
    subprocess.run([writer, tmp_path / "waves.fst"], input=words_of([]), check=True)
    declared = {str(var.name): var.bitwidth for var in pywellen.Waveform(str(tmp_path / "waves.fst")).all_vars()}
    signals = {f"s{index}": bits for index, bits in enumerate(WIDTHS)}
    assert declared == {"again": WIDTHS[0], "clk_0": 1, "clk": 1, "send_clk": 1, **signals}


def test_wires_connected_to_a_clock_pin_show_the_levels_of_the_clock(writer: Path, tmp_path: Path) -> None:
    levels = [(0, 0), (6250, 1), (9375, 0), (12500, 1)]
    others = [(0, 0, 0), (6250, 0, 1), (10000, 0, 0)]
    changes = sorted([*others, *((time, CLOCK, level) for time, level in levels)])
    subprocess.run([writer, tmp_path / "waves.fst"], input=words_of(changes), check=True)
    found = read_back(tmp_path / "waves.fst")
    assert "gated_clk_0" not in found
    assert found["clk_0"] == found["unit.clk"] == found["unit.send_clk"] == levels
    assert found["s0"] == [(time, value) for time, _, value in others]


def test_a_file_contains_no_time_of_writing_so_that_equal_runs_write_equal_files(writer: Path, tmp_path: Path) -> None:
    data = words_of(random_changes(steps=20, narrow=5))
    for name in ("first", "second"):
        subprocess.run([writer, tmp_path / name], input=data, check=True)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert str(pywellen.Waveform(str(tmp_path / "first")).date).strip() == ""


def test_a_file_that_cannot_be_written_is_reported_and_removed(writer: Path, tmp_path: Path) -> None:
    def little_disk() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    file = tmp_path / "waves.fst"
    data = words_of(random_changes(steps=100, narrow=5))
    done = subprocess.run([writer, file], input=data, preexec_fn=little_disk, stderr=subprocess.PIPE, check=True)
    assert done.stderr.decode() == f"{file}: File too large; removed\n"
    assert not file.exists()
