"""What every firmware uses: its main loop, and what the NICs have in different ways behind one face (the host DMA)."""

from firmware.nic.hardware.host_dma import HostDma, host_dma
from firmware.nic.hardware.services import Service, Step, serve

__all__ = ["HostDma", "Service", "Step", "host_dma", "serve"]
