"""Rules for the HDL that its text shows: hardware subset, one file a module, complete list of files, named symbols."""

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
"""Words before `#(` that make it a delay; after other words it begins module parameters."""
FORBIDDEN = {
    re.compile(
        r"\$(time|stime|realtime|random|urandom|fopen|system)\b"
    ): "simulation only: use the input `cycle` for time",
    re.compile(r"\b(negedge|wait|fork|force|release)\b"): "simulation only: use one clock edge, and no waits",
    re.compile(r'\b(?:import|export)\s*"'): "simulation only: no DPI outside hdl/sim",
    re.compile(r"\b(interface|modport|inside|break)\b"): "outside the dialect that both simulators take",
    re.compile(r"\bunique\s+if\b"): "outside the dialect that both simulators take",
}
PORT = re.compile(r"^\s*(?:input|output|inout|parameter)\b")
IMPORT = re.compile(r"\bimport\s+\w+::\*\s*;")
CHARACTER = re.compile(r"\b9'[hH][0-9a-fA-F_]+")
UNIT = re.compile(r"^\s*(module|package)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)


def hdl_files() -> list[Path]:
    """Return all SystemVerilog files of the repository, sorted."""
    return sorted([*HDL.rglob("*.sv"), *BENCHES.glob("*.sv")])


def is_hardware(path: Path) -> bool:
    """Return True if a file is outside of benches and of all folders `sim`."""
    return path.is_relative_to(HDL) and "sim" not in path.parent.parts[len(HDL.parts) :]


def uncommented(text: str) -> str:
    """Return source text without comments; lines keep their numbers."""
    return NOT_TEXT.sub(lambda found: found[0] if found[0][0] == '"' else "\n" * found[0].count("\n"), text)


def bare(text: str) -> str:
    """Return a source without comments and with empty strings; line numbers are unchanged."""
    return NOT_TEXT.sub(lambda found: ('""' if found[0][0] == '"' else "") + "\n" * found[0].count("\n"), text)


def _places(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield line number and match for each match."""
    for found in pattern.finditer(text):
        yield text.count("\n", 0, found.end()) + 1, found


def unlike_hardware(text: str) -> list[tuple[int, str]]:
    """Return line and complaint for constructs that hardware files may not contain."""
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
    """Return line and complaint for violations of the file rules: one unit with the file's name and prefix, a header
    comment, documented ports.
    """
    units = [found[2] for found in UNIT.finditer(bare(text))]
    prefixes = ("myri_", *(f"{kind}_" for kind in nic_kinds())) if is_hardware(path) else ("sim_",)
    found = []
    if units != [path.stem]:
        found.append((1, f"one module or package named {path.stem} expected, found: {', '.join(units) or 'none'}"))
    if not path.stem.startswith(prefixes):
        found.append((1, f"names in this folder start with {' or '.join(prefixes)}"))
    if not text.startswith("//"):
        found.append((1, "missing header comment about function and timing"))
    for number, line in enumerate(text.splitlines(), 1):
        if PORT.match(line) and "//" not in line and is_hardware(path):
            found.append((number, "port or parameter without a comment on its line"))
    return found


def nameless(text: str) -> list[tuple[int, str]]:
    """Return line and complaint for hexadecimal literals of 9 bits, which are characters of a link or register offsets.

    A package gives each such value its name.
    """
    reason = "a value without a name; use the symbols of myri_symbol_pkg or a constant of a package"
    return [(line, f"`{match[0]}`: {reason}") for line, match in _places(bare(text), CHARACTER)]


def listed() -> list[str]:
    """Return the files that hdl/sources.f lacks, has twice, or names although they do not exist."""
    names = [path.relative_to(ROOT).as_posix() for path in listed_files(ROOT)]
    there = {path.relative_to(ROOT).as_posix() for path in hdl_files()}
    found = [f"hdl/sources.f: {name} is listed twice" for name in sorted({n for n in names if names.count(n) > 1})]
    found += [f"hdl/sources.f: {name} does not exist" for name in names if name not in there]
    return found + [f"hdl/sources.f: {name} is not listed" for name in sorted(there - set(names))]


def hardware() -> tuple[str, list[str]]:
    """Check that files outside of folders `sim` contain only hardware."""
    files = [path for path in hdl_files() if is_hardware(path)]
    found = [_say(path, *one) for path in files for one in unlike_hardware(path.read_text(encoding="utf-8"))]
    return f"{len(files)} files", found


def form() -> tuple[str, list[str]]:
    """Check file names, the list of files, header comments, documented ports and named characters."""
    files = hdl_files()
    found = [_say(path, *one) for path in files for one in badly_formed(path, path.read_text(encoding="utf-8"))]
    named = [path for path in files if not path.stem.endswith("_pkg")]
    named += [*HDL.rglob("*.svh"), *BENCHES.rglob("*.svh")]
    found += [_say(path, *one) for path in named for one in nameless(path.read_text(encoding="utf-8"))]
    return f"{len(files)} files", listed() + found


def _say(path: Path, line: int, complaint: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {complaint}"


CHECKS = (Check("hardware only", hardware), Check("hdl files", form))
