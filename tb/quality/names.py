"""Check of names in HDL against `hdl/README.md`: flops have a suffix, and port names match their direction.

It reads only the text (ports, and targets of `<=`), so it takes a second and runs before other tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tb.quality.check import Check
from tb.quality.text import bare, hdl_files, is_hardware
from tb.tools.paths import ROOT

DIRECTIONS = {
    r"(\w+_)?(gated_clk|rst)": "input",
    r"cfg(_\w+)?": "input",
    r"((\w+_)?trace|tr_\w+|st_\w+|ev_\w+|status)": "output",
    r"(?!set_)(\w+_)?(busy|needed|in_flight|alarm)": "output",
}
"""Port name patterns of hardware with their direction. Simulation modules that monitor may have them as inputs."""
TRACE = re.compile(r"(\w+_)?trace")
"""Names of trace outputs: a module has at most one, a packed struct."""
GATHERS = {("myri_nic_events", "status")}
"""Modules, with a port, that assemble register bits from other modules' outputs."""
PAIRS = (("valid", "ready"), ("req", "gnt"), ("sram", "gnt"), ("gated_clk", "gated_needed"))
"""Name suffixes whose ports, with the same prefix, have opposite directions."""
KEPT = {"cfg", "cycle"}
"""Names exempt from the suffix of flops."""
ACTIVE_LOW = re.compile(r"(\w+_)?(frame|irdy|trdy|devsel|stop|req|gnt|req64|ack64|perr|serr|inta|requests|grants)_n")
PORT = re.compile(r"^\s*(input|output)\s+(?:\w+\s+)?(?:\[[^\]]*\]\s*)*(\w+)\s*(?=[,)]|$)", re.MULTILINE)
DECLARED = re.compile(r"^\s*(?:logic|int|longint|\w+_t)\b([^;]*);", re.MULTILINE)
LOOP = re.compile(r"\bfor\s*\((?:[^()]|\([^()]*\))*\)")
OPENING = re.compile(r"\s*(?:(?:if|case|always_ff\s*@|always\s*@)\s*\(|begin\b(?:\s*:\s*\w+)?|else\b|[\w'\s,]+:(?!:))")
TARGET = re.compile(r"\s*(\{[^{}]*\}|\w+)(?:\s*\[[^;=]*?\]|\.\w+)*\s*<=")
INDEX = re.compile(r"\[[^\]]*\]|\.\w+")


def ports(source: str) -> dict[str, str]:
    """Return the directions of a module's ports by name, from a source without comments."""
    return {found[2]: found[1] for found in PORT.finditer(source.split(");", 1)[0])}


def flops(source: str) -> set[str]:
    """Return the targets of `<=` in a source without comments."""
    found = set()
    for statement in re.split(r";|\bend\b", LOOP.sub(" ", source)):
        rest = _inner(statement)
        if target := TARGET.match(rest):
            found |= set(re.findall(r"[A-Za-z_]\w*", INDEX.sub("", target[1])))
    return found


def _inner(statement: str) -> str:
    """Return a statement without preceding conditions, labels and `begin`."""
    while opening := OPENING.match(statement):
        statement = statement[opening.end() :]
        if opening[0].endswith("("):
            statement = _after_parenthesis(statement)
    return statement


def _after_parenthesis(text: str) -> str:
    depth = 1
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[place + 1 :]
    return ""


def _declared(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the names declared in a module, each with True for a memory."""
    for found in DECLARED.finditer(source):
        for name, index in re.findall(r"(?:^|[\s\],])([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*(?=[,=]|$)", found[1]):
            yield name, bool(index)


def misnamed(path: Path, text: str) -> list[str]:
    """Return the complaints about names in a file."""
    source = bare(text)
    of_module = ports(source)
    found = _misnamed_state(source, of_module)
    if is_hardware(path):
        found += _misdirected(path.stem, of_module)
        found += _scattered(of_module)
        found += _numbered_states(source)
    return found + _unpaired(of_module)


def _misnamed_state(source: str, of_module: dict[str, str]) -> list[str]:
    declared = dict(_declared(source.split(");", 1)[-1]))
    state = flops(source)
    found = []
    for name in sorted(declared):
        if name in state and not (declared[name] or name in KEPT or name.endswith("_q")):
            found.append(f"`{name}` is a flop: {name}_q")
        if name.endswith("_q") and name not in state:
            found.append(f"`{name}` is not a flop: _q is for targets of `<=`")
        if name.endswith("_d") and f"{name[:-2]}_q" not in state and name[:-2] not in of_module:
            found.append(f"`{name}`: _d is for the input of a flop {name[:-2]}_q")
        if name.endswith("_n") and not ACTIVE_LOW.fullmatch(name):
            found.append(f"`{name}`: _n is for active-low PCI signals; the input of a flop ends in _d")
    return found


def _misdirected(module: str, of_module: dict[str, str]) -> list[str]:
    return [
        f"`{name}` is an {way}, but its name says {said}"
        for name, way in of_module.items()
        for pattern, said in DIRECTIONS.items()
        if re.fullmatch(pattern, name) and way != said and (module, name) not in GATHERS
    ]


def _scattered(of_module: dict[str, str]) -> list[str]:
    """Return a complaint about a module with several trace outputs."""
    traces = [name for name in of_module if TRACE.fullmatch(name)]
    listed = ", ".join(f"`{name}`" for name in traces)
    return [f"{listed}: several trace outputs; collect them in one packed struct"] if len(traces) > 1 else []


def _numbered_states(source: str) -> list[str]:
    """Return the complaints about state registers that are vectors."""
    return [
        f"`{name}` is a vector; declare an enumeration for the states"
        for name in re.findall(r"^\s*logic\s*\[[^\]]*\]\s*(\w*state_q)\s*;", source, re.MULTILINE)
    ]


def _unpaired(of_module: dict[str, str]) -> list[str]:
    return [
        f"`{name}` and `{other}` have the same direction"
        for one, two in PAIRS
        for name, way in of_module.items()
        if name.endswith(one) and (other := name[: -len(one)] + two) in of_module and of_module[other] == way
    ]


def names() -> tuple[str, list[str]]:
    """Check the names of flops and ports in all HDL files."""
    files = hdl_files()
    found = [
        f"{path.relative_to(ROOT)}: {complaint}"
        for path in files
        if not path.stem.endswith("_pkg")
        for complaint in misnamed(path, path.read_text(encoding="utf-8"))
    ]
    return f"{len(files)} files", found


CHECKS = (Check("hdl names", names),)
