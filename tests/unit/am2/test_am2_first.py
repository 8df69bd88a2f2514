"""First program of a user, as shown on the page of AM-II.

Strategy: it runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.am2.host import Am2, EndpointName, Token
from firmware.layers import nic_program
from firmware.view import ClusterView
from pymodels.machine import Machine


async def program(am2: Am2, nodes: int) -> list[bytes]:
    came: list[bytes] = []

    async def double(token: Token) -> None:  # a request: it may answer, once, and send nothing else
        (number,) = token.arguments
        await token.reply_i(2, token.data.upper(), 2 * number)

    async def result(token: Token) -> None:
        came.append(b"%d %s" % (token.arguments[0], token.data))

    async def returned(token: Token) -> None:  # handler 0: what could not be delivered, and why
        raise RuntimeError(f"{token.opcode} to {token.source}: {token.status.name}")

    bundle = am2.init().allocate_bundle()
    endpoint = await bundle.allocate_endpoint()
    for index, handler in enumerate((returned, double, result)):
        endpoint.set_handler(index, handler)
    await endpoint.set_tag(0xCAFE)  # senders must use the same tag
    for node in range(nodes):  # translation n: the first endpoint of node n
        endpoint.map(node, EndpointName(node, 0), 0xCAFE)
    others = [node for node in range(nodes) if node != am2.me]
    for node in others:
        await endpoint.request_i(node, 1, b"from %d" % am2.me, 10 + node)
    await bundle.until(lambda: len(came) == nodes - 1 == endpoint.handled, "the answers")
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_of_the_page_returns_all_answers(nodes: int) -> None:
    machine, layers = Machine(nodes), list[Am2]()
    for node, host in enumerate(machine.hosts):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("am2")(machine.nic(node), view), "am2")
        layers.append(Am2(host, view))
    machine.finish(*(layer.start() for layer in layers))
    answers = machine.finish(*(program(layer, nodes) for layer in layers))
    for me in range(nodes):
        assert answers[me] == [b"%d FROM %d" % (20 + 2 * node, me) for node in range(nodes) if node != me]
