"""Builds of a design for one simulator, cached by content.

A build's folder is named by a hash of everything that goes into it: sources, parameters, flags, tool versions, the doorway. It is
made in a scratch folder and renamed when complete, so that a killed build is never taken for a whole one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cocotb

from tb.sim import tools
from tb.sim.tools import OUT, ROOT, ToolError

SIM = ROOT / "hdl" / "sim"
DOORWAY_C = ("doorway.c", "processor.c", "host_cpu.c", "faults.c")
WHEEL_FLAG = "CFG_CXXFLAGS_PCH_I=-include"
"""The wheel leaves this make variable empty, and larger designs do not build without it."""


@dataclass(frozen=True)
class Design:
    """What is built: a top-level module, its parameters, and generated sources beside those of `hdl/sources.f`."""

    top: str
    parameters: Mapping[str, int] = field(default_factory=dict)
    generated: Mapping[str, str] = field(default_factory=dict)
    """Generated files by name (`top.sv`, `clocks.h`), part of the content."""
    clocked: bool = False
    """The simulator drives the clocks (a cluster); otherwise cocotb does (a block bench)."""


@dataclass(frozen=True)
class Build:
    """A finished build."""

    simulator: str
    folder: Path
    top: str
    cached: bool


def source_files() -> list[Path]:
    """The HDL files in the order of the one list, `hdl/sources.f`."""
    lines = (ROOT / "hdl" / "sources.f").read_text().split("\n")
    return [ROOT / line.strip() for line in lines if line.strip() and not line.startswith("//")]


def needed_files(design: Design) -> list[Path]:
    """The files of the list that a design names, directly or through others, in the list's order: a change elsewhere rebuilds nothing."""
    known = {path.stem: path for path in source_files()}
    needed: set[str] = set()
    texts = list(design.generated.values()) if design.generated else [known[design.top].read_text()]
    if not design.generated:
        needed.add(design.top)
    while texts:
        words = set(re.findall(r"[A-Za-z_]\w*", texts.pop()))
        if "SAN" in words:   # the macro by which modules call the doorway
            words.add("sim_doorway_pkg")
        found = words & known.keys() - needed
        needed |= found
        texts.extend(known[name].read_text() for name in found)
    return [path for stem, path in known.items() if stem in needed]


def build(design: Design, simulator: str, waves: bool = False) -> Build:
    """The build of a design, made now if it is not there. Raises ToolError with the compiler's words."""
    if simulator not in tools.SIMULATORS:
        raise ToolError(f"unknown simulator {simulator!r}", "SIM names the simulator", f"use one of: {', '.join(tools.SIMULATORS)}")
    tools.compiler()
    if simulator == "icarus":
        tools.icarus()
    folder = OUT / "builds" / f"{simulator}-{design.top}-{_digest(design, simulator, waves)}"
    with _lock(folder):
        if folder.is_dir():
            return Build(simulator, folder, design.top, cached=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
        try:
            for name, text in design.generated.items():
                (scratch / name).write_text(text)
            _doorway(scratch)
            (_verilator if simulator == "verilator" else _icarus)(design, scratch, waves)
            scratch.rename(folder)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    return Build(simulator, folder, design.top, cached=False)


def _digest(design: Design, simulator: str, waves: bool) -> str:
    h = hashlib.sha256(repr((sorted(design.parameters.items()), design.clocked, waves, simulator, cocotb.__version__, sys.version)).encode())
    if simulator == "verilator":
        h.update(str(tools.verilator().root).encode())
    for name in sorted(design.generated):
        h.update(name.encode() + design.generated[name].encode())
    for path in [*needed_files(design), *sorted(SIM.glob("*.[ch]*")), SIM / "doorway.svh", Path(__file__)]:
        h.update(path.name.encode() + path.read_bytes())
    return h.hexdigest()[:16]


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """One builder at a time for one folder, across processes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _run(command: list[str], folder: Path, what: str, env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, env={**os.environ, **(env or {})}, check=False)
    if done.returncode:
        text = (done.stdout + done.stderr).strip()
        raise ToolError(f"{what} failed", text[-6000:], f"the command was: {' '.join(command)}")


def _doorway(folder: Path) -> None:
    """The doorway library, one for both simulators and for Python."""
    sources = [str(SIM / name) for name in DOORWAY_C]
    _run(["gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", "libdoorway.so", *sources], folder, "building the doorway")


def _verilator(design: Design, folder: Path, waves: bool) -> None:
    tool = tools.verilator()
    libs = str(tools.cocotb_libs())
    flags = ["--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--vpi", "--no-timing"]
    flags += ["-Wno-fatal", "-Wno-WIDTH", "-Wno-UNUSED", "-Wno-DECLFILENAME", "-Wno-PINCONNECTEMPTY", "--timescale", "1ps/1ps", "--prefix", "Vtop", "-o", "Vtop", "-Mdir", "obj"]
    flags += [f"-I{SIM}", "--top-module", design.top, *(f"-G{k}={v}" for k, v in design.parameters.items())]
    if waves:
        flags += ["--trace-fst", "--trace-structs"]
    if not design.clocked:
        flags += ["--public-flat-rw"]   # block benches: every signal visible; clusters mark theirs
    defines = f"-O2 -std=gnu++20 -I{SIM} -I{folder}" + (" -DSANLAB_CLOCKS" if design.clocked else "")
    # No absolute build path survives in the program: the doorway is found beside it.
    link = f"-rdynamic -Wl,-rpath,{libs} -L{libs} -lcocotbvpi_verilator -Wl,-rpath,'$$ORIGIN/..' -L{folder} -ldoorway"
    generated = [str(folder / name) for name in design.generated if name.endswith(".sv")]
    command = [tool.binary, *flags, "-CFLAGS", defines, "-LDFLAGS", link, *map(str, needed_files(design)), *generated, str(SIM / "verilator_main.cpp")]
    env = {"VERILATOR_ROOT": str(tool.root)}
    _run(command, folder, f"verilating {design.top}", env)
    with _runtime(folder / "obj", f"{tool.root} {defines.replace(str(folder), '')} {waves}"):
        _run(["make", "-s", "-j", "2", "-C", "obj", "-f", "Vtop.mk", WHEEL_FLAG, "Vtop"], folder, f"compiling {design.top}", env)


@contextmanager
def _runtime(obj: Path, flags: str) -> Iterator[None]:
    """Verilator's own runtime is the same for every design: its object files are compiled once and copied into later builds."""
    store = OUT / "builds" / f"runtime-{hashlib.sha256(flags.encode()).hexdigest()[:16]}"
    for path in store.glob("*.o"):
        shutil.copy(path, obj)
    yield
    if not store.is_dir():
        scratch = Path(tempfile.mkdtemp(dir=store.parent, prefix=f".{store.name}-"))
        for path in obj.glob("verilated*.o"):
            shutil.copy(path, scratch)
        try:
            scratch.rename(store)
        except OSError:   # another build was first
            shutil.rmtree(scratch, ignore_errors=True)


def _icarus(design: Design, folder: Path, waves: bool) -> None:
    _run(["gcc", "-O2", "-shared", "-fPIC", f"-I{tools.vpi_include()}", f"-I{SIM}", "-o", "doorway.vpi", str(SIM / "doorway_vpi.c"),
          f"-L{folder}", "-ldoorway", "-Wl,-rpath,$ORIGIN"], folder, "building the doorway for Icarus")
    generated = [str(folder / name) for name in design.generated if name.endswith(".sv")]
    parameters = [f"-P{design.top}.{k}={v}" for k, v in design.parameters.items()]
    tops = [design.top]
    if waves:
        dump = folder / "waves.sv"
        dump.write_text(f'module waves;\n  initial begin $dumpfile("waves.fst"); $dumpvars(0, {design.top}); end\nendmodule\n')
        generated.append(str(dump))
        tops.append("waves")
    stamp = folder / "timescale.sv"
    stamp.write_text("`timescale 1ps/1ps\n")
    command = ["iverilog", "-g2012", f"-I{SIM}", "-L", str(folder), "-m", "doorway", *(f for t in tops for f in ("-s", t)), *parameters,
               "-o", "top.vvp", str(stamp), *map(str, needed_files(design)), *generated]
    _run(command, folder, f"compiling {design.top} with Icarus")
    program = folder / "top.vvp"   # iverilog notes the scratch path of the module; the run names it instead
    program.write_text("".join(line for line in program.open() if not line.startswith(f':vpi_module "{folder}')))
