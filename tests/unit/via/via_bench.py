"""VIA on the machine: hosts with the driver loaded, processes with registered memory, connected VIs."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import pytest

from firmware.layers import host_library, nic_program
from firmware.via.formats import Reliability, Status
from firmware.via.host import Result, Vi, Via, VipError
from firmware.view import ClusterView
from pymodels.machine import Machine
from tb.studies.via._via import User, connect, user


def start(machine: Machine, load: bool = True, **options: int | str) -> list[Via]:
    """Start the firmware on every NIC, and with `load` the driver on every host."""
    vias: list[Via] = []
    for node in range(len(machine.names)):
        view = ClusterView(**machine.view(node, **options))
        nic = machine.processor(node)
        nic.spawn(nic_program("via")(nic, view), "via")
        vias.append(host_library("via")(machine.host(node), view))
    if load:
        machine.finish(*(via.start() for via in vias))
    return vias


@dataclass
class Pair:
    """Two processes on two hosts with a connection."""

    machine: Machine
    vias: list[Via]
    here: User
    there: User
    mine: Vi
    yours: Vi


def pair(machine: Machine | None = None, reliability: Reliability = Reliability.UNRELIABLE, **options: Any) -> Pair:
    """Create two hosts with a connection of a reliability level."""
    machine = machine or Machine(2)
    vias = start(machine, **options)
    here, there = machine.finish(user(vias[0], rdma_write=True), user(vias[1], rdma_write=True))
    ((mine, yours),) = machine.finish(connect(here, there, 1, reliability=reliability))
    return Pair(machine, vias, here, there, mine, yours)


def pattern(size: int, salt: int = 0) -> bytes:
    """Return bytes that are unique for a size and salt."""
    return bytes((7 * i + (i >> 8) + size + 31 * salt) & 0xFF for i in range(size))


async def message(here: User, mine: Vi, there: User, yours: Vi, size: int = 100) -> None:
    """Check that a message is delivered unchanged."""
    here.write(0, pattern(size))
    await yours.post_receive(there.descriptor(0).receive([there.part(0, size)]))
    await mine.post_send(here.descriptor(1).send([here.part(0, size)]))
    assert (await mine.poll_send()).status == Status.DONE
    assert (await yours.poll_receive()).status == Status.DONE | Status.RECEIVE
    assert there.read(0, size) == pattern(size)


async def good(p: Pair) -> None:
    """Check that a message is delivered between the two processes."""
    await message(p.here, p.mine, p.there, p.yours)


async def refused(call: Awaitable[Any], result: Result = Result.INVALID_PARAMETER) -> None:
    """Check that a call fails with this code."""
    with pytest.raises(VipError) as error:
        await call
    assert error.value.result is result
