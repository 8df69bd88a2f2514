"""C library that programs call, with generated calls and header, and its compilation."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from tb.build.store import kept_by_sources
from tb.program.mpi import abi
from tb.program.mpi.calls import KINDS, LOCAL, Call, table
from tb.tools.programs import CC, ToolError, check_compilers

C = Path(__file__).with_name("c")
CALLS, HEADER, CLOCK = "calls.c", "mpi.h", "clock.c"
FLAGS = ("-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{C}", "-pthread", f"-Wl,-soname,{abi.LIBRARY}")
STATUS = """typedef struct {
    int count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;"""
PROFILED = ("MPI_", "MPIX_")
"""Prefixes of functions that also exist with a leading `P` (the standard's profiling interface)."""
TYPES = "Comm Group Datatype Request Message Op Errhandler Info Session"


def library() -> Path:
    """Return the folder of the library (under both names) and its header, built if necessary. Raises ToolError."""
    check_compilers()
    sources = {CALLS: calls_c(), HEADER: header()}

    def name() -> str:
        files = (path.read_text(encoding="utf-8") for path in sorted(C.iterdir()))
        text = "".join([*sources.values(), *files, *FLAGS])
        return f"program-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def make(folder: Path) -> None:
        for name, source in sources.items():
            (folder / name).write_text(source, encoding="utf-8")
        command = [CC, *FLAGS, "-o", abi.LIBRARY, CALLS, *map(str, sorted(C.glob("*.c")))]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise ToolError(
                "the library of programs does not compile", done.stderr.strip(), "see the compiler's output"
            )
        (folder / abi.LIBRARY_TOO).symlink_to(abi.LIBRARY)

    return kept_by_sources(name, make)[0]


def calls_c() -> str:
    """Return the C source of all functions."""
    lines = ["// Generated from tb/program/mpi/calls.py.", '#include "program.h"', ""]
    lines += [_function(number, one) for number, one in enumerate(table())]
    return "\n".join([*lines, ""])


def _function(number: int, one: Call) -> str:
    """Return a C function; MPI functions also get the weak name that a profiling library may define."""
    if one.handler is None:
        body, prototype = f'return (int)sanlab_call("{one.name}", {number}, 0, 0, 0, 0);', "void"
    else:
        words = ", ".join(f"(long){name}" for name, _ in one.parameters)
        body = f"long words[] = {{{words}}}; " if words else ""
        given = f"{len(one.parameters)}, {'words' if words else '0'}, {_along(one)}"
        body += f'return (int)sanlab_call("{one.name}", {number}, {given});'
        prototype = _prototype(one)
    if not one.name.startswith(PROFILED):
        return f"int {one.name}({prototype}) {{ {body} }}"
    return f"int P{one.name}({prototype}) {{ {body} }}\nWEAK(int, {one.name}, ({prototype}));"


def _along(one: Call) -> str:
    """Return address and size of the memory that is sent with a call."""
    for at, (name, kind) in enumerate(one.parameters):
        if kind == "Given":
            return f"{name}, sizeof(int)"
        if kind == "Buffer":
            return f"{name}, sanlab_size({one.parameters[at + 1][0]}, {one.parameters[at + 2][0]})"
    return "0, 0"


def _prototype(one: Call) -> str:
    parameters = (f"{KINDS[kind]}{'' if '*' in KINDS[kind] else ' '}{name}" for name, kind in one.parameters)
    return ", ".join(parameters) or "void"


def header() -> str:
    """Return a header for test programs with the supported part of MPI."""
    lines = ["// Generated from tb/program/mpi/abi.py and calls.py.", "#ifndef MPI_INCLUDED", "#define MPI_INCLUDED"]
    lines += [f"typedef int MPI_{name};" for name in TYPES.split()]
    lines += ["typedef long MPI_Aint, MPI_Count;", STATUS]
    lines += [f"#define MPI_{name} ({_number(value)})" for name, value in abi.CONSTANTS.items()]
    lines += ["extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;"]
    lines += ["#define MPI_IN_PLACE ((void *)-1)", "#define MPI_BOTTOM ((void *)0)"]
    lines += [f"#define MPI_{name}_IGNORE ((MPI_Status *){abi.IGNORE})" for name in ("STATUS", "STATUSES")]
    for one in table():
        if one.handler is not None and one.name.startswith("MPI_"):
            lines += [f"int {prefix}{one.name}({_prototype(one)});" for prefix in ("", "P")]
    for name, declared in LOCAL.items():
        lines += [f"{declared};", f"{declared.replace(name, f'P{name}')};"]
    return "\n".join([*lines, "#endif", ""])


def _number(value: int) -> str:
    return str(value) if abs(value) < 1 << 24 else f"(int){value:#x}"
