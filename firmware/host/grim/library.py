"""The GRIM library of one host: the API of paper 003, appendix C.

`Grim` inherits the parts of the API, one file each; what they share is `Core`. Here they are brought up.
"""

from __future__ import annotations

from types import MappingProxyType

from firmware.host.grim import enable
from firmware.host.grim.errors import GrimError
from firmware.host.grim.messenger import Messenger
from firmware.host.grim.remote import RemoteMemory
from firmware.layers import ClusterView
from firmware.nic.grim.layout import Counter, HostQueue
from firmware.verbs import Host
from pymodels.formats.grim import Device


class Grim(RemoteMemory):
    """GRIM on one host. Nothing but `grim_enable` and `register_handler` may be called before `grim_enable`."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        super().__init__(host, view)
        self._enabling = False

    async def grim_enable(self) -> None:
        """Bring the library up: `grim_enable()`. Returns when every NI of the cluster has heard every other. A second
        call is an error.
        """
        if self._enabling:
            raise GrimError("grim_enable", "was called before", "call it once")
        self._enabling = True
        host, layout = self.host, self.layout
        self._resources = MappingProxyType({Device.HOST: tuple(range(len(self._names)))})
        await enable.initialise_nic(host, layout)
        buffers = enable.allocate_queues(host, layout, self.options.channels)
        await enable.link_queues(host, layout, buffers)
        await self._driver.install()
        messenger = Messenger(host, layout, self.options, self.handlers, buffers)
        messenger.on_report = self._reported
        self.handlers.absent = self._absent
        self.handlers.functions.update(self._built_in())
        await enable.start_nic(host, buffers[0].address + HostQueue.STATUS)
        self._messenger = messenger

    async def ni_counter(self, counter: Counter) -> int:
        """Read one of the NI's counters over the bus."""
        self._ready()
        return await self.host.pio_read(self.host.nic_base + self.layout.counter(counter))
