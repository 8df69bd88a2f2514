"""`fifo` on the host: `send` a message, `receive` one, on a card without a processor. There is no NIC side."""

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
"""Bytes of a message, by form."""
NODES = {"buffers": 1 + (Size.BUFFERS - 1) // (2 * EACH), "cells": int(Size.CIRCUITS)}
"""Nodes, by form: send buffers and pool share the card's memory; a circuit each."""


def open_layer(host: Host, view: ClusterView) -> Buffers | Cells:
    """The driver of one host."""
    return Cells(host, view) if _form(view.options) == "cells" else Buffers(host, view)


def check_options(options: Mapping[str, float | str], nodes: int, sram_bytes: int, card: CardMap) -> None:
    """Check that the layer runs on these cards, and on this many. Raises OptionError."""
    if not isinstance(card, FifoMap):
        raise OptionError("layer fifo", "it drives a FIFO card, and this is another NIC", "use PROFILE=fifo")
    most = NODES[_form(options)]
    if nodes > most:
        cause = f"the memory of a FIFO card has room for {most}"
        raise OptionError(f"{nodes} nodes", cause, f"take {most} of them with NUM_NODES, or fifo.form=cells")


def _form(options: Mapping[str, float | str]) -> str:
    """The form of the card; a study that does not depend on it leaves it empty."""
    return str(options.get("form", "")) or Options.form
