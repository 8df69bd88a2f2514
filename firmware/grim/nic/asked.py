"""The queue sizes requested in a configuration (paper 003, C.1.1): they become options of that node, unless the option
itself is given; a size above the capacity is reduced to it, with a warning (readings B10).
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
"""The option that sizes the queues of a resource. A frame buffer has none."""


def planned(view: ClusterView, sram_bytes: int, executes: bool = False) -> tuple[Options, Layout]:
    """Options and map of memory of a node; `executes`: its NIC executes its firmware. Raises OptionError, for a queue
    of the configuration at its line.
    """
    asked: dict[str, int] = {}
    for name, request in _in_force(view):
        declared = Options.declared()[name]
        asked[name] = min(request.size, int(declared.high))
        if (fault := declared.fault(name, asked[name])) is not None:
            raise OptionError(_place(request), *fault[1:])
    try:
        options = Options.of({**view.options, **asked})
        return options, Layout(options, len(view.names), sram_bytes, executes)
    except OptionError as error:
        for name, request in _in_force(view):
            if error.what == f"option {name}":
                raise OptionError(_place(request), error.cause, "ask for more") from None
        raise


def warnings(view: ClusterView, options: Options, layout: Layout) -> tuple[str, ...]:
    """The sizes that are smaller than requested."""
    got = {name: getattr(options, name) for name in OPTIONS.values()} | {"queue_bytes": layout.queue_bytes}
    asked = dict(_in_force(view))
    cut = [
        f"{_place(request)}: {request.size} bytes are over capacity; {got[name]} are used"
        for name, request in asked.items()
        if got[name] < request.size
    ]
    return (*cut, *([] if "queue_bytes" in asked else layout.warnings))


def _in_force(view: ClusterView) -> Iterator[tuple[str, QueueRequest]]:
    """The requests that no option overrules, with the names of their options."""
    for request in view.queues:
        name = OPTIONS.get(request.resource)
        if name and name not in view.options:
            yield name, request


def _place(request: QueueRequest) -> str:
    return f"{request.place}: queue size of {request.resource}"
