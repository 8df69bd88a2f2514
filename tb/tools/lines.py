"""File and line for messages: of an exception, of a call, or of a waiting task."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from tb.tools.paths import ROOT

LIBRARY = (str(ROOT / "tb" / "lab"), str(ROOT / "tb" / "tools"))
"""Folders of the library that studies call."""


def place(file: str, line: int | None) -> str:
    """Return `file:line`, relative to this tree if possible."""
    path = Path(file)
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{line or 0}"


def raised_at(error: BaseException, folder: Path) -> str:
    """Return the last line in a file of `folder` in an exception's traceback; empty: none."""
    frames = ((frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__))
    return _last(frames, folder)


def awaits_at(coroutine: Any, folder: Path) -> str:
    """Return the line in a file of `folder` at which a suspended coroutine waits; empty: none."""
    frames = []
    while hasattr(coroutine, "cr_await"):
        frame: FrameType | None = getattr(coroutine, "cr_frame", None)
        if frame is not None:
            frames.append((frame.f_code.co_filename, frame.f_lineno))
        coroutine = getattr(coroutine, "cr_await", None)
    return _last(frames, folder)


def _last(frames: Iterable[tuple[str, int | None]], folder: Path) -> str:
    found = [place(file, line) for file, line in frames if Path(file).parent == folder]
    return found[-1] if found else ""


def called_at() -> str:
    """Return the line that called the library."""
    frame: FrameType | None = sys._getframe(1)  # inspect.stack reads every source file
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        frame = frame.f_back
    return place(frame.f_code.co_filename, frame.f_lineno) if frame is not None else ""


def dumped_at(log: str, folder: Path) -> str:
    """Return the innermost line in a file of `folder` in the last traceback of faulthandler; empty: none."""
    _, begun, dump = log.rpartition("(most recent call first):")
    for line in dump.splitlines() if begun else ():
        words = line.strip().split('"')
        if len(words) == 3 and words[0] == "File " and Path(words[1]).parent == folder:
            number = words[2].removeprefix(", line ").partition(" ")[0]
            return place(words[1], int(number)) if number.isdecimal() else ""
    return ""
