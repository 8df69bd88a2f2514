"""Names and numbers of the cluster's nodes, and references to endpoints (paper 003, C.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firmware.grim.channel_map import ChannelMap, channel_map, connections
from firmware.grim.formats import Device, Reference, reference
from firmware.grim.host import configuration
from firmware.grim.host.arguments import text, whole, word
from firmware.grim.host.calls import Calls
from firmware.grim.host.errors import GrimError
from firmware.grim.options import Options
from firmware.view import ClusterView
from pymodels.card.fabric import limits, names
from pymodels.config.model import ENDPOINT_CARDS, FRAME_CARD
from pymodels.errors import nearest

ENDPOINTS = (Device.HOST, Device.CELOXICA)
"""Device types that messages can be sent to."""
ANY_VNN = 0xFFFFFFFF
"""VNN argument of `get_resource` that selects the first node with the device."""


class Nodes:
    """Calls of tables C.1 and C.2."""

    def __init__(self, view: ClusterView, options: Options, calls: Calls) -> None:
        self._view, self._options, self._calls = view, options, calls
        self.me, self.names = view.me, view.names
        self._cards = view.cards
        self.limits: Mapping[str, int] = limits(view.circuits)
        """Longest message in bytes of each circuit of FPGA cards, by name."""
        self.circuits = names(view.circuits)
        """Names of the circuits of FPGA cards, by number."""
        self._maps: dict[int, ChannelMap] = {}
        """Owners of the channels of each requested node, by VNN."""
        self._pnns = view.pnns or tuple(range(len(view.names)))
        self._resources: Mapping[int, tuple[int, ...]] = {}
        """Resource database: VNNs by device type."""

    # ---- configuration, called by `grim_enable`

    def configure(self) -> None:
        """Read and check the configuration. Raises ConfigError or GrimError."""
        cluster = configuration.read(self._view)
        if cluster is not None:
            self._pnns = tuple(host.pnn for host in cluster.hosts)
            self._cards = tuple(frozenset(host.cards) for host in cluster.hosts)

    def find_resources(self) -> None:
        """Build the resource database: every node has a host and a NI, some nodes have cards."""
        everyone = tuple(range(len(self.names)))
        nodes: dict[int, tuple[int, ...]] = {Device.HOST: everyone, Device.NI: everyone}
        for device, cards in ((Device.CELOXICA, ENDPOINT_CARDS), (Device.FRAME_BUFFER, (FRAME_CARD,))):
            nodes[device] = tuple(vnn for vnn in everyone if self.has_card(vnn, cards))
        self._resources = {device: vnns for device, vnns in nodes.items() if vnns}

    def channels(self, vnn: int) -> ChannelMap:
        """Return the owners of a node's channels."""
        if vnn not in self._maps:
            self._maps[vnn] = channel_map(self._options, self._view, vnn)
        return self._maps[vnn]

    # ---- argument checks

    def checked_vnn(self, vnn: int, argument: str = "vnn") -> int:
        """Return the VNN of a node of the cluster. Raises GrimError naming the argument."""
        vnn = whole(argument, vnn)
        if not 0 <= vnn < len(self.names):
            raise GrimError(argument, f"unknown VNN {vnn}", f"the cluster has 0..{len(self.names) - 1}")
        return vnn

    def has_card(self, vnn: int, cards: Sequence[str] = ENDPOINT_CARDS) -> bool:
        """Return True if a node has one of the cards."""
        return bool(self._cards) and not self._cards[vnn].isdisjoint(cards)

    def reference(self, parts: Reference, argument: str) -> Reference:
        """Return an endpoint of the resource database. Raises GrimError for an unknown endpoint or channel."""
        if parts.device == Device.CELOXICA:
            parts = parts._replace(channel=self._card(parts.vnn))
        if parts.vnn >= len(self.names) or parts.vnn not in self._resources.get(parts.device, ()):
            remedy = f"hosts have VNN 0..{len(self.names) - 1} and device {int(Device.HOST)}"
            raise GrimError(argument, f"unknown endpoint {parts}", remedy)
        if parts.device == Device.HOST and self.has_card(parts.vnn) and parts.channel == self._card(parts.vnn):
            owner = self.channels(parts.vnn).owner(parts.channel)
            cause = f"channel {parts.channel} of node {parts.vnn} belongs to {owner}"
            raise GrimError(argument, cause, "use another channel")
        if not 0 <= parts.channel < self._options.channels:
            raise GrimError(
                argument,
                f"unknown channel {parts.channel}",
                f"option channels gives 0..{self._options.channels - 1}",
            )
        return parts

    def endpoint(self, packed: int, argument: str) -> Reference:
        """Return the endpoint of a 32-bit reference that takes messages. Raises GrimError naming the argument."""
        parts = self.reference(reference(word(argument, packed)), argument)
        if parts.device not in ENDPOINTS:
            cause = f"a device of type {Device(parts.device).name} runs no handlers"
            raise GrimError(argument, cause, "use a host or a card")
        return parts

    def _card(self, vnn: int) -> int:
        """Return the channel of a node's card; 0 without a card."""
        return self.channels(vnn).card if self.has_card(vnn) else 0

    def own_channel(self, channel: int, process: str = "") -> int:
        """Return a channel of this host, or of one of its processes.

        Args:
            channel: Number of the channel.
            process: Name of the process that calls; empty for the host's own application.

        Raises:
            GrimError: The channel is invalid, or belongs to another endpoint.
        """
        self.reference(Reference(self.me, Device.HOST, channel), "channel")
        owner = self.channels(self.me).process(channel)
        if owner != process:
            cause = f"channel {channel} belongs to {f'process {owner!r}' if owner else 'the host'}"
            own = self.channels(self.me).processes
            remedy = f"use its own channel {own[process]}" if process else f"call process({owner!r}) for its endpoint"
            raise GrimError("channel", cause, remedy)
        return channel

    # ---- calls

    def get_vnn_from_name(self, name: str) -> int:
        """Return the virtual node number of a host (`grim_getVNNFromName`)."""
        self._calls.ready()
        if text("name", name) not in self.names:
            raise GrimError("name", f"unknown host {name!r}", nearest(name, self.names))
        return self.names.index(name)

    def get_vnn_name(self, vnn: int) -> str:
        """Return the name of a node (`grim_getVNNName`)."""
        self._calls.ready()
        return self.names[self.checked_vnn(vnn)]

    def get_my_vnn(self) -> int:
        """Return this host's virtual node number (`grim_getMyVNN`)."""
        self._calls.ready()
        return self.me

    def get_my_name(self) -> str:
        """Return this host's name (`grim_getMyName`)."""
        self._calls.ready()
        return self.names[self.me]

    def vnn_configuration(self) -> str:
        """Return one line for each host with its virtual and physical node number, followed by its connected channels;
        this host's line is marked.
        """
        self._calls.ready()
        lines = []
        for vnn, name in enumerate(self.names):
            mark = " (this host)" if vnn == self.me else ""
            lines.append(f"VNN {vnn:3d}  PNN {self._pnns[vnn]:3d}  {name}{mark}")
            lines += [f"  CHANNEL {one}" for one in connections(self._view, vnn)]
        return "\n".join(lines)

    def print_vnn_configuration(self) -> None:
        """Print `vnn_configuration` (`grim_printVNNConfiguration`)."""
        print(self.vnn_configuration())

    def get_dest_id(self, vnn: int, device: int = Device.HOST, channel: int = 0) -> int:
        """Return the 32-bit reference of the endpoint of a node, device type and channel (`grim_getDestID`)."""
        self._calls.ready()
        parts = Reference(self.checked_vnn(vnn, "destination"), whole("device", device), whole("channel", channel))
        return self.reference(parts, "destination").pack()

    def get_process(self, vnn: int, process: str) -> int:
        """Return the reference of the endpoint of a process on node `vnn`. Raises GrimError for an unknown process."""
        self._calls.ready()
        return self.process(self.checked_vnn(vnn), process).pack()

    def process(self, vnn: int, process: str) -> Reference:
        """Return the endpoint of a process. Raises GrimError if no CHANNEL line of the node connects it."""
        known = self.channels(vnn).processes
        if text("process", process) not in known:
            cause = f"no CHANNEL line of {self.names[vnn]} connects a process {process!r}"
            remedy = nearest(process, known) if known else f"add CHANNEL <number> PROCESS {process}"
            raise GrimError("process", cause, remedy)
        return Reference(vnn, Device.HOST, known[process])

    def get_resource(self, vnn: int, device: int, channel: int = 0) -> int:
        """Return the reference of an endpoint of a device type on node `vnn` (`grim_getResource`).

        ANY_VNN selects the first node that has such a device. Raises GrimError if there is none.
        """
        self._calls.ready()
        device, channel = whole("device", device), whole("channel", channel)
        nodes = self._resources.get(device, ())
        if vnn != ANY_VNN:
            asked = self.checked_vnn(vnn)
            nodes = tuple(node for node in nodes if node == asked)
        if not nodes:
            raise GrimError(
                "device",
                f"no requested node has a device of type {device}",
                nearest("HOST", [kind.name for kind in Device]),
            )
        return self.reference(Reference(nodes[0], device, channel), "device").pack()
