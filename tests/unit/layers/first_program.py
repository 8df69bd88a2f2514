"""Check of the first programs of layers with requests and replies: each node lets all others double a number.

The programs look alike, because AM, HPAM and SSAM have one API for requests and replies. Each is in a file of its own,
which the layer's page quotes completely.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from firmware.layers import host_library
from firmware.view import ClusterView
from pymodels.machine import Machine


def on_fifo_cards(name: str, nodes: int) -> tuple[Machine, list[Any]]:
    """Return a machine, and the layer on each of its hosts."""
    machine = Machine(nodes, nic="fifo")
    views = [ClusterView(**machine.view(vnn)) for vnn in range(nodes)]
    return machine, [host_library(name)(host, view) for host, view in zip(machine.hosts, views, strict=True)]


def check(machine: Machine, layers: Sequence[Any], program: Callable[[Any], Coroutine[Any, Any, list[bytes]]]) -> None:
    """Start the layers, run the program on each, and check that it has the answers of all others."""
    machine.finish(*(layer.start() for layer in layers))
    answers = machine.finish(*(program(layer) for layer in layers))
    for me, got in enumerate(answers):
        assert got == [b"%d FROM %d" % (20 + 2 * vnn, me) for vnn in range(len(layers)) if vnn != me]
