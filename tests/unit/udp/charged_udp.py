"""UDP operations whose costs are recorded: calls, datagrams of one and several frames, sleeping, select, drops."""

from __future__ import annotations

from firmware.udp.nic.layout import SLOTS
from tests.unit.layers.charges import Charges, settled
from tests.unit.udp.udp_bench import PORT, Bench, patterned


def tour(charges: Charges) -> None:
    """Run each operation."""
    with charges.operation("start, a socket with a port each"):
        bench = Bench()
    near, machine = bench.sockets[0], bench.machine
    with charges.operation("connect"):
        bench.run(near.connect(1, PORT))
    for size in (4, 4096, 20000):
        with charges.operation(f"send of {size} B"):
            bench.run(settled(machine, bench.give(0, 1, [patterned(size)])))
        with charges.operation(f"receive of {size} B"):
            bench.run(bench.one(1))
    with charges.operation("receive of 4 B into 2"):
        bench.run(settled(machine, bench.give(0, 1, [b"long"])))
        bench.run(bench.sockets[1].recvfrom(bench.memory[1], 2))
    with charges.operation("receive of 4 B, asleep"):
        bench.run(settled(machine, bench.give(0, 1, [b"late"])), bench.one(1))
    with charges.operation("select that finds nothing"):
        bench.run(bench.udps[1].select(bench.processes[1], [bench.sockets[1]], 0))
    with charges.operation("signals"):
        bench.run(bench.sockets[1].set_async(True), bench.sockets[1].set_async(False))
    with charges.operation("room"):
        bench.run(bench.sockets[1].set_room(1 << 20))
    faults = machine.faults
    faults.corrupt(0, 1, faults.passed(0, 1), 20)
    with charges.operation("one that is damaged"):
        bench.run(settled(machine, bench.give(0, 1, [b"lost"])))
    machine.host(1).pause()
    with charges.operation("more than the NIC has buffers for"):
        bench.run(settled(machine, bench.give(0, 1, [b"x"] * (SLOTS + 4))))
    machine.host(1).resume()
    bench.run(bench.get(1, SLOTS))
    faults.delay(0, 1, faults.passed(0, 1), 50_000_000)
    with charges.operation("more than the NIC has room for"):
        bench.run(settled(machine, bench.give(0, 1, [patterned(8000)] * 8)))
    bench.run(bench.get(1, 8))
    faults.delay(0, 1, faults.passed(0, 1), 900_000_000)
    with charges.operation("more than there are send buffers"):
        bench.run(settled(machine, bench.give(0, 1, [b"x"] * (SLOTS + 8))))
    with charges.operation("close"):
        bench.run(near.close())
