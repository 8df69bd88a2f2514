"""First program of UDP's page.

Strategy: the program runs on two hosts and on four.
"""

from __future__ import annotations

import pytest

from firmware.layers import nic_program
from firmware.udp.host import Udp
from firmware.view import ClusterView
from pymodels.machine import Machine


async def program(udp: Udp) -> list[bytes]:
    app = udp.host.process("app")
    memory = app.allocate(4096)
    socket = await udp.socket(app)
    await socket.bind(2049)
    came: list[bytes] = []
    for node in range(udp.nodes):
        if node != udp.me:
            app.store_bytes(memory, b"from %d to %d" % (udp.me, node))
            await socket.sendto(memory, 11, node, 2049)
    while len(came) < udp.nodes - 1 and await udp.select(app, [socket], 10_000_000):  # a datagram may be lost
        got = await socket.recvfrom(memory, 4096)
        came.append(app.load_bytes(memory, got.size))
    return sorted(came)


@pytest.mark.parametrize("nodes", [2, 4])
def test_the_first_program_does_what_it_says(nodes: int) -> None:
    machine, udps = Machine(nodes), list[Udp]()
    for node, host in enumerate(machine.hosts):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("udp")(machine.nic(node), view), "udp")
        udps.append(Udp(host, view))
    machine.finish(*(udp.start() for udp in udps))
    answers = machine.finish(*(program(udp) for udp in udps))
    for me in range(nodes):
        assert answers[me] == [b"from %d to %d" % (node, me) for node in range(nodes) if node != me]
