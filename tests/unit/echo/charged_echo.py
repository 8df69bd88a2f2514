"""Echo operations whose costs are recorded: every call of the library."""

from __future__ import annotations

from firmware.layers import host_library, nic_program, open_mail
from firmware.view import ClusterView
from pymodels.machine import Machine
from tests.unit.layers.charges import Charges, settled


def tour(charges: Charges) -> None:
    """Run each operation."""
    machine = Machine(2)
    hosts = []
    for node in range(2):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("echo")(machine.nic(node), view), "echo")
        hosts.append(host_library("echo")(machine.host(node), view))
    with charges.operation("echo start"):
        machine.finish(*(host.start() for host in hosts))
    with charges.operation("echo send and receive"):
        machine.finish(settled(machine, hosts[0].send(1, b"64 bytes")), hosts[1].receive())
    with charges.operation("echo answer"):
        machine.finish(hosts[0].send(1, b"back"), hosts[1].echo(), hosts[0].receive())

    async def posts(me: int) -> None:
        mail = open_mail("echo", hosts[me])
        for _ in range(2):
            await mail.post(1 - me, b"two behind each other")
        for _ in range(2):
            await mail.receive()

    with charges.operation("echo posts behind a full slot"):
        machine.finish(posts(0), posts(1))
