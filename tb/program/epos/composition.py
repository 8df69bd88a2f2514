"""Page about the compositions of EPOS: pipeline, header, memory, and cost of each path.

`python -m tb.program.epos.composition reliability+flow` writes `sim_build/epos_composition/index.html`, which shows
that composition first and offers all compiled ones. The tables come from the code: point-cuts and protocols
(`firmware/epos/nic/pointcuts.py`), memory layout (`layout.py`), committed costs of the paths. The page needs neither
network nor script.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import POINTCUTS, PROTOCOLS, composed, hooks
from firmware.epos.nic.protocols.active import SWITCHED
from firmware.epos.options import SETS, Options
from pymodels.costs import PathTable
from pymodels.errors import SanlabError, nearest
from tb.report.markup import section
from tb.report.page import document
from tb.report.tables import Table

LAYER = "epos"
NODES = 8
COMPOSITIONS: tuple[tuple[str, ...], ...] = ((), *SETS)
WORDS = (
    "kind, source, number at its source",
    "composition, message, number in it",
    "last, source, communicator, bytes",
)
OUT = Path("sim_build") / "epos_composition"


class Named:
    """Stand-in for a protocol at its point-cuts: each call is the protocol's name."""

    def __init__(self, side: str, name: str) -> None:
        module = f"firmware.{LAYER}.{side}.protocols.{name}"
        methods = dir(import_module(module).Side) if find_spec(module) else ()
        for cut in POINTCUTS:
            if cut.side == side and cut.name in methods:
                setattr(self, cut.name, name)

    def switched(self, name: str, call: str) -> str:
        """Return a call, with a condition if frames select the protocol."""
        return f"{call}, if the frame says so" if name in SWITCHED else call


def pipeline(chosen: Sequence[str]) -> Table:
    """Return the table of called protocols by point-cut, in order."""
    rows: list[tuple[str, ...]] = []
    for side in ("host", "nic"):
        called = hooks(side, {name: Named(side, name) for name in chosen})
        cuts = [cut for cut in POINTCUTS if cut.side == side]
        rows += [(side, cut.name, cut.when, " → ".join(map(str, called[cut.name])) or "no protocol") for cut in cuts]
    return Table(("side", "point-cut", "when", "called protocols"), tuple(rows), words=4)


def header(chosen: Sequence[str]) -> Table:
    """Return the table of the words in a frame's header."""
    place = _place(chosen)
    owners = {at: name for name, at in place.words.items()}
    told = {one.name: one.description for one in PROTOCOLS}
    rows = [
        (str(4 * at), owners.get(at, "baseline"), WORDS[at] if at < len(WORDS) else told[owners[at]])
        for at in range(place.header)
    ]
    return Table(("byte", "owner", "content or purpose"), tuple(rows), words=3)


def memory(chosen: Sequence[str]) -> Table:
    """Return the table of the NIC's memory (card with doorbells, 8 nodes), compared with the baseline."""
    bare, here = _place(()).parts, _place(chosen).parts
    rows = [
        (name, f"{at:#07x}", f"{size:,}", f"{more:+,}" if (more := size - bare.get(name, (0, 0))[1]) else "")
        for name, (at, size) in here.items()
    ]
    total, before = (sum(size for _, size in parts.values()) for parts in (here, bare))
    rows.append(("all", "", f"{total:,}", f"{total - before:+,}" if total != before else ""))
    return Table(("region", "address", "bytes", "change from the baseline"), tuple(rows))


def counts(chosen: Sequence[str]) -> Table:
    """Return the table of instructions of each path, compared with the baseline."""
    rows = []
    for side in ("host", "nic"):
        bare, here = (PathTable.load(side, LAYER, composition=one).paths for one in ((), tuple(chosen)))
        for name, cost in here.items():
            more = cost.instructions - (bare[name].instructions if name in bare else 0)
            rows.append((side, name, str(cost.instructions), f"{more:+}" if more else ""))
    return Table(("side", "path", "instructions", "change from the baseline"), tuple(rows), words=2)


def added(chosen: Sequence[str]) -> Table:
    """Return the table of each protocol's additional cost, alone and together. Own paths of a protocol are
    not included.
    """
    rows = [_added(name, (name,)) for name in chosen]
    return Table(
        ("protocol", "turn", "header, B", "NIC's memory, B", "instructions of the host", "of the NIC"),
        (*rows, _added("together", tuple(chosen))) if len(chosen) > 1 else tuple(rows),
    )


def _added(name: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
    bare, here = _place(()), _place(chosen)
    memory = (sum(size for _, size in one.parts.values()) for one in (here, bare))
    more = []
    for side in ("host", "nic"):
        one, other = (PathTable.load(side, LAYER, composition=parts).paths for parts in ((), chosen))
        more.append(sum(other[path].instructions - cost.instructions for path, cost in one.items()))
    turn = next((str(one.turn) for one in PROTOCOLS if one.name == name), "")
    added_memory = next(memory) - next(memory)
    sizes = f"{here.header_bytes - bare.header_bytes:+}", f"{added_memory:+,}"
    return name, turn, *sizes, *(f"{one:+}" for one in more)


def _place(chosen: Sequence[str]) -> Place:
    """Return the memory layout with the repository's default sizes."""
    return Place(Options.from_values({"protocols": "+".join(chosen)}).on(True), NODES)


def page(first: Sequence[str]) -> str:
    """Return the page, which shows composition `first` initially."""
    shown = COMPOSITIONS.index(tuple(first))
    style = "".join(f"#c{at}:checked ~ #s{at}{{display:block}}" for at in range(len(COMPOSITIONS)))
    told = "input[name=c]{position:absolute;opacity:0}label,h2{overflow-wrap:anywhere}"
    told += "label{display:inline-block;margin:.2em .8em .2em 0}.of{display:none}"
    told += "input:checked+label{font-weight:bold;text-decoration:underline}"
    parts = [
        "<header><h1>Composition of EPOS</h1>",
        '<p class="soft">Choose a composition. Sizes are those of the default options, 8 nodes, LANai 9.</p></header>',
        f"<style>{told}{style}</style>",
    ]
    for at, one in enumerate(COMPOSITIONS):
        checked = " checked" if at == shown else ""
        parts.append(
            f'<input type="radio" name="c" id="c{at}"{checked}><label for="c{at}">{escape(_name(one))}</label>'
        )
    for at, one in enumerate(COMPOSITIONS):
        parts.append("\n".join([f'<div class="of" id="s{at}">', *_of(one), "</div>"]))
    return document("Composition of EPOS", parts)


def _name(chosen: Sequence[str]) -> str:
    return "+".join(chosen) or "the baseline alone"


def _of(chosen: Sequence[str]) -> Iterator[str]:
    """Yield the sections about a composition."""
    yield f"<h2>{escape(_name(chosen))}</h2>"
    yield from chain(
        section("Cost of each protocol", added(chosen)),
        section("Pipeline", pipeline(chosen)),
        section("Header of a frame", header(chosen)),
        section("Memory of the NIC", memory(chosen)),
        section("Instructions of each path", counts(chosen)),
    )


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the page, and return the exit code."""
    parser = argparse.ArgumentParser(description="Write a page about a composition of EPOS.")
    parser.add_argument(
        "protocols", nargs="?", default="", help="protocols, such as reliability+flow (default: the baseline)"
    )
    parser.add_argument("--out", default=str(OUT), help="folder")
    words = parser.parse_args(arguments)
    try:
        chosen = composed(words.protocols)
        if chosen not in COMPOSITIONS:
            known = ["+".join(one) for one in COMPOSITIONS]
            raise SanlabError(f"composition {words.protocols!r}", "not compiled", nearest(words.protocols, known))
    except SanlabError as error:
        print(error, file=sys.stderr)
        return 2
    folder = Path(words.out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(page(chosen), encoding="utf-8")
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
