"""A check: its subject, and its complaints. Tools are called as processes, without a shell."""

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
"""Said of a tool that was ended by the clock: of a busy machine, perhaps."""
SPARE = 5
"""Seconds of the processor that a process may have beyond what its tool may take."""
WORKERS = 2
"""Tools that run at the same time."""


@dataclass(frozen=True)
class Outcome:
    """The result of a check: what it looked at (for the table) and the complaints."""

    name: str
    subject: str
    messages: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """True when there is nothing to complain of."""
        return not self.messages


@dataclass(frozen=True)
class Check:
    """A named check; `look` returns the subject and the complaints. Raises ToolError when its tool is missing."""

    name: str
    look: Callable[[], tuple[str, list[str]]]

    def run(self) -> Outcome:
        """Run the check and time it. A missing tool is a complaint."""
        start = time.monotonic()
        try:
            subject, messages = self.look()
        except ToolError as error:
            subject, messages = "not looked at", [str(error)]
        return Outcome(self.name, subject, tuple(messages), time.monotonic() - start)


def tool(name: str) -> str:
    """A program beside this Python, else on the PATH. Raises ToolError saying what to type."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is missing", "it is not in the virtual environment", "type `make setup`")
    return found


def complaints(command: Iterable[str], environment: Mapping[str, str] | None = None, timeout: float = 600) -> list[str]:
    """The lines a tool printed when it failed; none when it succeeded in silence or not."""
    code, lines = output(command, environment, timeout)
    return (lines or [f"exit code {code}, and no word"]) if code else []


def output(
    command: Iterable[str],
    environment: Mapping[str, str] | None = None,
    timeout: float = 600,
    folder: Path = ROOT,
) -> tuple[int, list[str]]:
    """Run a tool in a folder: its exit code and the lines it printed. A tool that hangs fails, saying so; what it has
    started, a solver say, ends too, when it has had as many seconds of the processor and SPARE.
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
    """The complaints about every file, two files at a time, in the order of the files, each line once."""
    with ThreadPoolExecutor(WORKERS) as pool:
        found = [line for lines in pool.map(look, paths) for line in lines]
    return list(dict.fromkeys(found))
