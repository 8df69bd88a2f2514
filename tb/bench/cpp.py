"""Saturated crossbar in a plain C++ main loop without cocotb: the speed of Verilator alone."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from pathlib import Path

from tb.build.build import MAKE_FLAGS, Design, needed_files
from tb.build.store import kept_by_sources
from tb.tools import programs
from tb.tools.paths import ROOT
from tb.tools.plain import plain
from tb.tools.programs import ToolError

HARNESS = ROOT / "tb" / "bench" / "switch_bench.cpp"
TOP = "sim_switch_bench"


def switch_chars_per_s(clocks: int) -> float:
    """Return the characters per wall second of the saturated crossbar with packets of 64 characters."""
    done = subprocess.run(
        [str(_program()), str(clocks), "65536", "64", "1", "1"],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise ToolError("the C++ harness failed", done.stdout + done.stderr, "run `make sim BENCH=switch`")
    return float(json.loads(done.stdout)["chars_per_s"])


def _program() -> Path:
    """Return the path of the built harness, cached by content."""
    files = needed_files(Design(TOP))

    def name() -> str:
        sources = b"".join(path.read_bytes() for path in [*files, HARNESS])
        return f"cpp-{TOP}-{hashlib.sha256(sources).hexdigest()[:16]}"

    folder, _ = kept_by_sources(name, lambda scratch: _build(files, scratch))
    return folder / "obj" / f"V{TOP}"


def _build(files: list[Path], folder: Path) -> None:
    tool = programs.verilator()
    command = [
        tool.binary,
        "--cc",
        "--exe",
        "--build",
        "-j",
        "2",
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "fast",
        "--noassert",
        "--no-timing",
    ]
    command += [
        "-Wno-fatal",
        "-Wno-WIDTH",
        "--top-module",
        TOP,
        "-Mdir",
        "obj",
        "-MAKEFLAGS",
        shlex.join(MAKE_FLAGS),
        "-CFLAGS",
        "-O2",
        *map(str, map(plain, [*files, HARNESS])),
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "VERILATOR_ROOT": str(tool.root)},
        check=False,
    )
    if done.returncode:
        raise ToolError("building the C++ harness failed", (done.stdout + done.stderr)[-4000:], " ".join(command))
