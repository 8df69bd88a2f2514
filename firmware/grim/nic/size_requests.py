"""Queue sizes and channels requested by the cluster configuration (papers 003, C.1.1; 000, 4.3.1).

A requested size becomes an option of its node, unless that option is given explicitly. A size above the capacity is
reduced to the capacity, with a warning (readings B10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from firmware.grim.channel_map import channel_map, wanted_channels
from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.config.model import FPGA_CARD, HOST_QUEUE, IO_CARD, NETWORK_CARD, QueueRequest

OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        NETWORK_CARD: "queue_bytes",
        HOST_QUEUE: "host_queue_bytes",
        FPGA_CARD: "card_queue_bytes",
        IO_CARD: "card_queue_bytes",
    }
)
"""Option that sets the queue size of each resource. A frame buffer has no such option."""


def resolve_options(view: ClusterView, sram_bytes: int, executes: bool = False) -> tuple[Options, Layout]:
    """Return the options and the SRAM layout of a node.

    Args:
        view: Cluster as this node sees it.
        sram_bytes: SRAM of the node's NIC in bytes.
        executes: True if the NIC executes compiled firmware.

    Raises:
        OptionError: An option, a requested queue size or a connected channel is invalid. The error of a request names
            its line in the configuration.
    """
    asked: dict[str, int] = {}
    if _may_set(view, "channels") and (channels := wanted_channels(view)):
        asked["channels"] = max(channels, int(view.options.get("channels", 0)))
    for name, request in _in_force(view):
        declared = Options.declared()[name]
        asked[name] = min(request.size, int(declared.high))
        if (fault := declared.fault(name, asked[name])) is not None:
            raise OptionError(_place(request), *fault[1:])
    try:
        options = Options.from_values({**view.options, **asked})
        for vnn in range(len(view.channels)):
            channel_map(options, view, vnn)
        return options, Layout(options, len(view.names), sram_bytes, executes)
    except OptionError as error:
        for name, request in _in_force(view):
            if error.what == f"option {name}":
                raise OptionError(_place(request), error.cause, "request more") from None
        raise


def warnings(view: ClusterView, options: Options, layout: Layout) -> tuple[str, ...]:
    """Return a warning for each queue that is smaller than requested."""
    got = {name: getattr(options, name) for name in OPTIONS.values()} | {"queue_bytes": layout.queue_bytes}
    asked = dict(_in_force(view))
    cut = [
        f"{_place(request)}: {request.size} bytes exceed the capacity; {got[name]} are used"
        for name, request in asked.items()
        if got[name] < request.size
    ]
    return (*cut, *([] if "queue_bytes" in asked else layout.warnings))


def _in_force(view: ClusterView) -> Iterator[tuple[str, QueueRequest]]:
    """Yield option name and request of each queue size that no explicit option overrides."""
    for request in view.queues:
        name = OPTIONS.get(request.resource)
        if name and _may_set(view, name):
            yield name, request


def _may_set(view: ClusterView, name: str) -> bool:
    """Return True if the configuration may set an option, because neither the user nor the study gave it."""
    return name not in view.options or name in view.unset


def _place(request: QueueRequest) -> str:
    return f"{request.place}: queue size of {request.resource}"
