"""Command of a study that starts programs: located and checked before anything is built.

A command whose program ends in `.c` is a C source, which is compiled against our header and library.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pymodels.errors import ConfigError
from tb.build.store import kept_by_sources
from tb.program.mpi import abi
from tb.program.mpi.build import library
from tb.tools.programs import CC, ToolError

EXAMPLES = Path(__file__).with_name("examples")
SETTING = "SET"
ELF64 = b"\x7fELF\x02"
LIBRARIES = re.compile(rb"\0(libmpi[a-z_+]*\.so\.\d+)(?=\0)")
"""Pattern of MPI libraries among the strings of a program."""

PACKAGES: Mapping[str, str] = MappingProxyType({"NPmpich2": "netpipe-mpich2"})
"""Debian packages by the program that they contain."""


class NotInstalledError(ConfigError):
    """Missing program that a package of the system provides."""


def words_of(command: str, directory: Path) -> list[str]:
    """Return the words of a shell command, with its program located in the folder of the command, on the
    PATH, or among the examples.

    Raises ConfigError if the program is missing or cannot call the library.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise ConfigError(SETTING, 0, "no command", f"command is {command!r}", "name a program and its arguments")
    program = _found(words[0], directory)
    if program is None:
        what = "program not found"
        if package := PACKAGES.get(words[0]):
            cause = f"no {words[0]!r} in {directory} or on the PATH"
            raise NotInstalledError(SETTING, 0, what, cause, f"apt-get install {package}")
        raise ConfigError(
            SETTING, 0, what, f"no {words[0]!r} in {directory} or on the PATH", "name an existing program"
        )
    if program.suffix != ".c":
        _check_binary(program)
    return [str(program), *words[1:]]


def _found(name: str, directory: Path) -> Path | None:
    for folder in (directory, EXAMPLES):
        if (folder / name).is_file():
            return folder / name
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def _check_binary(program: Path) -> None:
    data = program.read_bytes()
    if data[:4] != ELF64[:4]:
        return
    machine = struct.unpack_from("<H", data, 18)[0]
    if data[:5] != ELF64 or machine != struct.unpack_from("<H", Path(sys.executable).resolve().read_bytes(), 18)[0]:
        cause = f"{program} is not for the 64-bit processor of this machine"
        raise ConfigError(SETTING, 0, "incompatible program", cause, "name a program for this processor")
    others = {one.decode() for one in LIBRARIES.findall(data)} - {abi.LIBRARY, abi.LIBRARY_TOO, *abi.ON_LIBRARY}
    if others:
        cause = f"{program} is linked with {', '.join(sorted(others))}"
        raise ConfigError(SETTING, 0, "incompatible library", cause, f"link it with MPICH's {abi.LIBRARY}")


def check_ranks(ranks: int, hosts: int) -> None:
    """Raise ConfigError for more ranks than hosts."""
    if ranks > hosts:
        cause = f"{ranks} programs and {hosts} hosts"
        raise ConfigError(SETTING, 0, "too many ranks", cause, f"give at most {hosts}, or a CLUSTER of more hosts")


def ready(words: list[str]) -> list[str]:
    """Return the command to start, with a C source compiled. Raises ToolError with the compiler's output."""
    source = Path(words[0])
    if source.suffix != ".c":
        return words
    folder = library()

    def name() -> str:
        return f"{source.stem}-{hashlib.sha256(source.read_bytes() + folder.name.encode()).hexdigest()[:16]}"

    def make(target: Path) -> None:
        link = [f"-I{folder}", f"-L{folder}", f"-l:{abi.LIBRARY}", "-o", source.stem]
        done = subprocess.run(
            [CC, "-O1", "-Wall", str(source), *link],
            cwd=target,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise ToolError(f"{source} does not compile", done.stderr.strip(), "see the compiler's output")

    return [str(kept_by_sources(name, make)[0] / source.stem), *words[1:]]
