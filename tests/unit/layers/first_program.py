"""What the first programs of layers with requests and replies come to: each node asks all others to double a number.

The programs themselves look alike, because AM, HPAM and SSAM have one API for requests and replies; each stands in a
file of its own, from which the layer's page quotes it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from firmware.layers import host_library
from firmware.view import ClusterView
from pymodels.machine import Machine


def on_fifo_cards(name: str, nodes: int) -> tuple[Machine, list[Any]]:
    """A machine, and the layer on each of its hosts."""
    machine = Machine(nodes, nic="fifo")
    views = [ClusterView(**machine.view(vnn)) for vnn in range(nodes)]
    return machine, [host_library(name)(host, view) for host, view in zip(machine.hosts, views, strict=True)]


def check(machine: Machine, layers: Sequence[Any], program: Callable[[Any], Coroutine[Any, Any, list[bytes]]]) -> None:
    """Start the layers and run the program on each: it has the answers of all others."""
    machine.finish(*(layer.start() for layer in layers))
    answers = machine.finish(*(program(layer) for layer in layers))
    for me, got in enumerate(answers):
        assert got == [b"%d FROM %d" % (20 + 2 * vnn, me) for vnn in range(len(layers)) if vnn != me]
