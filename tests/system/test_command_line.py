"""Invalid words on the command line: nearest valid word, exit code 2, and no build.

Strategy: each word is invalid once, through the real `main` with a build that would be an error; exit code and message
are compared. Once as a process, for the exit code that a shell sees.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tb.run import command
from tb.tools.paths import ROOT

GOOD = ["echo_pingpong"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["grim_pingpnog"],
            "STUDY: unknown study 'grim_pingpnog': STUDY names a file of tb/studies; did you mean 'grim_pingpong'?",
        ),
        (["no.such.module"], "STUDY: unknown study 'no.such.module'"),
        (
            [*GOOD, "--sim", "verilog"],
            "SIM: unknown simulator 'verilog': SIM names the simulator; did you mean 'verilator'?",
        ),
        ([*GOOD, "--seed", "one"], "SEED: not a number: SEED is 'one'; give a whole number"),
        ([*GOOD, "--profile", "lanai8"], "PROFILE: unknown profile: 'lanai8'; did you mean 'lanai"),
        (
            [*GOOD, "--cluster", "two_host"],
            "CLUSTER: unknown cluster: 'two_host' is neither a file nor an example; did you mean 'two_hosts'?",
        ),
        ([*GOOD, "--set", "repetition=3"], "SET: unknown key 'repetition'"),
        ([*GOOD, "--set", "repetition=3"], "did you mean 'repetitions'?"),
        ([*GOOD, "--set", "repetitions=many"], "SET: wrong type: repetitions is 'many'; give a whole number"),
        ([*GOOD, "--set", "repetitions=0"], "SET: value out of range: repetitions is 0; give 1 to 100000"),
        ([*GOOD, "--set", "repetitions"], "SET: not a setting: 'repetitions'; write key=value"),
        (["grim_streaming", "--set", "pattern=rign"], "SET: unknown word: pattern is 'rign'; did you mean 'ring'?"),
        (["grim_pingpong", "--set", "grim.segment_bytes=5"], "segment_bytes"),
        (["program", "--set", "ranks=3"], "SET: too many ranks: 3 programs and 2 hosts; give at most 2"),
        (["program", "--set", "command=no_such_program"], "SET: program not found: no 'no_such_program' in "),
        (["mpi_function", "--set", "function=ring.py:mein"], "has no function 'mein'; did you mean 'main'?"),
    ],
)
def test_an_invalid_word_is_rejected_before_any_build(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("something was built")

    monkeypatch.setattr(command, "build", refuse)
    assert command.main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


def test_a_program_with_the_library_of_another_mpi_is_rejected_before_any_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.write_bytes(Path(sys.executable).resolve().read_bytes()[:64] + b"\0libmpi.so.40\0")
    settings = f"command={other}"
    said = f"SET: incompatible library: {other} is linked with libmpi.so.40; link it with MPICH's libmpich.so.12"
    test_an_invalid_word_is_rejected_before_any_build(
        ["program", "--set", settings], said, tmp_path, monkeypatch, capsys
    )


def test_exit_code_of_the_process_is_2(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tb.run", "echo_pingpong", "--sim", "spice", "--out", str(tmp_path / "out")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "unknown simulator 'spice'" in done.stderr
    assert not (tmp_path / "out").exists()
