"""The GRIM library of one host: the API of paper 003, appendix C.

`Grim` inherits the parts of the API, one file each; what they share is `Core`. Here they are brought up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware.host.grim import configuration, enable
from firmware.host.grim.arguments import whole
from firmware.host.grim.cards import Cards
from firmware.host.grim.enable import Phase
from firmware.host.grim.errors import GrimError
from firmware.host.grim.messenger import Messenger
from firmware.host.grim.multicast import Multicast
from firmware.host.grim.polling import PollingThread
from firmware.host.grim.remote import RemoteMemory
from firmware.host.grim.reserved import ReservedMemory
from firmware.layers import ClusterView
from firmware.nic.grim.layout import Counter, HostQueue
from firmware.nic.grim.options import RANGES
from firmware.verbs import Host
from pymodels.config.model import FPGA_CARD, FRAME_CARD
from pymodels.formats.grim import Device


class Grim(RemoteMemory, ReservedMemory, Multicast, Cards):
    """GRIM on one host. Before `grim_enable`, only `register_handler` and `reserve_ni_memory` may be called."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        super().__init__(host, view)
        self.devices: list[enable.Peripheral] = [enable.Ni(host, self.layout)]
        if self.card is not None:
            self.devices.append(self.card)
        """The local peripheral devices, the NI first; others are added before `grim_enable`."""
        self.phase = Phase.NONE
        """How far `grim_enable` has come."""
        self.polling_thread: PollingThread | None = None
        """The one that was started last; with option poll_thread by `grim_enable`."""

    async def grim_enable(self) -> None:
        """`grim_enable`: the nine phases of paper 003, C.2. Returns when every NI of the cluster has heard every other.
        A second call is an error.
        """
        if self._enabling:
            raise GrimError("grim_enable", "was called before", "call it once")
        self._enabling = True
        host, layout = self.host, self.layout
        self.phase = Phase.RESET
        self._targets.clear()
        self.handlers.numbers.clear()
        self.phase = Phase.CONFIGURATION
        await host.spend("enable_name", len(self._names))
        self._configure()
        self.phase = Phase.RESOURCES
        self._resources = self._resource_database()
        self.phase = Phase.DEVICES
        for device in self.devices:
            await device.initialise()
        self.phase = Phase.QUEUES
        buffers = enable.allocate_queues(host, layout, self.options.channels)
        self.phase = Phase.LINKS
        await enable.link_queues(host, layout, buffers)
        await self._driver.install()
        await self._map_reserved()
        messenger = Messenger(host, layout, self.options, self.handlers, buffers)
        await self._plant(messenger)
        self.phase = Phase.HANDLERS
        messenger.on_report = self._reported
        self.handlers.absent = self._absent
        self.handlers.functions.update(self._built_in())
        self.phase = Phase.SYNCHRONISATION
        await enable.synchronise(host, buffers[0].address + HostQueue.STATUS)
        self.phase = Phase.ACTIVATION
        for device in self.devices:
            await device.activate()
        self._messenger = messenger
        if self.options.poll_thread:
            self.start_polling(self.options.poll_period_us)
        self.phase = Phase.ENABLED

    def _configure(self) -> None:
        """Read and check the configuration. Raises ConfigError or GrimError."""
        cluster = configuration.read(self._view)
        if cluster is not None:
            self._pnns = tuple(host.pnn for host in cluster.hosts)
            self._cards = tuple(frozenset(host.cards) for host in cluster.hosts)

    def _resource_database(self) -> Mapping[int, tuple[int, ...]]:
        """Which nodes have a device of a type: every one has its host and its NI, some have cards."""
        everyone = tuple(range(len(self._names)))
        nodes: dict[int, tuple[int, ...]] = {Device.HOST: everyone, Device.NI: everyone}
        for device, card in ((Device.CELOXICA, FPGA_CARD), (Device.FRAME_BUFFER, FRAME_CARD)):
            nodes[device] = tuple(vnn for vnn in everyone if self._has_card(vnn, card))
        return MappingProxyType({device: vnns for device, vnns in nodes.items() if vnns})

    def start_polling(self, period_us: int) -> None:
        """Let a thread poll from now on, with so long between its polls. Raises GrimError when one does already."""
        messenger = self._ready()
        if messenger.threaded:
            raise GrimError("start_polling", "a thread polls already", "stop it first")
        least, most = RANGES["poll_period_us"]
        if not least <= whole("period_us", period_us) <= most:
            raise GrimError("period_us", f"{period_us}", f"give {least}..{most}")
        self.polling_thread = PollingThread(self.host, messenger, period_us)
        self.polling_thread.start()

    def use_overflow(self, use: bool) -> None:
        """Whether handlers that find no room use the overflow queue (option overflow), from now on."""
        self._ready().overflows = use

    async def ni_counter(self, counter: Counter) -> int:
        """Read one of the NI's counters over the bus."""
        await self._begin_call()
        if counter not in tuple(Counter):
            raise GrimError("counter", f"{counter!r} is none that the NI keeps", "take one of Counter")
        return await self.host.pio_read(self.host.nic_base + self.layout.counter(counter))
