"""Static check: its subject and its complaints. Tools run as processes without a shell."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tb.tools.paths import ROOT
from tb.tools.programs import ToolError

LATE = "did not end within"
"""Message about a tool that exceeded its time limit, perhaps on a busy machine."""
SPARE = 5
"""CPU seconds that a process may use beyond the limit of its tool."""
WORKERS = 2
"""Number of tools that run at the same time."""


@dataclass(frozen=True)
class Outcome:
    """Result of a check: its subject (for the table) and the complaints."""

    name: str
    subject: str
    messages: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """True without complaints."""
        return not self.messages


@dataclass(frozen=True)
class Check:
    """Named check; `look` returns the subject and the complaints. Raises ToolError if its tool is missing."""

    name: str
    look: Callable[[], tuple[str, list[str]]]

    def run(self) -> Outcome:
        """Run the check and measure its time. A missing tool is a complaint."""
        start = time.monotonic()
        try:
            subject, messages = self.look()
        except ToolError as error:
            subject, messages = "not checked", [str(error)]
        return Outcome(self.name, subject, tuple(messages), time.monotonic() - start)


def tool(name: str) -> str:
    """Return the path of a program next to this Python, or on the PATH. Raises ToolError with the remedy."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is missing", "it is not in the virtual environment", "type `make setup`")
    return found


def complaints(command: Iterable[str], environment: Mapping[str, str] | None = None, timeout: float = 600) -> list[str]:
    """Return the output lines of a failed tool; empty if it succeeded."""
    code, lines = output(command, environment, timeout)
    return (lines or [f"exit code {code} without output"]) if code else []


def output(
    command: Iterable[str],
    environment: Mapping[str, str] | None = None,
    timeout: float = 600,
    folder: Path = ROOT,
) -> tuple[int, list[str]]:
    """Run a tool and return its exit code and output lines.

    A tool that exceeds `timeout` fails with a message. Its child processes, such as a solver, end after as many CPU
    seconds plus SPARE.
    """
    words = list(command)
    limited = f'ulimit -t {math.ceil(timeout) + SPARE}; exec "$@"'
    try:
        done = subprocess.run(
            ["sh", "-c", limited, "sh", *words],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, [f"{Path(words[0]).name} {LATE} {timeout:.0f} s: {' '.join(words)}"]
    return done.returncode, [line.replace(f"{ROOT}/", "").rstrip() for line in done.stdout.splitlines() if line.strip()]


def each(paths: list[Path], look: Callable[[Path], list[str]]) -> list[str]:
    """Return the complaints about all files without duplicates, in the order of the files; two files run at a time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        found = [line for lines in pool.map(look, paths) for line in lines]
    return list(dict.fromkeys(found))
