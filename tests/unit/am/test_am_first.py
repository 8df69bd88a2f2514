"""First program of AM's page.

Strategy: the program runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.am.host import Am, Call
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine
from tests.unit.layers.first_program import check


async def program(am: Am, nodes: int) -> list[bytes]:
    came: list[bytes] = []

    async def double(call: Call) -> None:  # a request: it may answer, once, and send nothing else
        (number,) = call.arguments
        await call.reply(result, 2 * number, data=call.data.upper())

    async def result(call: Call) -> None:
        came.append(b"%d %s" % (call.arguments[0], call.data))

    port = am.open([double, result])  # the same handlers on all nodes
    for node in port.partners:
        await port.request(node, double, 10 + node, data=b"from %d" % am.me)
    await port.until(lambda: len(came) == nodes - 1 and port.handled == nodes - 1, "the answers")
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    machine, layers = Machine(nodes), list[Am]()
    for node, host in enumerate(machine.hosts):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("am")(machine.nic(node), view), "am")
        layers.append(Am(host, view))
    check(machine, layers, lambda am: program(am, nodes))
