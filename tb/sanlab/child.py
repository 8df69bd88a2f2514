"""Child process for one command of the laboratory; an interrupt of the caller ends it."""

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
"""Seconds that a terminated child gets to end its simulators before all of them are killed."""


COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Environment variables with which notebooks request escape sequences, which the library's texts never contain."""


class Ended(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def call(words: Sequence[str]) -> Ended:
    """Run `sanlab WORDS` and return its output. An interrupt ends the command first, then is raised."""
    with subprocess.Popen(
        [sys.executable, str(tree.START), *words],
        env={name: value for name, value in tree.environment().items() if name not in COLOURS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # so that a Ctrl-C reaches it only once, through this process
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
