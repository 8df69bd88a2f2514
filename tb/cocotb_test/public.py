"""Public signals of a test file: stable names of all signals, and the design in which the declared ones are visible."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pymodels.errors import ConfigError, nearest
from tb.build import compilers
from tb.build.build import Design, needed_files
from tb.build.instances import word
from tb.cocotb_test.hierarchy import Signal, signals
from tb.nics.view import NODE_PLACES, SWITCH_PLACES
from tb.plan.request import Plan
from tb.report.waves import nic_view
from tb.tools import programs
from tb.tools.plain import plain

CONTROL = "public.vlt"
"""Generated file with the public signals; Verilator then builds one model and calls back at each change."""
NAMES = "names.json"
"""File with all stable names."""
TOP = "top.cluster."
WIRES = "  sim_pci_names pci_{host} (.clk({bus}.clk), .wires({bus}.wires));\n"
BUS = "cluster.host_{host}.host.segment.segment"


class Found(NamedTuple):
    """Signals of a design."""

    paths: Mapping[str, str]
    """Hierarchical name of each signal by its stable names."""
    sources: Mapping[str, Signal]
    """Module and name of each signal by its hierarchical name."""


def with_names(design: Design, understood: Plan) -> Design:
    """Return a cluster's design as one model in which the wires of each PCI bus have names of their own."""
    hosts = map(word, understood.cluster.names)
    views = "".join(WIRES.format(host=host, bus=BUS.format(host=host)) for host in hosts)
    top = design.generated["top.sv"].replace("endmodule", f"{views}endmodule")
    return replace(design, generated={**design.generated, "top.sv": top}, split=None)


def with_public(design: Design, found: Found, patterns: Sequence[str], file: str) -> tuple[Design, dict[str, str]]:
    """Return a design with public signals, and the hierarchical names of these signals by stable name.

    Args:
        design: Design of `with_names`.
        found: Its signals.
        patterns: PUBLIC of the test file; `*` stands for any text.
        file: Name of the test file for messages.

    Raises:
        ConfigError: A pattern matches no signal.
    """
    public: dict[str, str] = {}
    for pattern in patterns:
        matches = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        names = [name for name in found.paths if matches.fullmatch(name)]
        if not names:
            what, cause = "PUBLIC", f"{pattern!r} matches no signal of this cluster"
            raise ConfigError(file, 0, what, cause, nearest(pattern, found.paths))
        public.update({name: found.paths[name] for name in names})
    lines = sorted({f'public_flat_rd -module "{s.module}" -var "{s.name}"\n' for s in _sources(found, public)})
    generated = {**design.generated, CONTROL: "".join(["`verilator_config\n", *lines])}
    return replace(design, generated=generated), public


def _sources(found: Found, public: Mapping[str, str]) -> Iterator[Signal]:
    return (found.sources[path] for path in public.values())


def find(design: Design, understood: Plan) -> Found:
    """Return the signals of a design with their stable names. Raises ToolError if Verilator rejects the design."""
    tool = programs.verilator()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in design.generated.items():
            (folder / name).write_text(text, encoding="utf-8")
        files = [*map(plain, needed_files(design)), *(folder / n for n in design.generated if n.endswith(".sv"))]
        flags = ["--json-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--Mdir", "tree"]
        command = [tool.binary, *flags, "--top-module", design.top, "-I.", *compilers.INCLUDES, *map(str, files)]
        compilers.run_tool(command, folder, "reading the signals", {"VERILATOR_ROOT": str(tool.root)})
        sources = signals(folder / "tree" / "Vtop.tree.json")
    return Found({stable: path for path in sources for stable in _stable(path, understood)}, sources)


def _stable(path: str, understood: Plan) -> Iterator[str]:
    """Yield the stable names of a signal: the shortest place first, then the path below the host or switch."""
    topology = understood.cluster.topology
    nodes = [(host, f"host_{word(host)}", {**NODE_PLACES, **nic_view(understood.profile.kind).places})
             for host in understood.cluster.names]  # fmt: skip
    nodes += [(switch.name, f"switch_{word(switch.name)}", SWITCH_PLACES) for switch in topology.switches]
    for name, scope, places in nodes:
        own = f"{TOP}{scope}."
        if path.startswith(own):
            inside = path.removeprefix(own)
            for place, below in places.items():
                if (match := re.match(below, inside)) is not None:
                    yield f"{name}.{match.expand(place)}{inside[match.end() :]}"
            yield f"{name}.{inside}"
        elif path.startswith(f"top.pci_{word(name)}."):
            yield f"{name}.pci.{path.rsplit('.', 1)[1]}"


def save(folder: Path, found: Iterable[str]) -> None:
    """Write all stable names, for the messages about signals that are not public."""
    (folder / NAMES).write_text(json.dumps(sorted(found)), encoding="utf-8")


def load(folder: str) -> list[str]:
    """Return all stable names; empty if the test file declares no public signals."""
    return list(json.loads((Path(folder) / NAMES).read_text(encoding="utf-8")))
