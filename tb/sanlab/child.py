"""One command of the laboratory as a child process, which ends when its caller is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from . import tree

PATIENCE_S = 10
"""For a child to end its simulators when it is told to; then all of them are killed."""


COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Environment variables by which a notebook asks for escape sequences: no text of the library has any."""


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def call(words: Sequence[str]) -> Ended:
    """Run `sanlab WORDS`. An interrupt of the caller ends it, and is raised when it has ended."""
    with subprocess.Popen(
        [sys.executable, str(tree.START), *words],
        env={name: value for name, value in tree.environment().items() if name not in COLOURS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # a Ctrl-C reaches it through us, once
    ) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            _end(process)
            raise
    return Ended(process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except BaseException as error:  # too slow, or a second interrupt
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        process.wait()
