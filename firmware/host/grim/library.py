"""The GRIM library of one host: the API of paper 003, appendix C, first slice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from firmware.host.grim import enable
from firmware.host.grim.database import Database
from firmware.host.grim.errors import GrimError
from firmware.host.grim.handlers import ABSENT, Handler, Handlers
from firmware.host.grim.messenger import Messenger
from firmware.host.grim.segments import Payload, Target, payload_parts
from firmware.layers import ClusterView
from firmware.nic.grim.layout import Counter, HostQueue, Layout
from firmware.nic.grim.options import Options
from firmware.verbs import Host
from pymodels.errors import nearest
from pymodels.formats.grim import Device, Reference, endpoint, reference

ANY_VNN = 0xFFFFFFFF
"""For `get_resource`: on whatever node it is."""
_ARGUMENTS = range(-(1 << 31), 1 << 32)


class Grim:
    """GRIM on one host. Nothing but `grim_enable` and `register_handler` may be called before `grim_enable`."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        """Raises OptionError for an option that cannot be. `view.options` are those of `firmware.nic.grim.options`."""
        self.host = host
        self.options = Options.of(view.options)
        self.layout = Layout(self.options, len(view.names), view.sram_bytes)
        self.warnings = tuple(self.layout.warnings)
        """What was asked for and is not there, in words."""
        self._me = view.me
        self._names = view.names
        self.handlers = Handlers()
        """The handler databases of this host."""
        self._database = Database(self)
        self._targets: dict[tuple[int, int], Target] = {}
        self._resources: Mapping[int, tuple[int, ...]] = MappingProxyType({})
        self._messenger: Messenger | None = None
        self._enabling = False

    # ---- initialisation (paper 003, C.2)

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
        messenger = Messenger(host, layout, self.options, self.handlers, buffers)
        messenger.on_report = self._reported
        self.handlers.absent = self._absent
        self.handlers.functions.update(self._database.built_in())
        self.handlers.functions[ABSENT] = self._absent_there
        await enable.start_nic(host, buffers[0].address + HostQueue.STATUS)
        self._messenger = messenger

    def _ready(self) -> Messenger:
        messenger = self._messenger
        if messenger is None:
            raise GrimError("grim_enable", "has not completed", "call and await it first")
        if messenger.errors:
            raise messenger.errors.popleft()
        return messenger

    # ---- who is who (paper 003, C.3)

    def get_vnn_from_name(self, name: str) -> int:
        """`grim_getVNNFromName`."""
        self._ready()
        if name not in self._names:
            raise GrimError("name", f"no host of the cluster is called {name!r}", nearest(name, self._names))
        return self._names.index(name)

    def get_vnn_name(self, vnn: int) -> str:
        """`grim_getVNNName`."""
        self._ready()
        return self._names[self._checked_vnn(vnn)]

    def get_my_vnn(self) -> int:
        """`grim_getMyVNN`."""
        self._ready()
        return self._me

    def get_my_name(self) -> str:
        """`grim_getMyName`."""
        self._ready()
        return self._names[self._me]

    def vnn_configuration(self) -> str:
        """What `grim_printVNNConfiguration` prints: one line a host, the own one marked."""
        self._ready()
        return "\n".join(
            f"{vnn:3d} {name}{' (this host)' if vnn == self._me else ''}" for vnn, name in enumerate(self._names)
        )

    def print_vnn_configuration(self) -> None:
        """`grim_printVNNConfiguration`."""
        print(self.vnn_configuration())

    def get_dest_id(self, vnn: int, device: int = Device.HOST, channel: int = 0) -> int:
        """`grim_getDestID`: the 32-bit reference of an endpoint whose place is known."""
        self._ready()
        self._checked_vnn(vnn, "destination")
        return self._reference(Reference(vnn, device, channel), "destination").pack()

    def get_resource(self, vnn: int, device: int, channel: int = 0) -> int:
        """`grim_getResource`: the reference of an endpoint of a device type, on node `vnn` or, with ANY_VNN, on the
        first that has it.
        """
        self._ready()
        nodes = self._resources.get(device, ())
        if vnn != ANY_VNN:
            nodes = tuple(node for node in nodes if node == self._checked_vnn(vnn))
        if not nodes:
            raise GrimError(
                "device",
                f"no node asked for has a device of type {device}",
                nearest("HOST", [kind.name for kind in Device]),
            )
        return self._reference(Reference(nodes[0], device, channel), "device").pack()

    def _checked_vnn(self, vnn: int, argument: str = "vnn") -> int:
        if not 0 <= vnn < len(self._names):
            raise GrimError(argument, f"there is no VNN {vnn}", f"the cluster has 0..{len(self._names) - 1}")
        return vnn

    def _reference(self, parts: Reference, argument: str) -> Reference:
        if parts.vnn >= len(self._names) or parts.vnn not in self._resources.get(parts.device, ()):
            raise GrimError(
                argument,
                f"there is no endpoint {parts}",
                f"hosts have VNN 0..{len(self._names) - 1} and device {int(Device.HOST)}",
            )
        if not 0 <= parts.channel < self.options.channels:
            raise GrimError(
                argument,
                f"there is no channel {parts.channel}",
                f"option channels gives 0..{self.options.channels - 1}",
            )
        return parts

    # ---- handlers (paper 003, C.4.1)

    def register_handler(self, function: Handler, name: str) -> None:
        """`grim_register_handler`: enter an own handler; others can use it after `sync_handlers`."""
        self.handlers.register(function, name)

    async def sync_handlers(self) -> None:
        """`grim_syncHandlers`: publish the own handlers, learn those that are published. Awaits the server on node
        0.
        """
        self._ready()
        await self._database.synchronise()

    async def resolve_handler(self, name: str) -> int:
        """`grim_resolveHandler`: the number of a handler; asks the server when it is not known here. GrimError when
        nobody has it.
        """
        self._ready()
        return await self._database.resolve(name)

    @property
    def nodes_served(self) -> int:
        """On node 0: how often another node has synchronised its handlers with this server."""
        return self._database.served

    # ---- messages (paper 003, C.4.2)

    async def send(
        self,
        destination: int,
        handler: int,
        a0: int = 0,
        a1: int = 0,
        a2: int = 0,
        a3: int = 0,
        payload: Payload = b"",
        *,
        channel: int = 0,
    ) -> None:
        """`grim_send`: run `handler` at `destination` with four 32-bit arguments and up to 16 MB. Polls once first.

        `payload` is bytes, anything with the buffer protocol, or a region of host memory (`address`, `size`).
        `channel` is the own channel, whose messages arrive in order. Waits, polling, while the channel's queue is
        full. Raises GrimError.
        """
        messenger = self._ready()
        target = self._targets.get((destination, channel)) or self._target(destination, channel)
        if handler not in self.handlers.names:
            self.handlers.check(handler)
        for value in (a0, a1, a2, a3):
            if value not in _ARGUMENTS:
                raise GrimError(
                    f"argument {(a0, a1, a2, a3).index(value)}",
                    f"{value} does not fit into 32 bits",
                    "send it as payload",
                )
        arguments = (a0 & 0xFFFFFFFF, a1 & 0xFFFFFFFF, a2 & 0xFFFFFFFF, a3 & 0xFFFFFFFF)
        if target.stream < 0:
            await self._send_to_self(messenger, channel, handler, arguments, payload)
        else:
            await messenger.send(target, handler, arguments, payload)

    def _target(self, destination: int, channel: int) -> Target:
        parts = self._reference(reference(destination), "destination")
        self._reference(Reference(self._me, Device.HOST, channel), "channel")
        stream = (channel * len(self._names) + parts.vnn) * self.options.channels + parts.channel
        w1, w2, w3 = (
            endpoint(self._me, Device.HOST),
            endpoint(parts.vnn, parts.device),
            channel << 24 | parts.channel << 16,
        )
        target = Target(w1, w2, w3, channel, stream if parts.vnn != self._me else -1)
        self._targets[destination, channel] = target
        return target

    async def _send_to_self(
        self, messenger: Messenger, channel: int, handler: int, arguments: tuple[int, int, int, int], payload: Payload
    ) -> None:
        data, address, size = payload_parts(payload)
        await self.host.spend("send_to_self")
        copy = self.host.load_bytes(address, size) if address else bytes(data)
        await self.host.spend("copy_line", -(-size // 32) or 1)
        a0, a1, a2, a3 = (value - (value >> 31 << 32) for value in arguments)
        messenger.to_self((Reference(self._me, Device.HOST, channel).pack(), handler, (a0, a1, a2, a3), copy))

    async def poll(self) -> int:
        """`grim_poll`: process the messages that have come; how many handlers ran."""
        messenger = self._ready()
        handled = await messenger.poll()
        if not handled:
            await self.host.spend("poll_empty")
        return handled

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """`while (!condition) grim_poll();`, without cost to the simulation while nothing comes."""
        await self._ready().wait_for(condition)

    @property
    def overflow(self) -> int:
        """Messages and segments that handlers have sent and the NI had no room for."""
        return self._messenger.overflow if self._messenger is not None else 0

    async def ni_counter(self, counter: Counter) -> int:
        """Read one of the NI's counters over the bus."""
        self._ready()
        return await self.host.pio_read(self.host.nic_base + self.layout.counter(counter))

    # ---- what went wrong elsewhere

    async def _absent(self, source: int, handler: int) -> None:
        """A message came for a handler that this endpoint does not have: tell its sender."""
        if handler != ABSENT:
            await self.send(source, ABSENT, handler)

    def _absent_there(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        parts = reference(source)
        name = self.handlers.names.get(a0, str(a0))
        self._fail(
            GrimError(
                "handler",
                f"{name!r} is not registered at node {parts.vnn}, channel {parts.channel}",
                "register it there",
            )
        )

    def _reported(self, arguments: tuple[int, int, int, int]) -> None:
        w2, w3, cause, _ = arguments
        self._fail(
            GrimError(
                "destination",
                f"VNN {w2 >> 8 & 0xFF}, channel {w3 >> 16 & 0xFF} refused a message for ever (cause {cause})",
                "check the reference",
            )
        )

    def _fail(self, error: GrimError) -> None:
        assert self._messenger is not None
        self._messenger.errors.append(error)
