"""Queue sizes requested by the cluster configuration (paper 003, C.1.1).

A requested size becomes an option of its node, unless that option is given explicitly. A size above the capacity is
reduced to the capacity, with a warning (readings B10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from firmware.grim.nic.layout import Layout
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.config.model import FPGA_CARD, HOST_QUEUE, NETWORK_CARD, QueueRequest

OPTIONS: Mapping[str, str] = MappingProxyType(
    {NETWORK_CARD: "queue_bytes", HOST_QUEUE: "host_queue_bytes", FPGA_CARD: "card_queue_bytes"}
)
"""Option that sets the queue size of each resource. A frame buffer has no such option."""


def resolve_options(view: ClusterView, sram_bytes: int, executes: bool = False) -> tuple[Options, Layout]:
    """Return the options and the SRAM layout of a node.

    Args:
        view: Cluster as this node sees it.
        sram_bytes: SRAM of the node's NIC in bytes.
        executes: True if the NIC executes compiled firmware.

    Raises:
        OptionError: An option or a requested queue size is invalid. The error of a requested size names its line in the
            configuration.
    """
    asked: dict[str, int] = {}
    for name, request in _in_force(view):
        declared = Options.declared()[name]
        asked[name] = min(request.size, int(declared.high))
        if (fault := declared.fault(name, asked[name])) is not None:
            raise OptionError(_place(request), *fault[1:])
    try:
        options = Options.from_values({**view.options, **asked})
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
        if name and name not in view.options:
            yield name, request


def _place(request: QueueRequest) -> str:
    return f"{request.place}: queue size of {request.resource}"
