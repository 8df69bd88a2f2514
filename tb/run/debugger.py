"""Debugger of a simulation: `breakpoint()` stops in pdb on the terminal of the command.

The simulator's output goes to a log file, so pdb opens the terminal itself.
"""

from __future__ import annotations

import pdb  # noqa: T100 - users request the debugger
import sys
from pathlib import Path
from typing import Any

TERMINAL = Path("/dev/tty")
HOOK = "PYTHONBREAKPOINT"
"""Environment variable with the function that `breakpoint()` calls."""
STOP = "tb.run.debugger.stop"


def stop(*_: Any, **__: Any) -> None:
    """Stop in pdb at the caller's line, on the controlling terminal. Raises OSError without a terminal."""
    read, write = TERMINAL.open(encoding="utf-8"), TERMINAL.open("w", encoding="utf-8")
    pdb.Pdb(stdin=read, stdout=write).set_trace(sys._getframe(1))
