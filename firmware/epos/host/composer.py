"""Generator of EPOS: writes the C headers with the protocols and the calls at each point-cut (paper 004, 2.1).

`python -m firmware.epos.host.composer` writes `composed.h`, `words.h` and `hooks.h`. With `--check` it compares them,
and exits with 1 if one is stale. Its input is the table of point-cuts, and the modules and headers in `protocols/` of
both sides. A protocol's method is named after the protocol and the point-cut, such as `flow_frame`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from firmware.epos.nic.pointcuts import POINTCUTS, PROTOCOLS, PointCut
from firmware.epos.nic.protocols import Protocol

HERE = Path(__file__).parent
SIDES = {"nic": HERE.parent / "nic", "host": HERE}
KINDS = ("WORDS", "BUFFER")
"""State that a protocol may add to its side and to a buffer of the Receive Ring, as in `#define FLOW_WORDS ...`."""


def written() -> dict[Path, str]:
    """Return the text of each generated file."""
    texts = {SIDES["nic"] / "composed.h": _composed()}
    for side, folder in SIDES.items():
        headers = {one.name: folder / "protocols" / f"{one.name}.h" for one in PROTOCOLS}
        there = {name: path.read_text(encoding="utf-8") for name, path in headers.items() if path.exists()}
        texts[folder / "words.h"] = _guarded("EPOS_WORDS_H", _words(there))
        texts[folder / "hooks.h"] = _guarded("EPOS_HOOKS_H", _hooks(side, there))
    return texts


def _guarded(guard: str, lines: Iterator[str]) -> str:
    """Return the text of a header with its include guard."""
    told = "/* Written by `python -m firmware.epos.host.composer` from pointcuts.py and protocols/; do not edit. */"
    return "\n".join([told, f"#ifndef {guard}", f"#define {guard}", *lines, "", "#endif", ""])


def _composed() -> str:
    """Return the text of `composed.h`: selection, bit and header word of each protocol."""
    return _guarded("EPOS_COMPOSED_H", _table())


def _table() -> Iterator[str]:
    bits = [f"BIT_{one.name.upper()}" for one in PROTOCOLS]
    for one in PROTOCOLS:
        name = one.name.upper()
        yield from (f"#ifdef WITH_{name}", f"#define HAS_{name} 1", "#else", f"#define HAS_{name} 0", "#endif")
    controls = " || ".join(f"HAS_{one.name.upper()}" for one in PROTOCOLS if one.controls)
    yield f"#define HAS_CONTROL ({controls})"
    yield from (
        "",
        "/* Words of a frame's header: those of the baseline, then those of each selected protocol, in their order. */",
    )
    yield from ("enum {", "    EPOS_KEY,", "    EPOS_NUMBER,", "    EPOS_INFO,")
    at = "3"
    for one in PROTOCOLS:
        if one.header:
            yield f"    EPOS_{one.name.upper()} = {at},"
            at = f"EPOS_{one.name.upper()} + {one.header} * HAS_{one.name.upper()}"
    yield from (f"    HEADER_WORDS = {at}", "};")
    yield from ("", "/* The number of the composition, which its frames carry: a bit for each protocol. */")
    yield from ("enum {", *(f"    {bit}," for bit in bits), "    COMPOSITION =")
    terms = [f"        HAS_{one.name.upper()} << BIT_{one.name.upper()}" for one in PROTOCOLS]
    yield from (*(f"{term} |" for term in terms[:-1]), terms[-1], "};")


def _words(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that define the state of the selected protocols."""
    named: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, text in headers.items():
        adds = [kind for kind in KINDS if re.search(rf"^#define {name.upper()}_{kind} ", text, re.MULTILINE)]
        if adds:
            yield from (f"#if IN_BUILD(HAS_{name.upper()})", f'#include "protocols/{name}.h"', "#else")
            yield from (f"#define {name.upper()}_{kind}" for kind in adds)
            yield "#endif"
        for kind in adds:
            named[kind].append(f"{name.upper()}_{kind}")
    yield ""
    for kind, words in named.items():
        if words:
            yield f"#define PROTOCOL_{kind} {' '.join(words)}"


def _hooks(side: str, headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that define the calls at the point-cuts of a side, in order."""
    for name in headers:
        yield from (f"#if IN_BUILD(HAS_{name.upper()})", f'#include "protocols/{name}.h"', "#endif")
    for cut in POINTCUTS:
        if cut.side == side:
            calls = [(one.name, _call(cut, one, headers.get(one.name, ""))) for one in PROTOCOLS]
            named = [(name, call) for name, call in calls if call]
            yield from ("", *_called(cut, named[::-1] if cut.receiving else named))


def _call(cut: PointCut, one: Protocol, text: str) -> str:
    """Return a protocol's call at a point-cut: its method, a 0 for its header word, or an empty text."""
    if f"INLINE void {one.name}_{cut.name}(" in text:
        return f"{one.name}_{cut.name}({cut.given})"
    return "PIO_WRITE(0)" if one.header and cut.name == "frame" else ""


def _called(cut: PointCut, named: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the macros of a point-cut: one for each protocol, and one that calls them all."""
    state, calls = cut.given.split(",")[0], []
    for name, method in named:
        call = f"{name.upper()}_{cut.name.upper()}({cut.given})"
        yield from (f"#if IN_BUILD(HAS_{name.upper()})",)
        yield f"#define {call} CALL({state}, BIT_{name.upper()}, {method})"
        yield from ("#else", f"#define {call} ((void)0)", "#endif")
        calls.append(f"        {call}; \\")
    at = f"#define AT_{cut.name.upper()}({cut.given})"
    yield from ([f"{at} \\", "    do { \\", *calls, "    } while (0)"] if calls else [f"{at} ((void)0)"])


def main(arguments: list[str]) -> int:
    """Run the command line and return the exit code."""
    stale = 0
    for path, text in written().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale += 1
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path}: {'is stale' if '--check' in arguments else 'written'}")
    return int(stale > 0 and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
