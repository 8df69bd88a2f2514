"""LANai 9 on the RTL."""

from __future__ import annotations

from tb.bind.lanai import RtlNic
from tb.nics.lanai import view


class RtlNic9(RtlNic):
    """Verbs of one LANai 9; firmware's register names need no translation."""

    kind = "lanai9"


NIC = RtlNic9
ENGINES = (
    ("cpu_free", ""),
    ("u_host.u_dma.state_q", "dma_state"),
    ("u_pci.u_card.u_device.u_master.state_q", "pci_master"),
    ("u_pci.u_card.u_device.u_target.state_q", "pci_target"),
)
WAVES = view(ENGINES, "dma_state", "nic/lanai9/myri_host_dma", doorbell="u_host.u_doorbell")
