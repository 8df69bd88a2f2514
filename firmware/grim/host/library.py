"""GRIM library of one host: the API of paper 003, appendix C.

`Grim` consists of parts, one in each file, which can also be used separately. `Api` has their calls by the paper's
names.
"""

from __future__ import annotations

from firmware.grim.host import enable
from firmware.grim.host.api import Api
from firmware.grim.host.arguments import whole
from firmware.grim.host.calls import Calls
from firmware.grim.host.card_calls import Cards
from firmware.grim.host.card_windows import CardWindows
from firmware.grim.host.database import Database
from firmware.grim.host.driver import Driver
from firmware.grim.host.enable import Phase
from firmware.grim.host.errors import GrimError
from firmware.grim.host.fpga import own_card
from firmware.grim.host.handlers import Handlers
from firmware.grim.host.memory import PinnedMemory
from firmware.grim.host.memory_calls import RemoteMemory
from firmware.grim.host.messages import Messages
from firmware.grim.host.messenger import Messenger
from firmware.grim.host.nodes import Nodes
from firmware.grim.host.polling import PollingThread
from firmware.grim.host.processes import Process
from firmware.grim.host.reserved import ReservedMemory
from firmware.grim.host.tree_calls import Multicast
from firmware.grim.nic.cards import card_base
from firmware.grim.nic.layout import Counter, HostQueue
from firmware.grim.nic.size_requests import resolve_options, warnings
from firmware.grim.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView


class Grim(Api):
    """GRIM library of one host. Only `register_handler` and `reserve_ni_memory` may be called before `grim_enable`."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        """Create the library.

        Args:
            host: Host that runs the library.
            view: Cluster as this node sees it; `view.options` are those of `firmware.grim.options`.

        Raises:
            OptionError: An option is invalid.
        """
        self.host = host
        self.options, self.layout = options, layout = resolve_options(
            view, view.sram_bytes, view.machine_code is not None
        )
        self.warnings = warnings(view, options, layout)
        """Warnings about queues that are smaller than requested."""
        self.calls = calls = Calls()
        self.pinned = PinnedMemory(host, layout, options.translation_static, options.page_seed)
        self.driver = Driver(host, layout, self.pinned)
        self.card = own_card(
            host, view, options, layout, CardWindows(host, layout, calls, self.driver, card_base(view))
        )
        """Driver of this host's FPGA card, or None."""
        self.handlers = Handlers(tuple(self.card.circuits) if self.card is not None else ())
        """Handler databases of this host."""
        self.nodes = Nodes(view, options, calls)
        self.messages = Messages(host, options, layout, self.nodes, calls, self.handlers)
        self.database = Database(host, self.nodes, calls, self.messages, self.handlers, self.card)
        self.memory = RemoteMemory(host, options, calls, self.messages, self.pinned, self.driver)
        self.reserved = ReservedMemory(host, layout, calls)
        self.trees = Multicast(host, options, layout, self.nodes, calls, self.messages, self.handlers)
        self.cards = Cards(self.nodes, calls, self.messages, self.handlers, self.trees)
        parts = host, options, layout, self.nodes, (self.pinned, self.driver), self.trees
        self.processes = {name: Process(name, *parts) for name in self.nodes.channels(view.me).processes}
        """Endpoints of this host's processes, by name."""
        own = [] if self.card is None else [self.card]
        self.ni = enable.Ni(host, view, layout)
        self.devices: list[enable.Peripheral] = [self.ni, *own]
        """Local peripheral devices, the NI first. Others can be added before `grim_enable`."""
        self.phase = Phase.NONE
        """Current phase of `grim_enable`."""
        self.polling_thread: PollingThread | None = None
        """Polling thread that was started last, or None. With option poll_thread, `grim_enable` starts it."""

    async def grim_enable(self) -> None:
        """Enable GRIM in the nine phases of paper 003, C.2, and return when all NIs of the cluster have synchronised.

        Raises GrimError for a second call.
        """
        calls, host, layout = self.calls, self.host, self.layout
        if calls.enabling:
            raise GrimError("grim_enable", "was called before", "call it once")
        calls.enabling = True
        self.phase = Phase.RESET
        self.handlers.numbers.clear()
        self.phase = Phase.CONFIGURATION
        await host.spend("enable_name", len(self.nodes.names))
        self.nodes.configure()
        self.phase = Phase.RESOURCES
        self.nodes.find_resources()
        self.phase = Phase.DEVICES
        for device in self.devices:
            await device.initialise()
        self.phase = Phase.QUEUES
        buffers = enable.allocate_queues(host, layout, self.options.channels)
        self.phase = Phase.LINKS
        await enable.link_queues(host, layout, buffers)
        await self.driver.install()
        await self.reserved.map()
        processes = list(self.processes.values())
        elsewhere = {process.channel for process in processes}
        polled = {channel: buffer for channel, buffer in enumerate(buffers) if channel not in elsewhere}
        messenger = Messenger(host, layout, self.options, polled, self.handlers, self.messages.absent, calls.errors)
        messenger.beside = [process.link(buffers[process.channel]) for process in processes]
        await self.trees.plant(messenger)
        self.phase = Phase.HANDLERS
        for part in (self.database, self.messages, self.trees, self.cards.errors):
            self.handlers.functions.update(part.built_in())
        self.phase = Phase.SYNCHRONISATION
        await enable.synchronise(host, buffers[0].address + HostQueue.STATUS)
        self.phase = Phase.ACTIVATION
        for device in self.devices:
            await device.activate()
        calls.enabled(messenger)
        for process, own in zip(processes, messenger.beside, strict=True):
            process.calls.enabled(own)
        if self.options.poll_thread:
            self.start_polling(self.options.poll_period_us)
        self.phase = Phase.ENABLED

    async def load(self) -> None:
        """Load the NIC's firmware, if the NIC executes one; otherwise `grim_enable` loads it.

        If all nodes load first, no NIC drops another one's notice while it is in reset.
        """
        await self.ni.load()

    def process(self, name: str) -> Process:
        """Return the endpoint of a process of this host, for the code of that process.

        Raises GrimError if no CHANNEL line of this host connects the process.
        """
        self.nodes.process(self.nodes.me, name)
        return self.processes[name]

    def start_polling(self, period_us: int) -> None:
        """Start the polling thread; `period_us` is the time between its polls. Raises GrimError if it already runs."""
        dispatch = self.calls.ready().dispatch
        if dispatch.threaded:
            raise GrimError("start_polling", "a polling thread is running already", "stop it first")
        declared = Options.declared()["poll_period_us"]
        if not declared.low <= whole("period_us", period_us) <= declared.high:
            raise GrimError("period_us", f"{period_us}", f"give {declared.low}..{declared.high}")
        self.polling_thread = PollingThread(self.host, dispatch, period_us)
        self.polling_thread.start()

    def use_overflow(self, use: bool) -> None:
        """Set, from now on, whether handlers that find no room use the overflow queue (option overflow)."""
        self.calls.ready().sending.overflows = use

    @property
    def overflow(self) -> int:
        """Number of handlers' messages and segments in the overflow queues."""
        return sum(map(len, self.calls.messenger.queues.overflow)) if self.phase >= Phase.ENABLED else 0

    @property
    def nodes_served(self) -> int:
        """Number of times that other nodes have synchronised their handlers with this server (node 0)."""
        return self.database.served

    @property
    def translations_served(self) -> int:
        """Number of the NI's translation misses that this host's driver has served."""
        return self.driver.interrupts

    async def ni_counter(self, counter: Counter) -> int:
        """Read one of the NI's counters over the bus. Raises GrimError for an unknown counter."""
        await self.calls.begin()
        if counter not in tuple(Counter):
            raise GrimError("counter", f"unknown counter {counter!r}", "use a member of Counter")
        return await self.host.pio_read(self.host.nic_base + self.layout.counter(counter))
