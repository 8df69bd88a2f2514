"""FIFO driver operations whose costs are recorded, in both forms of the card."""

from __future__ import annotations

from typing import Any

from firmware.layers import host_library
from firmware.nics.fifo.buffers import BufferPort
from firmware.view import ClusterView
from pymodels.machine import Machine
from tests.unit.layers.charges import Charges


def tour(charges: Charges) -> None:
    """Send more messages than there are buffers or cells in the FIFO."""
    for form in ("buffers", "cells"):
        machine = Machine(2, nic="fifo")
        views = [ClusterView(**machine.view(node, form=form)) for node in range(2)]
        hosts = [host_library("fifo")(machine.host(node), view) for node, view in enumerate(views)]
        machine.finish(*(host.start() for host in hosts))

        async def give(sender: Any = hosts[0]) -> None:
            for _ in range(12):
                await sender.send(1, bytes(200))

        async def take(receiver: Any = hosts[1]) -> None:
            for _ in range(12):
                await receiver.receive()

        with charges.operation(f"fifo {form}"):
            machine.finish(give(), take())
    machine = Machine(1, nic="fifo")
    host = machine.host(0)
    with charges.operation("fifo buffer that is read back"):
        machine.finish(BufferPort(host, lambda offset: host.nic_base + offset).saved(1, 200))
