"""A program that may wait for ever: it is ended when it, and all that it has started, use no processor any more.

The clock on the wall alone ends nothing: on a busy machine a program is slow, but it uses some of the processor.
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
"""Seconds without any use of the processor."""
LOOK = 2.0
"""Seconds between two looks."""


class _Process(NamedTuple):
    """What /proc/<pid>/stat says of a process."""

    pid: int
    parent: int
    ticks: int
    """Of the processor that it and its children that have ended used."""


def run(command: Sequence[str], cwd: Path, environment: Mapping[str, str], hung: int) -> tuple[int, str]:
    """Exit code of a program and what it said; `hung` when it waited for IDLE seconds."""
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
    """A process, and those that come from it."""
    known = list(_processes())
    found = {pid}
    while more := {one.pid for one in known if one.parent in found} - found:
        found |= more
    return (one for one in known if one.pid in found)


def _processes() -> Iterator[_Process]:
    """All of this machine."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            yield _Process(int(path.parent.name), int(words[1]), sum(map(int, words[11:15])))
