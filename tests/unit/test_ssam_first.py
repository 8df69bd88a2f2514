"""The first program of a user, as the page of SSAM shows it, does what it says.

Strategy: it is run on two hosts and on four.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.host.ssam import Call, Ssam
from firmware.layers import ClusterView, host_library
from pymodels.machine import Machine


async def program(ssam: Ssam) -> list[bytes]:
    came: list[bytes] = []

    async def double(call: Call) -> None:  # a request: it may answer, once, and send nothing else
        (number,) = call.arguments
        await call.reply(result, 2 * number, data=call.data.upper())

    async def result(call: Call) -> None:
        came.append(b"%d %s" % (call.arguments[0], call.data))

    port = await ssam.open([double, result])  # the same handlers, in the same order, in all processes
    others = ssam.kernel.partners
    for vnn in others:
        await port.request(vnn, double, 10 + vnn, data=b"from %d" % ssam.me)
    await port.until(lambda: len(came) == len(others) and port.handled == len(others), "the answers")
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    machine = Machine(nodes, nic="fifo")
    views = [ClusterView(**machine.view(vnn)) for vnn in range(nodes)]
    ssams: list[Any] = [host_library("ssam")(host, view) for host, view in zip(machine.hosts, views, strict=True)]
    machine.finish(*(ssam.start() for ssam in ssams))
    answers = machine.finish(*(program(ssam) for ssam in ssams), within_us=1e6)
    for me in range(nodes):
        assert answers[me] == [b"%d FROM %d" % (20 + 2 * vnn, me) for vnn in range(nodes) if vnn != me]
