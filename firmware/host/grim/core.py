"""What every part of the library stands on: the host, the options, the cluster's names, and errors that come late."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware.host.grim.arguments import whole
from firmware.host.grim.errors import GrimError
from firmware.host.grim.handlers import Handlers
from firmware.host.grim.messenger import Messenger
from firmware.layers import ClusterView
from firmware.nic.grim.asked import planned, warnings
from firmware.verbs import Host
from pymodels.config.model import FPGA_CARD
from pymodels.formats.grim import Device, Reference

ANY_VNN = 0xFFFFFFFF
"""For `get_resource`: on whatever node it is."""


class Core:
    """The state that the parts of the API share. The API itself is `Grim` (library.py), which inherits the parts."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        """Raises OptionError for an option that cannot be. `view.options` are those of `firmware.nic.grim.options`."""
        self.host = host
        self.options, self.layout = planned(view, view.sram_bytes)
        self.warnings = warnings(view, self.options, self.layout)
        """What was asked for and is not there, in words."""
        self.handlers = Handlers()
        """The handler databases of this host."""
        self._view = view
        self._me = view.me
        self._names = view.names
        self._cards = view.cards
        self._pnns = view.pnns or tuple(range(len(view.names)))
        self._resources: Mapping[int, tuple[int, ...]] = MappingProxyType({})
        """The resource database: VNNs by device type."""
        self._messenger: Messenger | None = None
        self._enabling = False

    def _ready(self) -> Messenger:
        """The messenger. Raises GrimError before `grim_enable`, or for what went wrong behind the caller's back."""
        messenger = self._messenger
        if messenger is None:
            raise GrimError("grim_enable", "has not completed", "call and await it first")
        if messenger.errors:
            raise messenger.errors.popleft()
        return messenger

    async def _begin_call(self) -> Messenger:
        """`_ready`, for calls that may use the network: each polls once first (paper 000, 4.4.2)."""
        messenger = self._ready()
        await messenger.poll_first()
        return messenger

    def _may_wait(self, call: str) -> None:
        """Raises GrimError for a call that waits for messages and comes from a handler."""
        if self._ready().in_handler:
            cause = "a handler has called it, and nothing is polled until that returns, so it would wait for ever"
            raise GrimError(call, cause, "set a flag in the handler and call it after grim_poll")

    def _fail(self, error: GrimError) -> None:
        """Something went wrong behind the caller's back: the next call raises it."""
        assert self._messenger is not None
        self._messenger.errors.append(error)

    def _checked_vnn(self, vnn: int, argument: str = "vnn") -> int:
        vnn = whole(argument, vnn)
        if not 0 <= vnn < len(self._names):
            raise GrimError(argument, f"there is no VNN {vnn}", f"the cluster has 0..{len(self._names) - 1}")
        return vnn

    def _has_card(self, vnn: int, card: str = FPGA_CARD) -> bool:
        return bool(self._cards) and card in self._cards[vnn]

    def _reference(self, parts: Reference, argument: str) -> Reference:
        """An endpoint that the resource database has. Raises GrimError."""
        if parts.device == Device.CELOXICA:
            parts = parts._replace(channel=self.options.channels - 1)
        if parts.vnn >= len(self._names) or parts.vnn not in self._resources.get(parts.device, ()):
            remedy = f"hosts have VNN 0..{len(self._names) - 1} and device {int(Device.HOST)}"
            raise GrimError(argument, f"there is no endpoint {parts}", remedy)
        if parts.device == Device.HOST and parts.channel == self.options.channels - 1 and self._has_card(parts.vnn):
            cause = f"channel {parts.channel} of node {parts.vnn} belongs to its FPGA card"
            raise GrimError(argument, cause, "use a lower one")
        if not 0 <= parts.channel < self.options.channels:
            raise GrimError(
                argument,
                f"there is no channel {parts.channel}",
                f"option channels gives 0..{self.options.channels - 1}",
            )
        return parts
