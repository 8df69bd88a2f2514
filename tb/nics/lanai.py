"""What the waves of LANais have in common."""

from __future__ import annotations

from tb.nics.view import BUS, FLOW, MEMORY, PORT, Signals, View, below


def view(chip: str, engines: Signals, state: str, module: str) -> View:
    """The view of a LANai that stands at `chip` in the card, with the signals of its engines; `state`: the translation
    of its host DMA's state, which `module` names.
    """
    nic = below(f"nic.{chip}", engines) + below("nic", (("clk", ""), ("isr", ""), *MEMORY))
    port = below("nic", PORT) + below(f"nic.{chip}.u_net.u_link", FLOW)
    return View(below("nic", BUS), nic, port, {state: module})
