"""Builds of a design for one simulator, cached by content.

The name of a build's folder contains a hash of all its inputs: sources, parameters, flags, the doorway, Python, cocotb
and the simulator. `tb/build/store.py` keeps the folder.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from pymodels.errors import nearest
from pymodels.roots import roots
from tb.build import compilers, domains, doorway
from tb.build.compilers import DOORWAY, TWIN, VERILATOR, Job
from tb.build.doorway import copy_doorway
from tb.build.store import kept_by_sources
from tb.tools import programs
from tb.tools.paths import SIMULATORS
from tb.tools.plain import plain
from tb.tools.programs import ToolError

NATIVE = (DOORWAY, VERILATOR, TWIN)
"""Folders of the C and C++ sources of every program."""
MAKE_FLAGS = compilers.MAKE_FLAGS
"""Make variables for programs built directly from Verilator's output."""
LOADED = b"".join(Path(one.__file__ or "").read_bytes() for one in (sys.modules[__name__], compilers, domains, doorway))
"""Text of the modules that make builds when they were loaded, which builds follow even if the files change later."""


@dataclass(frozen=True)
class Design:
    """Design to build: top-level module, parameters, and generated sources in addition to those of `hdl/sources.f`."""

    top: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    generated: Mapping[str, str] = field(default_factory=dict)
    """Generated files by name (`top.sv`, `components.h`); part of the hashed content."""
    clocked: bool = False
    """True if the simulator drives the clocks (a cluster); false if cocotb does (a block bench)."""
    library: bool = False
    """True for a model library without a program."""
    domains: tuple[tuple[str, ...], ...] = ()
    """Pins by clock of a library: those whose edges belong to the clock (tb/build/domains.py)."""
    models: tuple[Design, ...] = ()
    """Libraries whose models the program evaluates in addition to its top."""
    split: Design | None = None
    """Equivalent design as component models, which Verilator runs instead."""


@dataclass(frozen=True)
class Build:
    """Completed build."""

    simulator: str
    folder: Path
    top: str
    cached: bool


def source_files() -> list[Path]:
    """Return the HDL files of all roots, this tree first. Raises ToolError for a module name in two files."""
    found: dict[str, Path] = {}
    for path in (path for root in roots() for path in listed_files(root)):
        if path.stem in found:
            what, cause = f"two modules are named {path.stem!r}", f"{found[path.stem]} and {path}"
            raise ToolError(what, cause, "rename one")
        found[path.stem] = path
    return list(found.values())


def listed_files(root: Path) -> list[Path]:
    """Return the HDL files of a root in the order of its `hdl/sources.f`; none without that list.

    A line that ends with `/` includes all files below that folder, packages first.
    """
    file = root / "hdl" / "sources.f"
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    names = [line.strip() for line in lines if line.strip() and not line.startswith("//")]
    return [file for name in names for file in (_folder(root / name) if name.endswith("/") else [root / name])]


def _folder(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.sv"), key=lambda path: (not path.stem.endswith("_pkg"), path))


def needed_files(design: Design) -> list[Path]:
    """Return the listed files that a design uses directly or indirectly, in the order of the list."""
    return [path for path in content(design) if path.suffix == ".sv"]


def content(design: Design) -> list[Path]:
    """Return the files that a design uses and their include files. Other files do not affect its build."""
    headers = [path for folder in compilers.HEADERS for path in sorted(folder.glob("*.svh"))]
    made = {Path(name).stem for name in design.generated}  # replaces a listed file of the same name
    known = {path.stem: path for path in [*headers, *source_files()] if path.stem not in made}
    needed: set[str] = set()
    texts = list(design.generated.values())
    if design.top in known:
        needed.add(design.top)
        texts.append(known[design.top].read_text(encoding="utf-8"))
    while texts:
        words = set(re.findall(r"[A-Za-z_]\w*", texts.pop()))
        if "SAN" in words:  # the macro by which modules call the doorway
            words.add("sim_doorway_pkg")
        found = words & known.keys() - needed
        needed |= found
        texts.extend(known[name].read_text(encoding="utf-8") for name in found)
    return [path for stem, path in known.items() if stem in needed]


class Kind(NamedTuple):
    """Build options of a design."""

    simulator: str
    waves: bool = False
    public: bool = False
    """True to call only Verilator's public interface (`run.public_eval`)."""


def build(design: Design, simulator: str, waves: bool = False, public: bool = False) -> Build:
    """Return the build of a design, made now if necessary.

    Args:
        design: Design to build.
        simulator: Name of the simulator.
        waves: True for a build that can write waves.
        public: Evaluate models by Verilator's public `eval_step`, which is also the case for a Verilator other than the
            pinned version.

    Raises:
        ToolError: Unknown simulator or compiler error, with the compiler's message.
    """
    if simulator not in SIMULATORS:
        remedy = nearest(simulator, SIMULATORS)
        raise ToolError(f"unknown simulator {simulator!r}", "SIM names the simulator", remedy)
    programs.check_compilers()
    if simulator == "icarus":
        programs.icarus()
    elif design.split:
        design = design.split
    kind = Kind(simulator, waves, simulator == "verilator" and (public or not programs.verilator().pinned))
    made, prefix = design, f"{simulator}-{design.top}"
    folder, cached = kept_by_sources(
        lambda: f"{prefix}-{_digest(made, kind)}", lambda scratch: _make(made, kind, scratch)
    )
    return Build(simulator, folder, design.top, cached)


def _make(design: Design, kind: Kind, folder: Path) -> None:
    models = {model.top: build(model, *kind).folder for model in design.models}
    for name, text in design.generated.items():
        (folder / name).write_text(text, encoding="utf-8")
    generated = [folder / name for name in design.generated if name.endswith(".sv")]
    sources = tuple(map(plain, (*needed_files(design), *generated)))
    control = tuple(folder / name for name in design.generated if name.endswith(".vlt"))
    inputs = design.top, design.parameters, sources, design.clocked
    job = Job(*inputs, kind.waves, folder, models, design.domains, control, kind.public)
    if design.library:
        compilers.compile_model(job)
        return
    copy_doorway(folder)
    (compilers.compile_verilator if kind.simulator == "verilator" else compilers.compile_icarus)(job)


def _digest(design: Design, kind: Kind) -> str:
    versions = version("cocotb"), sys.version, bool(programs.python_headers())
    given = (sorted(design.parameters.items()), design.clocked, design.domains, *kind, *versions)
    digest = hashlib.sha256(repr(given).encode())
    if kind.simulator == "verilator":
        digest.update(programs.verilator().version.encode())
    for model in design.models:
        digest.update(_digest(model, kind).encode())
    for name in sorted(design.generated):
        digest.update(name.encode() + design.generated[name].encode())
    native = [] if design.library else [file for folder in NATIVE for file in sorted(folder.glob("*.[ch]*"))]
    native += [compilers.UNTRACED, *(VERILATOR / name for name in compilers.WAVES_CPP)] if kind.waves else []
    digest.update(LOADED)
    for path in [*content(design), *native, compilers.DRIVERS]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
