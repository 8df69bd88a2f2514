"""Execution of a program that may wait forever: it is killed when it and its children stop using the CPU.

Wall time alone ends no program: on a busy machine a program is slow but still uses some CPU time.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

IDLE = 120.0
"""Seconds without CPU use after which a program is killed."""
LOOK = 2.0
"""Seconds between two checks."""


class _Process(NamedTuple):
    """Process in /proc/<pid>/stat."""

    pid: int
    parent: int
    ticks: int
    """CPU ticks used by the process and its ended children."""


def run(command: Sequence[str], cwd: Path, environment: Mapping[str, str], hung: int) -> tuple[int, str]:
    """Return exit code and output of a program; `hung` as exit code if it was idle for IDLE seconds."""
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        program = subprocess.Popen(command, cwd=cwd, env=environment, stdout=said, stderr=subprocess.STDOUT)
        used, idle = -1, 0.0
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = program.wait(LOOK)
                break
            tree = list(_tree(program.pid))
            now = sum(one.ticks for one in tree)
            used, idle = now, idle + LOOK if now == used else 0.0
            if idle >= IDLE:
                code = hung
                for one in tree:
                    with suppress(ProcessLookupError):
                        os.kill(one.pid, signal.SIGKILL)
                program.wait()
                break
        said.seek(0)
        return code, said.read()


def _tree(pid: int) -> Iterator[_Process]:
    """Return a process and its descendants."""
    known = list(_processes())
    found = {pid}
    while more := {one.pid for one in known if one.parent in found} - found:
        found |= more
    return (one for one in known if one.pid in found)


def _processes() -> Iterator[_Process]:
    """Yield all processes of this machine."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            yield _Process(int(path.parent.name), int(words[1]), sum(map(int, words[11:15])))
