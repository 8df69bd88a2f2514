"""Further operations of VIA for the table of charged paths.

They cover queries, attributes, peers, RDMA reads and writes, and NICs of other kinds. Then errors: rejected descriptors
and packets, broken connections, full caches.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from firmware.via.formats import Reliability
from firmware.via.host import Descriptor, Vi, VipError
from firmware.via.host.common.attributes import MemoryAttributes, ViAttributes
from pymodels.host.signals import Sig
from pymodels.machine import Machine
from tests.unit.layers.charges import SETTLE_PS, Charges, settled
from tests.unit.via.test_via_rdma_read import made, read
from tests.unit.via.via_bench import Pair, pair

PEERS, REJECTED = 5, 3
"""Discriminators."""
LONG = 60_000


def tour(charges: Charges) -> None:
    """Run all operations."""
    _calls(_Steps(charges, "calls", pair()))
    for preset in ("firmvia", "bvia2", "hwvia"):
        _read(_Steps(charges, preset, made(preset)))
        for rdma in ("buffer", "table"):
            p = pair(preset=preset, vis=20, rdma=rdma, reliability=Reliability.RECEPTION)
            _write(_Steps(charges, f"{preset}, {rdma}", p))
        _ends(_Steps(charges, preset, pair(preset=preset, vis=20)))
        _broken(_Steps(charges, preset, pair(preset=preset, vis=20, reliability=Reliability.DELIVERY)))
        _taken_back(_Steps(charges, preset, pair(preset=preset, vis=20)))
    for kind in ("lanai4", "sp"):
        _read(_Steps(charges, f"firmvia on {kind}", made(nic=kind)))
    with charges.operation("firmvia on sp connect"):
        pair(Machine(2, nic="sp"))
    sp = pair(Machine(2, nic="sp"), preset="hwvia", vis=8)
    _Steps(charges, "hwvia on sp", sp).step("post", sp.mine.post_send(sp.here.descriptor(0).send([])))
    _refilled(_Steps(charges, "firmvia", pair(receive_words=64, send_words=64)))
    _told(_Steps(charges, "firmvia", pair()))
    _no_room(_Steps(charges, "bvia2", pair(preset="bvia2", vis=8)))


class _Steps:
    """Operations of a connection."""

    def __init__(self, charges: Charges, name: str, p: Pair) -> None:
        self.charges, self.name, self.p = charges, name, p

    def step(self, what: str, *calls: Awaitable[Any]) -> list[Any]:
        """Run one operation, or several at once, counted until the machine is idle."""
        with self.charges.operation(f"{self.name} {what}"):
            done: list[Any] = self.p.machine.finish(*(settled(self.p.machine, call) for call in calls))
        return done


async def _done(vi: Vi, descriptor: Descriptor) -> None:
    """Send and wait for the completion."""
    await vi.post_send(descriptor)
    await vi.poll_send()


async def _refused(call: Awaitable[Any]) -> None:
    """Make a call that fails."""
    with suppress(VipError):
        await call


def _calls(s: _Steps) -> None:
    """Query and set attributes, and connect by name."""
    here, there = s.p.here, s.p.there
    s.step("query NIC", here.nic.query())
    s.step("query counters", here.nic.query_counters())
    s.step("query memory", here.nic.query_memory(here.handle))
    s.step("set memory", here.nic.set_memory(here.place_handle, MemoryAttributes(here.tag)))
    s.step("query VI", s.p.mine.query())
    mine, yours = s.p.machine.finish(*(one.nic.create_vi(one.tag) for one in (here, there)))
    s.step("set VI", mine.set_attributes(ViAttributes(here.tag, Reliability.DELIVERY, 4096)))
    s.step("set VI back", mine.set_attributes(s.p.machine.finish(yours.query())[0].attributes))
    queue = s.p.machine.finish(here.nic.create_cq(4))[0]
    s.step("resize CQ", queue.resize(16))

    async def reject() -> None:
        await there.nic.connect_reject(await there.nic.connect_wait(REJECTED, 5000))

    s.step("reject", reject(), _refused(mine.connect_request(1, REJECTED, 5000)))
    s.step("request a peer", mine.connect_peer_request(1, PEERS, 5000), yours.connect_peer_request(0, PEERS, 5000))
    s.step("peer done", mine.connect_peer_done())
    s.step("peer wait", yours.connect_peer_wait())
    outside = here.nic.descriptor(here.process.allocate(4096), here.place_handle).send([])
    s.step("post a descriptor outside", _refused(s.p.mine.post_send(outside)))
    unknown = here.descriptor(0).send([(here.base, here.handle + 1, 100)])
    s.step("post unknown memory", _done(s.p.mine, unknown))


def _told(s: _Steps) -> None:
    """Notify a process of a message by a signal."""
    p = s.p

    async def take(sig: Sig) -> None:
        await p.yours.receive_done()

    p.there.process.on_signal(Sig.IO, take)
    s.step("signals on", p.yours.receive_signal(Sig.IO))
    p.machine.finish(p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 100)])))
    send = p.here.descriptor(0).send([p.here.part(0, 100)])
    s.step("signal", p.there.process.compute(200_000), _done(p.mine, send))
    s.step("signals off", p.yours.receive_signal(None))


def _read(s: _Steps) -> None:
    s.step("RDMA read", read(s.p, [(0, 5000), (9000, 78)], 4096))


def _write(s: _Steps) -> None:
    """Write twice to the same pages, then to memory that is not allowed."""
    here, there, mine = s.p.here, s.p.there, s.p.mine
    for what, handle in (
        ("write", there.handle),
        ("write again", there.handle),
        ("forbidden write", there.place_handle),
    ):
        descriptor = here.descriptor(0).rdma_write([here.part(0, 5000)], there.base + 96, handle)
        s.step(f"RDMA {what}", _done(mine, descriptor))


def _ends(s: _Steps) -> None:
    """Send packets that are rejected: without a posted receive, damaged, or of an old connection. Then flush
    descriptors.
    """
    p, faults = s.p, s.p.machine.faults

    def send() -> Awaitable[None]:
        return p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 100)]))

    def receive(number: int) -> Awaitable[None]:
        return p.yours.post_receive(p.there.descriptor(number).receive([p.there.part(0, 100)]))

    s.step("send without a receive", send())
    s.step("two receives", receive(0), receive(1))
    faults.corrupt(0, 1, faults.passed(0, 1))
    s.step("damaged send", send())
    faults.drop(1, 0, faults.passed(1, 0))
    s.step("send during a disconnect", p.yours.disconnect(), _later(p.machine, send()))
    s.step("disconnect with receives", p.yours.receive_done())


async def _later(machine: Machine, call: Awaitable[Any]) -> None:
    """Make a call after the other side has gone."""
    await machine.kernel.sleep(SETTLE_PS // 2, "the other side")
    await call


def _broken(s: _Steps) -> None:
    """Break a connection by a missing receive, and by a descriptor outside of registered memory."""
    p = s.p
    s.step("send without a receive, and break", p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 16)])))
    late = p.there.descriptor(0).receive([p.there.part(0, 8)])
    s.step("receive after the break", p.yours.post_receive(late))
    q = pair(preset=s.name, vis=20)
    outside = q.here.nic.descriptor(q.here.process.allocate(4096), q.here.place_handle).send([q.here.part(0, 100)])
    _Steps(s.charges, s.name, q).step("invalid descriptor", _refused(q.mine.post_send(outside)))


def _taken_back(s: _Steps) -> None:
    """Deregister memory during a message."""
    p = s.p
    p.machine.finish(p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, LONG)])))

    async def take() -> None:
        await p.machine.kernel.sleep(150_000_000, "part of the message")
        await p.there.nic.deregister_memory(p.there.handle)

    send = p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, LONG)]))
    s.step("memory deregistered", send, _refused(take()))


def _refilled(s: _Steps) -> None:
    """Post more descriptors than the NIC's queue caches hold."""
    p, count = s.p, 40

    async def receive() -> None:
        for i in range(count):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(0, 8)]))

    async def send() -> None:
        for i in range(count):
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 512)]))

    s.step("many receives", receive())
    s.step("many sends", send())


def _no_room(s: _Steps) -> None:
    """Post behind long messages that fill the queue."""
    p = s.p

    async def run() -> None:
        for i in range(4):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(0, LONG)]))
        for i in range(4):
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, LONG)]))
        for _ in range(4):
            await p.mine.poll_send()

    s.step("long messages", run())
