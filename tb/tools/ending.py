"""Termination of a command by another program."""

from __future__ import annotations

import signal


def end_on_terminate() -> None:
    """Handle SIGTERM like Ctrl-C from now on: simulators end, and no incomplete files are left."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
