"""Check for an `always_comb` that writes a variable as a whole and in part.

On Icarus each write is an event. Two such processes wake each other forever at one time, although all values have
settled (`tests/tools/test_icarus_events.py` shows it). A struct needs one `assign` a field; a vector is assembled in a
variable of the process. In simulation modules, settings bundles are exempt, since they do not change after reset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tb.quality.check import Check
from tb.quality.text import bare, hdl_files, is_hardware
from tb.tools.paths import ROOT

PROCESS = re.compile(r"\balways_comb\b")
WORD = re.compile(r"\b(?:begin|end|case[xz]?|endcase)\b|;")
WHOLE = re.compile(r"(?<![\w.\]'])(\w+)\s*=(?!=)")
PART = re.compile(r"(?<![\w.'])(\w+)(?:\.\w[\w.]*(?:\[[^\]]*\])?|\[[^\]=]*\])\s*=(?!=)")
OWN = re.compile(r"\blogic\b(?:\s*\[[^\]]*\])*\s+([^;]*);")
REMEDY = "give each field one `assign`, put a vector together in a variable of the process"
SETTINGS = re.compile(r"\b\w+_settings_t\s+([^;]*)")


def twice_written(text: str, hardware: bool = True) -> list[tuple[int, str]]:
    """Return line and name of each variable that one process writes whole and in part, except its local variables."""
    source = bare(text)
    still = set() if hardware else _names(SETTINGS, source)
    return [
        (source.count("\n", 0, begin) + 1, name)
        for begin, body in _processes(source)
        for name in sorted(set(WHOLE.findall(body)) & set(PART.findall(body)) - still - _names(OWN, body))
    ]


def _names(declarations: re.Pattern[str], text: str) -> set[str]:
    """Return the names in declarations."""
    return {name for found in declarations.finditer(text) for name in re.findall(r"\w+", found[1])}


def _processes(source: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the statement of each `always_comb`."""
    for process in PROCESS.finditer(source):
        depth = 0
        for found in WORD.finditer(source, process.end()):
            depth += {";": 0, "end": -1, "endcase": -1}.get(found[0], 1)
            if depth == 0:
                yield process.start(), source[process.end() : found.end()]
                break


def events() -> tuple[str, list[str]]:
    """Check that no process writes a variable as a whole and in part, in all HDL files."""
    files = hdl_files()
    found = [
        f"{path.relative_to(ROOT)}:{line}: `{name}` is written whole and in part; {REMEDY}"
        for path in files
        for line, name in twice_written(path.read_text(encoding="utf-8"), is_hardware(path))
    ]
    return f"{len(files)} files", found


CHECKS = (Check("hdl events", events),)
