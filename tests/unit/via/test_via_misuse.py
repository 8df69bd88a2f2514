"""Misuses of library calls, with the codes that the specification names.

Strategy: a table of call, misuse and code, tried row by row on two connected processes: wrong type, range, order,
owner, and use after the end. After each row a message is delivered between them, and the NIC's resources are unchanged.
Calls on destroyed or closed objects are in `test_via_handles.py`, `test_via_queue_handles.py` and
`test_via_nic_handles.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.via.formats import Reliability
from firmware.via.host import Result, VipError
from firmware.via.host.common.attributes import MemoryAttributes, ViAttributes
from tests.unit.via.via_bench import Pair, good, pair
from tests.unit.via.via_misuses import (
    accepted_twice,
    another_s_descriptor,
    another_s_memory,
    another_s_queue,
    another_s_tag,
    another_s_vi,
    as_call,
    destroyed_pending,
    fresh,
    full_nic,
    full_queues,
    of_another_process,
    place,
    posted_and,
    queue_in_use,
    queue_then,
    rejected_and_accepted,
    served,
    two_peer_requests,
)

PARAMETER, STATE, RESOURCE = Result.INVALID_PARAMETER, Result.INVALID_STATE, Result.ERROR_RESOURCE
PTAG, LEVEL, MTU = Result.INVALID_PTAG, Result.INVALID_RELIABILITY_LEVEL, Result.INVALID_MTU
NOWHERE, TIMEOUT = Result.NOT_REACHABLE, Result.TIMEOUT

LIST: Any = []
WORD: Any = "a word"
SEVEN: Any = 7
HALF: Any = 2.5
NOTHING: Any = None
PAIR: Any = (4096, 1)
"""Objects of invalid types."""

Misuse = tuple[str, Result, Callable[[Pair], Any]]
"""Description, result code, and the call or awaitable."""


TABLE: dict[str, list[Misuse]] = {
    "VipRegisterMem": [
        ("no tag of this process", PTAG, lambda p: p.here.nic.register_memory(p.here.base, 10, 999)),
        ("a tag of no such type", PTAG, lambda p: p.here.nic.register_memory(p.here.base, 10, LIST)),
        ("no bytes", PARAMETER, lambda p: p.here.nic.register_memory(p.here.base, 0, p.here.tag)),
        ("fewer", PARAMETER, lambda p: p.here.nic.register_memory(p.here.base, -4096, p.here.tag)),
        ("not memory of the process", PARAMETER, lambda p: p.here.nic.register_memory(0x5000, 10, p.here.tag)),
        ("memory and more", PARAMETER, lambda p: p.here.nic.register_memory(p.here.base, 1 << 24, p.here.tag)),
        ("beyond all addresses", PARAMETER, lambda p: p.here.nic.register_memory(0xFFFFF000, 1 << 16, p.here.tag)),
        ("an address that is no number", PARAMETER, lambda p: p.here.nic.register_memory(WORD, 10, p.here.tag)),
    ],
    "VipDeregisterMem": [
        ("no handle", PARAMETER, lambda p: p.here.nic.deregister_memory(p.here.handle + (1 << 20))),
        ("another's handle", PARAMETER, another_s_memory),
        ("a handle that is no number", PARAMETER, lambda p: p.here.nic.deregister_memory(WORD)),
        ("beyond all handles", PARAMETER, lambda p: p.here.nic.deregister_memory(1 << 40)),
        ("in use", RESOURCE, lambda p: posted_and(p, lambda q: q.there.nic.deregister_memory(q.there.handle))),
    ],
    "VipQueryMem": [
        ("no handle", PARAMETER, lambda p: p.here.nic.query_memory(-1)),
    ],
    "VipSetMemAttributes": [
        ("no handle", PARAMETER, lambda p: p.here.nic.set_memory(77, MemoryAttributes(p.here.tag))),
        ("no tag", PTAG, lambda p: p.here.nic.set_memory(p.here.handle, MemoryAttributes(999))),
        (
            "in use",
            RESOURCE,
            lambda p: posted_and(p, lambda q: q.there.nic.set_memory(q.there.handle, MemoryAttributes(q.there.tag))),
        ),
    ],
    "VipCreateVi": [
        ("no tag", PTAG, lambda p: p.here.nic.create_vi(999)),
        ("another's tag", PTAG, another_s_tag),
        ("no such level", LEVEL, lambda p: p.here.nic.create_vi(p.here.tag, reliability=SEVEN)),
        ("messages that are too long", MTU, lambda p: p.here.nic.create_vi(p.here.tag, most=65537)),
        ("messages of no bytes", MTU, lambda p: p.here.nic.create_vi(p.here.tag, most=0)),
        ("another's completion queue", PARAMETER, another_s_queue),
        ("no completion queue", PARAMETER, lambda p: p.here.nic.create_vi(p.here.tag, send_cq=SEVEN)),
        ("too many", RESOURCE, full_nic),
    ],
    "VipDestroyVi": [
        ("connected", STATE, lambda p: p.mine.destroy()),
        ("it asks for a peer", STATE, destroyed_pending),
    ],
    "VipSetViAttributes": [
        ("connected", STATE, lambda p: p.mine.set_attributes(ViAttributes(p.here.tag, Reliability.DELIVERY, 100))),
        (
            "no such level",
            LEVEL,
            lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(p.here.tag, SEVEN, 100))),
        ),
        (
            "messages that are too long",
            MTU,
            lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(p.here.tag, Reliability.DELIVERY, 1 << 20))),
        ),
        ("no tag", PTAG, lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(99, Reliability.DELIVERY, 100)))),
    ],
    "VipConnectWait": [
        ("a discriminator that is no word", PARAMETER, lambda p: p.here.nic.connect_wait(1 << 32, 10)),
        ("a negative limit", PARAMETER, lambda p: p.here.nic.connect_wait(3, -1)),
        ("nobody asks", TIMEOUT, lambda p: p.here.nic.connect_wait(3, 100)),
    ],
    "VipConnectAccept": [
        ("no connection", PARAMETER, lambda p: p.here.nic.connect_accept(NOTHING, p.mine)),
        ("no VI", PARAMETER, lambda p: served(p, lambda connection, _: p.there.nic.connect_accept(connection, SEVEN))),
        (
            "a connected VI",
            STATE,
            lambda p: served(p, lambda connection, _: p.there.nic.connect_accept(connection, p.yours)),
        ),
        ("another's VI", PARAMETER, another_s_vi),
        (
            "another's connection",
            PARAMETER,
            lambda p: of_another_process(p, lambda other, connection, _: other.nic.connect_accept(connection, p.yours)),
        ),
        ("twice", PARAMETER, accepted_twice),
        ("after a reject", PARAMETER, rejected_and_accepted),
    ],
    "VipConnectReject": [
        ("no connection", PARAMETER, lambda p: p.here.nic.connect_reject(SEVEN)),
        (
            "another's connection",
            PARAMETER,
            lambda p: of_another_process(p, lambda other, connection, _: other.nic.connect_reject(connection)),
        ),
    ],
    "VipConnectRequest": [
        ("connected", STATE, lambda p: p.mine.connect_request(1, 7, 100)),
        ("no such node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(5, 7, 100))),
        ("a negative node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(-1, 7, 100))),
        ("its own node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(0, 7, 100))),
        ("a name as node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(WORD, 7, 100))),
        ("a discriminator that is no word", PARAMETER, lambda p: fresh(p, lambda vi: vi.connect_request(1, -3, 100))),
        ("no limit", PARAMETER, lambda p: fresh(p, lambda vi: vi.connect_request(1, 3, NOTHING))),
        ("nobody waits there", TIMEOUT, lambda p: fresh(p, lambda vi: vi.connect_request(1, 8, 300))),
    ],
    "VipConnectPeerRequest": [
        ("connected", STATE, lambda p: p.mine.connect_peer_request(1, 7, 100)),
        ("no such node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_peer_request(2, 7, 100))),
        (
            "a discriminator that is no word",
            PARAMETER,
            lambda p: fresh(p, lambda vi: vi.connect_peer_request(1, HALF, 100)),
        ),
        ("two for one peer", STATE, two_peer_requests),
    ],
    "VipConnectPeerDone": [
        ("nothing was requested", STATE, lambda p: p.mine.connect_peer_done()),
    ],
    "VipConnectPeerWait": [
        ("nothing was requested", STATE, lambda p: p.mine.connect_peer_wait()),
    ],
    "VipDisconnect": [
        ("not connected", STATE, lambda p: fresh(p, lambda vi: vi.disconnect())),
    ],
    "VipPostSend": [
        ("no descriptor", PARAMETER, lambda p: p.mine.post_send(SEVEN)),
        ("another's descriptor", PARAMETER, another_s_descriptor),
    ],
    "VipPostRecv": [
        ("no descriptor", PARAMETER, lambda p: p.yours.post_receive(NOTHING)),
    ],
    "a descriptor": [
        ("misaligned", PARAMETER, lambda p: p.here.nic.descriptor(p.here.places + 4, p.here.place_handle)),
        ("beyond all addresses", PARAMETER, lambda p: p.here.nic.descriptor(1 << 40, p.here.place_handle)),
        ("a handle that is no word", PARAMETER, lambda p: p.here.nic.descriptor(p.here.places, -1)),
        ("too many segments", PARAMETER, lambda p: place(p).send([p.here.part(0, 1)] * 65536)),
        ("a segment of negative bytes", PARAMETER, lambda p: place(p).send([(p.here.base, p.here.handle, -1)])),
        ("a segment of two", PARAMETER, lambda p: place(p).send([PAIR])),
        ("no segments at all", PARAMETER, lambda p: place(p).send(NOTHING)),
        ("immediate data of 33 bits", PARAMETER, lambda p: place(p).send([], immediate=1 << 32)),
        ("a target of 33 bits", PARAMETER, lambda p: place(p).rdma_write([], 1 << 32, 1)),
    ],
    "VipSendWait": [
        ("nothing is posted", STATE, lambda p: p.mine.send_wait(10)),
    ],
    "VipRecvWait": [
        ("nothing is posted", STATE, lambda p: p.mine.receive_wait(10)),
        ("a limit that is none", PARAMETER, lambda p: p.mine.receive_wait(float("nan"))),
        ("time is up", TIMEOUT, lambda p: posted_and(p, lambda q: q.yours.receive_wait(10))),
    ],
    "VipSendDone, again and again": [
        ("nothing is posted", STATE, lambda p: p.mine.poll_send()),
    ],
    "VipSendNotify": [
        ("no handler", PARAMETER, lambda p: p.mine.send_notify(NOTHING)),
        ("a number for a signal", PARAMETER, lambda p: p.mine.send_signal(SEVEN)),
    ],
    "VipRecvNotify": [
        ("no handler", PARAMETER, lambda p: p.mine.receive_notify(SEVEN)),
        ("a number for a signal", PARAMETER, lambda p: p.mine.receive_signal(SEVEN)),
    ],
    "VipErrorCallback": [
        ("no handler", PARAMETER, lambda p: p.here.nic.on_error(NOTHING)),
    ],
    "VipErrorCallback of a VI": [
        ("no handler", PARAMETER, lambda p: p.mine.on_error(WORD)),
    ],
    "VipCreateCQ": [
        ("too large", PARAMETER, lambda p: p.here.nic.create_cq(1025)),
        ("no entries", PARAMETER, lambda p: p.here.nic.create_cq(0)),
        ("half an entry", PARAMETER, lambda p: p.here.nic.create_cq(HALF)),
        ("too many", RESOURCE, full_queues),
    ],
    "VipDestroyCQ": [
        ("in use", RESOURCE, queue_in_use),
    ],
    "VipResizeCQ": [
        ("too large", PARAMETER, lambda p: queue_then(p, lambda queue: queue.resize(1025))),
    ],
    "VipCQWait": [
        ("time is up", TIMEOUT, lambda p: queue_then(p, lambda queue: queue.wait(10))),
        ("a negative limit", PARAMETER, lambda p: queue_then(p, lambda queue: queue.wait(-1))),
    ],
    "VipCQNotify": [
        ("no handler", PARAMETER, lambda p: queue_then(p, lambda queue: as_call(queue.notify, NOTHING))),
    ],
    "VipCloseNic": [
        ("VIs are left", RESOURCE, lambda p: p.here.nic.close()),
    ],
}


def pins(p: Pair) -> list[int]:
    """Return the regions and completion queues in use on each host."""
    agents = [via.kernel_agent for via in p.vias]
    return [sum(agent.queues.used) for agent in agents] + [
        sum(region is not None and region.process is one.process for region in agent.registry._regions)
        for agent, one in zip(agents, (p.here, p.there), strict=True)
    ]


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=f"{call}: {row[0]}") for call, rows in TABLE.items() for row in rows],
)
def test_a_misuse_gives_the_code_that_the_specification_names_and_changes_nothing(row: Misuse) -> None:
    misuse, code, do = row
    p = pair(vis=8, queues=4)
    before = pins(p)

    async def call() -> None:
        found = do(p)
        if isinstance(found, Awaitable):
            await found

    async def run() -> None:
        with pytest.raises(VipError) as refused:
            await call()
        assert refused.value.result is code, str(refused.value)

    p.machine.finish(run())
    p.machine.finish(good(p))
    if misuse != "another's completion queue":
        assert pins(p) == before


@pytest.mark.parametrize("translation", ["at2", "at3", "flat"])
def test_unmapped_memory_cannot_be_registered(translation: str) -> None:
    p = pair(preset="bvia2", translation=translation)
    for va, size in ((0x5000, 10), (p.here.base, 1 << 24)):
        with pytest.raises(VipError) as refused:
            p.machine.finish(p.here.nic.register_memory(va, size, p.here.tag))
        assert refused.value.result is PARAMETER, str(refused.value)
    p.machine.finish(good(p))
