"""What the waves of LANais have in common."""

from __future__ import annotations

from tb.nics.view import BUS, FLOW, MEMORY, PORT, Signals, View, below

CORE = ("core.gen_core.u_sleep.u_core.at_q",)
"""The program counter."""


def view(engines: Signals, state: str, module: str) -> View:
    """The view of a LANai, with the signals of its engines; `state`: the translation of its host DMA's state, which
    `module` names.
    """
    nic = (*below("nic", engines), ("clk", ""), ("isr", ""), *MEMORY)
    return View(BUS, nic, PORT + below("nic.u_net.u_link", FLOW), {state: module}, CORE)
