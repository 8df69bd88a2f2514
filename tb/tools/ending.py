"""How a command of the laboratory ends when another program tells it to."""

from __future__ import annotations

import signal


def end_on_terminate() -> None:
    """From now on SIGTERM ends this process as Ctrl-C does: its simulators end, and nothing half-written is left."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
