"""Driver of the FIFO card: sends and receives messages on a card without a processor."""

from __future__ import annotations

from collections.abc import Mapping

from firmware.fifo.host import buffers, cells
from firmware.fifo.host.buffers import EACH, Buffers
from firmware.fifo.host.cells import Cells
from firmware.fifo.options import Options
from firmware.options import OptionError
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.cards import CardMap
from pymodels.nics.fifo.kind import FifoMap
from pymodels.nics.fifo.registers import Size

MOST = {"buffers": buffers.MOST, "cells": cells.MOST}
"""Largest message in bytes, by form of the card."""
NODES = {"buffers": 1 + (Size.BUFFERS - 1) // (2 * EACH), "cells": int(Size.CIRCUITS)}
"""Largest number of nodes, by form. Send buffers and pool share the card's memory; each node needs one circuit."""


def open_layer(host: Host, view: ClusterView) -> Buffers | Cells:
    """Return the driver of one host for the selected form of the card."""
    return Cells(host, view) if _form(view.options) == "cells" else Buffers(host, view)


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check card and number of nodes. Raises OptionError."""
    if not isinstance(card, FifoMap):
        raise OptionError("layer fifo", "it drives a FIFO card, and the profile has another NIC", "use PROFILE=fifo")
    most = NODES[_form(options)]
    if nodes > most:
        cause = f"the memory of a FIFO card has room for {most}"
        raise OptionError(f"{nodes} nodes", cause, f"set NUM_NODES to at most {most}, or use fifo.form=cells")


def _form(options: Mapping[str, float | str]) -> str:
    """Return the form of the card, or the default if a study leaves it empty."""
    return str(options.get("form", "")) or Options.form
