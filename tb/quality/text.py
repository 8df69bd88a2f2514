"""Rules about the HDL that its text alone shows: what hardware may say, one file per module, the one list of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pymodels.hardware.discover import nic_kinds
from tb.build.build import listed_files
from tb.quality.check import Check
from tb.tools.paths import ROOT

HDL = ROOT / "hdl"
BENCHES = ROOT / "tests" / "block" / "hdl"
NOT_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
DELAY = re.compile(r"([A-Za-z_$][\w$]*|\S)?\s*#\s*([\w.]+|\()")
BEFORE_DELAY = set(
    "assign begin end else initial always forever wire and or not buf nand nor xor".split()  # noqa: SIM905 - a list of words reads best
)
"""Words before `#(` that make it a delay; after any other word it gives a module's parameters."""
FORBIDDEN = {
    re.compile(r"\$(time|stime|realtime|random|urandom|fopen|system)\b"): "simulation only: time comes in as `cycle`",
    re.compile(r"\b(negedge|wait|fork|force|release)\b"): "simulation only: one edge, of the clock, and no waiting",
    re.compile(r'\b(?:import|export)\s*"'): "simulation only: no DPI outside hdl/sim",
    re.compile(r"\b(interface|modport|inside|break)\b"): "outside the dialect that both simulators take",
    re.compile(r"\bunique\s+if\b"): "outside the dialect that both simulators take",
}
PORT = re.compile(r"^\s*(?:input|output|inout|parameter)\b")
IMPORT = re.compile(r"\bimport\s+\w+::\*\s*;")
UNIT = re.compile(r"^\s*(module|package)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)


def hdl_files() -> list[Path]:
    """All SystemVerilog files of the repository, sorted."""
    return sorted([*HDL.rglob("*.sv"), *BENCHES.glob("*.sv")])


def is_hardware(path: Path) -> bool:
    """Whether a file is of no bench, and in no folder `sim`: neither `hdl/sim` nor one beside the blocks it is for."""
    return path.is_relative_to(HDL) and "sim" not in path.parent.parts[len(HDL.parts) :]


def uncommented(text: str) -> str:
    """Return source text without comments; lines keep their numbers."""
    return NOT_TEXT.sub(lambda found: found[0] if found[0][0] == '"' else "\n" * found[0].count("\n"), text)


def bare(text: str) -> str:
    """Source text without comments; strings are left as two quotation marks, lines keep their numbers."""
    return NOT_TEXT.sub(lambda found: ('""' if found[0][0] == '"' else "") + "\n" * found[0].count("\n"), text)


def _places(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Line number and match, for every match."""
    for found in pattern.finditer(text):
        yield text.count("\n", 0, found.end()) + 1, found


def unlike_hardware(text: str) -> list[tuple[int, str]]:
    """What a file outside hdl/sim may not contain: line and complaint."""
    source = bare(text)
    found = [
        (line, f"`{' '.join(match[0].split())}`: {reason}")
        for pattern, reason in FORBIDDEN.items()
        for line, match in _places(source, pattern)
    ]
    for line, match in _places(IMPORT.sub("", source), DELAY):
        parameters = match[2] == "(" and re.match(r"\w", match[1] or "") and match[1] not in BEFORE_DELAY
        if not parameters:
            found.append((line, "a delay: simulation only"))
    return sorted(found)


def badly_formed(path: Path, text: str) -> list[tuple[int, str]]:
    """What a file of hdl breaks of the rules for files: one unit of its name and prefix, a header, documented ports."""
    units = [found[2] for found in UNIT.finditer(bare(text))]
    prefixes = ("myri_", *(f"{kind}_" for kind in nic_kinds())) if is_hardware(path) else ("sim_",)
    found = []
    if units != [path.stem]:
        found.append((1, f"one module or package named {path.stem} expected, found: {', '.join(units) or 'none'}"))
    if not path.stem.startswith(prefixes):
        found.append((1, f"names here start with {' or '.join(prefixes)}"))
    if not text.startswith("//"):
        found.append((1, "a header comment says what it does and when"))
    for number, line in enumerate(text.splitlines(), 1):
        if PORT.match(line) and "//" not in line and is_hardware(path):
            found.append((number, "a port or parameter is documented on its line"))
    return found


def listed() -> list[str]:
    """What hdl/sources.f lacks, has twice, or names although it does not exist."""
    names = [path.relative_to(ROOT).as_posix() for path in listed_files(ROOT)]
    there = {path.relative_to(ROOT).as_posix() for path in hdl_files()}
    found = [f"hdl/sources.f: {name} is listed twice" for name in sorted({n for n in names if names.count(n) > 1})]
    found += [f"hdl/sources.f: {name} does not exist" for name in names if name not in there]
    return found + [f"hdl/sources.f: {name} is not listed" for name in sorted(there - set(names))]


def hardware() -> tuple[str, list[str]]:
    """Outside hdl/sim, and `sim` of a NIC, there is nothing that is not hardware."""
    files = [path for path in hdl_files() if is_hardware(path)]
    found = [_say(path, *one) for path in files for one in unlike_hardware(path.read_text(encoding="utf-8"))]
    return f"{len(files)} files", found


def form() -> tuple[str, list[str]]:
    """File names, the list of files, header comments, documented ports."""
    files = hdl_files()
    found = [_say(path, *one) for path in files for one in badly_formed(path, path.read_text(encoding="utf-8"))]
    return f"{len(files)} files", listed() + found


def _say(path: Path, line: int, complaint: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {complaint}"


CHECKS = (Check("hardware only", hardware), Check("hdl files", form))
