"""Transfer of any file through the RTL, unchanged; an invalid file is rejected before anything is built.

Strategy: files with unusual sizes and names are made, sent, and compared byte by byte with `received.bin`, in addition
to the study's own SHA-256. Files that are missing, are folders, or exceed host memory must be rejected with the remedy,
while every build is an error.
"""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from pymodels.errors import ConfigError
from tb.run import command
from tests.system.runs import must, run
from tests.system.scenarios.faults import setting
from tests.system.wires import BEFORE_SWITCH, GRIM_HEADER, hidden_flip, last_long, slot_of


@pytest.mark.parametrize(
    ("name", "size", "settings", "messages"),
    [
        ("empty", 0, "", 1),
        ("one byte", 1, "", 1),
        ("it's 5 KB.bin", 5003, "", 1),
        ("several", 9001, "send_bytes=4000", 3),
        ("memory of no power of two", 100_000, "memory.bytes=1500000 grim.host_queue_bytes=65536", 1),
    ],
)
def test_file_arrives_unchanged(name: str, size: int, settings: str, messages: int, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(random.Random(size).randbytes(size))
    done = must("grim_transfer", "verilator", tmp_path / "out", f"file={shlex.quote(str(file))} {settings}")
    got = done.metrics
    assert (got["bytes"], got["messages"], got["sha256_equal"]) == (size, messages, 1)
    assert (got["MBps"] > 0) == (size > 0)
    assert (tmp_path / "out" / "received.bin").read_bytes() == file.read_bytes()


def test_byte_changed_on_the_wire_is_detected(tmp_path: Path) -> None:
    """Compare, in the study, the bytes that arrived with the bytes to send."""
    size, length = 200, GRIM_HEADER + 200
    file = tmp_path / "file"
    file.write_bytes(bytes(size))
    settings = f"file={file} link.beat_period=0"
    clean = must("faulty_transfer", "verilator", tmp_path / "clean", settings)
    flips = hidden_flip(BEFORE_SWITCH, slot_of(clean, BEFORE_SWITCH, last_long(clean, size), length), 100, length, 1)
    done = run("faulty_transfer", "verilator", tmp_path / "out", f"{settings} {setting(flips)}")
    assert not done.passed
    assert (done.metrics["bytes"], done.metrics["sha256_equal"]) == (size, 0)
    assert "SHA-256 differs" in (tmp_path / "out" / "failures.txt").read_text(encoding="utf-8")


@pytest.fixture(name="no_build")
def fixture_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every build an error."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("something was built")

    monkeypatch.setattr(command, "build", refuse)


@pytest.mark.usefixtures("no_build")
def test_file_larger_than_host_memory_is_rejected_with_a_remedy(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as out:
        out.truncate(100 << 20)
    with pytest.raises(
        ConfigError, match="is larger than host memory: it has 104857600 bytes, .*; set memory.bytes=134217728"
    ):
        run("grim_transfer", "verilator", tmp_path / "out", f"file={file}")
    with file.open("wb") as out:
        out.truncate(3 << 30)
    with pytest.raises(ConfigError, match="; send a smaller file"):
        run("grim_transfer", "verilator", tmp_path / "out", f"file={file}")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_build")
@pytest.mark.parametrize(("name", "why"), [("not there", "does not exist"), (".", "is a folder")])
def test_missing_file_is_named(name: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(ConfigError, match=f"no file .*{path.name}.* {why}; give the path of a file") as error:
        run("grim_transfer", "verilator", tmp_path / "out", f"file={shlex.quote(str(path))}")
    assert error.value.exit_code == 2
