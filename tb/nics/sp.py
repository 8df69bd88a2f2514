"""SP adapter on the RTL: registers numbered by `pymodels.nics.sp.registers`; STATUS can be polled."""

from __future__ import annotations

from tb.bind.lanai import RtlNic
from tb.nics.view import BUS, FLOW, MEMORY, PORT, View, below, places


class RtlSpNic(RtlNic):
    """Verbs of one SP adapter. Loads and stores are cached; uncached accesses of a path use the internal bus."""

    kind = "sp"


NIC = RtlSpNic
ENGINES = (
    ("adapter.cpu_sram", ""),
    ("adapter.cpu_gnt", ""),
    ("adapter.u_engines.u_left.state_q", "left_engine"),
    ("adapter.u_engines.u_send.state_q", "right_engine"),
    ("adapter.u_pci.u_card.u_device.u_master.state_q", "pci_master"),
    ("adapter.u_pci.u_card.u_device.u_target.state_q", "pci_target"),
)
STATES = {"left_engine": "nic/sp/sp_left_engine", "right_engine": "nic/sp/sp_send"}
NAMED = places("adapter", "u_engines.u_send", "u_engines.u_left", "u_engines.u_left", "u_link")
NIC_SIGNALS = (*ENGINES, ("clk", ""), ("isr", ""), *MEMORY)
WAVES = View(BUS, NIC_SIGNALS, PORT + below("adapter.u_link", FLOW), STATES, places=NAMED)
