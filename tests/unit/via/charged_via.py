"""Operations of VIA under every preset, for the table of charged paths.

The operations cover a connection from start to end, messages of each kind, completion queues and reliable levels.
Further messages are on other NICs and with other ways to read descriptors.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.via.formats import Reliability
from firmware.via.options import PRESETS
from pymodels.machine import Machine
from tb.studies.via._via import connect, join, user
from tests.unit.layers.charges import Charges, settled
from tests.unit.via.via_bench import Pair, pair, start


def tour(charges: Charges) -> None:
    """Run all operations."""
    for preset in PRESETS:
        _Tour(charges, preset).run()
    firmvia = _Tour(charges, "firmvia")
    for kind in ("lanai4", "sp"):
        firmvia.message(pair(Machine(2, nic=kind)), 4000, f" on {kind}")
    firmvia.message(pair(Machine(2), exact=1), 4000, " exact")
    for descriptors in ("ahead", "prefetch"):
        _Tour(charges, "bvia2").message(pair(preset="bvia2", descriptors=descriptors), 4000, f" read by {descriptors}")


class _Tour:
    """Operations under one preset."""

    def __init__(self, charges: Charges, preset: str) -> None:
        self._charges, self._preset = charges, preset

    def step(self, machine: Machine, what: str, *calls: Awaitable[Any]) -> list[Any]:
        """Run one operation, counted until the machine is idle."""
        with self._charges.operation(f"{self._preset} {what}"):
            done: list[Any] = machine.finish(*(settled(machine, call) for call in calls))
        return done

    def run(self) -> None:
        """Run a connection from start to end, then the reliability levels."""
        machine = Machine(2)
        vias = start(machine, load=False, preset=self._preset)
        self.step(machine, "load", *(via.start() for via in vias))
        users = self.step(machine, "open and register", *(user(via, rdma_write=True) for via in vias))
        ((mine, yours),) = self.step(machine, "create and connect", connect(users[0], users[1], 1))
        p = Pair(machine, vias, users[0], users[1], mine, yours)
        for size in (0, 8, 4000):
            self.message(p, size)
        write = p.here.descriptor(0).rdma_write([p.here.part(0, 4000)], p.there.base, p.there.handle)
        self.step(machine, "RDMA write", p.mine.post_send(write))
        self.step(machine, "send done", p.mine.poll_send())
        self.message(p, 8, " behind a write")
        self._queue(p)
        self.step(machine, "disconnect", mine.disconnect())
        self.step(machine, "destroy VI", mine.destroy())
        for handle in (p.here.handle, p.here.place_handle):
            self.step(machine, "deregister", p.here.nic.deregister_memory(handle))
        self.step(machine, "close", p.here.nic.close())
        self.message(pair(preset=self._preset, inline=32), 24, " inline")
        for level in (Reliability.DELIVERY, Reliability.RECEPTION):
            reliable = pair(reliability=level, preset=self._preset)
            self.message(reliable, 4000, f" {level.name.lower()}")

    def _queue(self, p: Pair) -> None:
        """Create, use and destroy a completion queue."""
        (queue,) = self.step(p.machine, "create CQ", p.there.nic.create_cq(8))
        (mine,) = p.machine.finish(p.here.nic.create_vi(p.here.tag))
        (yours,) = p.machine.finish(p.there.nic.create_vi(p.there.tag, receive_cq=queue))
        self.step(p.machine, "connect", join(p.here, mine, p.there, yours, 1))
        p.machine.finish(yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 8)])))
        send = p.here.descriptor(0).send([p.here.part(0, 8)])
        self.step(p.machine, "completion by a CQ", mine.post_send(send), queue.wait())
        self.step(p.machine, "take back after a CQ", yours.receive_done(), mine.send_done())
        self.step(p.machine, "disconnect of a CQ", mine.disconnect())
        p.machine.finish(mine.destroy(), yours.destroy())
        self.step(p.machine, "destroy CQ", queue.destroy())

    def message(self, p: Pair, size: int, level: str = "") -> None:
        """Send a message to a polling, then to a sleeping receiver."""
        for sleeps in (False, True):
            receive = p.there.descriptor(0).receive([p.there.part(0, size)] if size else [])
            send = p.here.descriptor(0).send([p.here.part(0, size)] if size else [])
            how = "waited for" if sleeps else "polled"
            self.step(p.machine, f"post receive{level}", p.yours.post_receive(receive))
            awaited = p.yours.receive_wait() if sleeps else p.yours.poll_receive()
            self.step(p.machine, f"{size} B {how}{level}", p.mine.post_send(send), awaited)
            self.step(p.machine, f"send done{level}", p.mine.poll_send())
