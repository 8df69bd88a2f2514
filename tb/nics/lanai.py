"""Wave view common to the LANai chips."""

from __future__ import annotations

from tb.nics.view import BUS, FLOW, MEMORY, PORT, Signals, View, below, places

CORE = ("core.gen_core.u_sleep.u_core.at_q",)
"""Signal with the program counter."""


def view(engines: Signals, state: str, module: str, **parts: str) -> View:
    """Return the wave view of a LANai.

    Args:
        engines: Signals of the chip's engines.
        state: Name of the translation of the host DMA engine's state.
        module: HDL module that declares these states.
        parts: Further parts of the chip with stable names, by name.
    """
    nic = (*below("nic", engines), ("clk", ""), ("isr", ""), *MEMORY)
    named = places("nic", "u_net.u_send", "u_net.u_recv", "u_host.u_dma", "u_net.u_link", **parts)
    return View(BUS, nic, PORT + below("nic.u_net.u_link", FLOW), {state: module}, CORE, named)
