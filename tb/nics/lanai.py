"""Wave view common to the LANai chips."""

from __future__ import annotations

from tb.nics.view import BUS, FLOW, MEMORY, PORT, Signals, View, below

CORE = ("core.gen_core.u_sleep.u_core.at_q",)
"""Signal with the program counter."""


def view(engines: Signals, state: str, module: str) -> View:
    """Return the wave view of a LANai.

    Args:
        engines: Signals of the chip's engines.
        state: Name of the translation of the host DMA engine's state.
        module: HDL module that declares these states.
    """
    nic = (*below("nic", engines), ("clk", ""), ("isr", ""), *MEMORY)
    return View(BUS, nic, PORT + below("nic.u_net.u_link", FLOW), {state: module}, CORE)
