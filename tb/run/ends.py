"""End of a run in its own process, on a simulator or on a board: text of a failure, and death with the parent."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import traceback
from collections.abc import Callable
from pathlib import Path

from pymodels.errors import SanlabError, shown
from pymodels.host import confined
from pymodels.host.confined import PR_SET_PDEATHSIG
from tb.lab import apart
from tb.plan import studies
from tb.sim.engine import HangError
from tb.tools.lines import awaits_at, raised_at
from tb.tools.watchdog import RunLimitError

FORK_AND_START = (subprocess.__file__, confined.__file__, apart.__file__)
"""Modules that may fork: their children start a program or end with an answer (fuzz tests, fault campaign)."""


def failure_text(error: BaseException, info: studies.StudyInfo, whole: object) -> str:
    """Return the text of the exception that ended a study, with the line of the study that raised it or waits.

    Foreign exceptions become one line. Errors of sanlab keep their lines: a stopped core reports its registers and last
    instructions below the first line. `whole` is the coroutine that called the study.
    """
    folder = Path(info.module.__file__ or "").parent
    waits = isinstance(error, (HangError, RunLimitError))
    place = raised_at(error, folder) or (awaits_at(whole, folder) if waits else "")
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    first, *rest = map(shown, text.splitlines()) if isinstance(error, SanlabError) else [shown(text)]
    if place and place not in first:
        first = f"{first} ({place})"
    return "\n".join([first, *rest])


def leave_interrupts_to_parent() -> None:
    """Ignore Ctrl-C: it reaches the parent too, which ends this process and reports what the run waited for.

    Icarus installs a handler of its own when time begins.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def die_with_parent(fail: Callable[[str], None]) -> int:
    """Let the kernel kill this process when its parent ends, and forked children when this process ends.

    A fork by a study fails the run through `fail`, since the child has a copy of the simulator or the open port.
    Returns the number of this process.
    """
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def forks() -> None:
        frames = traceback.extract_stack()
        if not any(frame.filename in FORK_AND_START for frame in frames):
            place = f"{frames[-2].filename}:{frames[-2].lineno}"
            fail(f"{place}: fork copies the simulator; start a program by subprocess")

    os.register_at_fork(before=forks, after_in_child=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    return os.getpid()
