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
        ("a tag that does not exist", PTAG, lambda p: p.here.nic.register_memory(p.here.base, 10, 999)),
        ("a tag of invalid type", PTAG, lambda p: p.here.nic.register_memory(p.here.base, 10, LIST)),
        ("zero bytes", PARAMETER, lambda p: p.here.nic.register_memory(p.here.base, 0, p.here.tag)),
        ("a negative size", PARAMETER, lambda p: p.here.nic.register_memory(p.here.base, -4096, p.here.tag)),
        ("unmapped memory", PARAMETER, lambda p: p.here.nic.register_memory(0x5000, 10, p.here.tag)),
        (
            "a range beyond mapped memory",
            PARAMETER,
            lambda p: p.here.nic.register_memory(p.here.base, 1 << 24, p.here.tag),
        ),
        ("beyond the address space", PARAMETER, lambda p: p.here.nic.register_memory(0xFFFFF000, 1 << 16, p.here.tag)),
        ("an address that is not a number", PARAMETER, lambda p: p.here.nic.register_memory(WORD, 10, p.here.tag)),
    ],
    "VipDeregisterMem": [
        ("an unknown handle", PARAMETER, lambda p: p.here.nic.deregister_memory(p.here.handle + (1 << 20))),
        ("a handle of another process", PARAMETER, another_s_memory),
        ("a handle that is not a number", PARAMETER, lambda p: p.here.nic.deregister_memory(WORD)),
        ("a handle of more than 32 bits", PARAMETER, lambda p: p.here.nic.deregister_memory(1 << 40)),
        ("in use", RESOURCE, lambda p: posted_and(p, lambda q: q.there.nic.deregister_memory(q.there.handle))),
    ],
    "VipQueryMem": [
        ("an unknown handle", PARAMETER, lambda p: p.here.nic.query_memory(-1)),
    ],
    "VipSetMemAttributes": [
        ("an unknown handle", PARAMETER, lambda p: p.here.nic.set_memory(77, MemoryAttributes(p.here.tag))),
        ("an unknown tag", PTAG, lambda p: p.here.nic.set_memory(p.here.handle, MemoryAttributes(999))),
        (
            "in use",
            RESOURCE,
            lambda p: posted_and(p, lambda q: q.there.nic.set_memory(q.there.handle, MemoryAttributes(q.there.tag))),
        ),
    ],
    "VipCreateVi": [
        ("an unknown tag", PTAG, lambda p: p.here.nic.create_vi(999)),
        ("a tag of another process", PTAG, another_s_tag),
        ("an unknown reliability level", LEVEL, lambda p: p.here.nic.create_vi(p.here.tag, reliability=SEVEN)),
        ("messages above the maximum", MTU, lambda p: p.here.nic.create_vi(p.here.tag, most=65537)),
        ("messages of zero bytes", MTU, lambda p: p.here.nic.create_vi(p.here.tag, most=0)),
        ("a completion queue of another process", PARAMETER, another_s_queue),
        ("not a completion queue", PARAMETER, lambda p: p.here.nic.create_vi(p.here.tag, send_cq=SEVEN)),
        ("too many", RESOURCE, full_nic),
    ],
    "VipDestroyVi": [
        ("connected", STATE, lambda p: p.mine.destroy()),
        ("with a pending peer request", STATE, destroyed_pending),
    ],
    "VipSetViAttributes": [
        ("connected", STATE, lambda p: p.mine.set_attributes(ViAttributes(p.here.tag, Reliability.DELIVERY, 100))),
        (
            "an unknown reliability level",
            LEVEL,
            lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(p.here.tag, SEVEN, 100))),
        ),
        (
            "messages above the maximum",
            MTU,
            lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(p.here.tag, Reliability.DELIVERY, 1 << 20))),
        ),
        (
            "an unknown tag",
            PTAG,
            lambda p: fresh(p, lambda vi: vi.set_attributes(ViAttributes(99, Reliability.DELIVERY, 100))),
        ),
    ],
    "VipConnectWait": [
        ("a discriminator that is not a 32-bit word", PARAMETER, lambda p: p.here.nic.connect_wait(1 << 32, 10)),
        ("a negative time limit", PARAMETER, lambda p: p.here.nic.connect_wait(3, -1)),
        ("without a request", TIMEOUT, lambda p: p.here.nic.connect_wait(3, 100)),
    ],
    "VipConnectAccept": [
        ("not a connection", PARAMETER, lambda p: p.here.nic.connect_accept(NOTHING, p.mine)),
        (
            "not a VI",
            PARAMETER,
            lambda p: served(p, lambda connection, _: p.there.nic.connect_accept(connection, SEVEN)),
        ),
        (
            "a connected VI",
            STATE,
            lambda p: served(p, lambda connection, _: p.there.nic.connect_accept(connection, p.yours)),
        ),
        ("a VI of another process", PARAMETER, another_s_vi),
        (
            "a connection request to another process",
            PARAMETER,
            lambda p: of_another_process(p, lambda other, connection, _: other.nic.connect_accept(connection, p.yours)),
        ),
        ("twice", PARAMETER, accepted_twice),
        ("after a reject", PARAMETER, rejected_and_accepted),
    ],
    "VipConnectReject": [
        ("not a connection", PARAMETER, lambda p: p.here.nic.connect_reject(SEVEN)),
        (
            "a connection request to another process",
            PARAMETER,
            lambda p: of_another_process(p, lambda other, connection, _: other.nic.connect_reject(connection)),
        ),
    ],
    "VipConnectRequest": [
        ("connected", STATE, lambda p: p.mine.connect_request(1, 7, 100)),
        ("an unknown node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(5, 7, 100))),
        ("a negative node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(-1, 7, 100))),
        ("the own node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(0, 7, 100))),
        ("a name as node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_request(WORD, 7, 100))),
        (
            "a discriminator that is not a 32-bit word",
            PARAMETER,
            lambda p: fresh(p, lambda vi: vi.connect_request(1, -3, 100)),
        ),
        (
            "a time limit that is not a number",
            PARAMETER,
            lambda p: fresh(p, lambda vi: vi.connect_request(1, 3, NOTHING)),
        ),
        ("without a server", TIMEOUT, lambda p: fresh(p, lambda vi: vi.connect_request(1, 8, 300))),
    ],
    "VipConnectPeerRequest": [
        ("connected", STATE, lambda p: p.mine.connect_peer_request(1, 7, 100)),
        ("an unknown node", NOWHERE, lambda p: fresh(p, lambda vi: vi.connect_peer_request(2, 7, 100))),
        (
            "a discriminator that is not a 32-bit word",
            PARAMETER,
            lambda p: fresh(p, lambda vi: vi.connect_peer_request(1, HALF, 100)),
        ),
        ("two requests for one peer", STATE, two_peer_requests),
    ],
    "VipConnectPeerDone": [
        ("without a request", STATE, lambda p: p.mine.connect_peer_done()),
    ],
    "VipConnectPeerWait": [
        ("without a request", STATE, lambda p: p.mine.connect_peer_wait()),
    ],
    "VipDisconnect": [
        ("not connected", STATE, lambda p: fresh(p, lambda vi: vi.disconnect())),
    ],
    "VipPostSend": [
        ("not a descriptor", PARAMETER, lambda p: p.mine.post_send(SEVEN)),
        ("a descriptor of another process", PARAMETER, another_s_descriptor),
    ],
    "VipPostRecv": [
        ("not a descriptor", PARAMETER, lambda p: p.yours.post_receive(NOTHING)),
    ],
    "a descriptor": [
        ("misaligned", PARAMETER, lambda p: p.here.nic.descriptor(p.here.places + 4, p.here.place_handle)),
        ("beyond the address space", PARAMETER, lambda p: p.here.nic.descriptor(1 << 40, p.here.place_handle)),
        ("a handle that is not a 32-bit word", PARAMETER, lambda p: p.here.nic.descriptor(p.here.places, -1)),
        ("too many segments", PARAMETER, lambda p: place(p).send([p.here.part(0, 1)] * 65536)),
        ("a segment of negative bytes", PARAMETER, lambda p: place(p).send([(p.here.base, p.here.handle, -1)])),
        ("a segment of two values", PARAMETER, lambda p: place(p).send([PAIR])),
        ("segments that are not a list", PARAMETER, lambda p: place(p).send(NOTHING)),
        ("immediate data of 33 bits", PARAMETER, lambda p: place(p).send([], immediate=1 << 32)),
        ("a target of 33 bits", PARAMETER, lambda p: place(p).rdma_write([], 1 << 32, 1)),
    ],
    "VipSendWait": [
        ("without posted descriptors", STATE, lambda p: p.mine.send_wait(10)),
    ],
    "VipRecvWait": [
        ("without posted descriptors", STATE, lambda p: p.mine.receive_wait(10)),
        ("a time limit of NaN", PARAMETER, lambda p: p.mine.receive_wait(float("nan"))),
        ("after the time limit", TIMEOUT, lambda p: posted_and(p, lambda q: q.yours.receive_wait(10))),
    ],
    "VipSendDone, again and again": [
        ("without posted descriptors", STATE, lambda p: p.mine.poll_send()),
    ],
    "VipSendNotify": [
        ("a handler that is not callable", PARAMETER, lambda p: p.mine.send_notify(NOTHING)),
        ("a number for a signal", PARAMETER, lambda p: p.mine.send_signal(SEVEN)),
    ],
    "VipRecvNotify": [
        ("a handler that is not callable", PARAMETER, lambda p: p.mine.receive_notify(SEVEN)),
        ("a number for a signal", PARAMETER, lambda p: p.mine.receive_signal(SEVEN)),
    ],
    "VipErrorCallback": [
        ("a handler that is not callable", PARAMETER, lambda p: p.here.nic.on_error(NOTHING)),
    ],
    "VipErrorCallback of a VI": [
        ("a handler that is not callable", PARAMETER, lambda p: p.mine.on_error(WORD)),
    ],
    "VipCreateCQ": [
        ("too large", PARAMETER, lambda p: p.here.nic.create_cq(1025)),
        ("zero entries", PARAMETER, lambda p: p.here.nic.create_cq(0)),
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
        ("after the time limit", TIMEOUT, lambda p: queue_then(p, lambda queue: queue.wait(10))),
        ("a negative time limit", PARAMETER, lambda p: queue_then(p, lambda queue: queue.wait(-1))),
    ],
    "VipCQNotify": [
        (
            "a handler that is not callable",
            PARAMETER,
            lambda p: queue_then(p, lambda queue: as_call(queue.notify, NOTHING)),
        ),
    ],
    "VipCloseNic": [
        ("with open VIs", RESOURCE, lambda p: p.here.nic.close()),
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
    if misuse != "a completion queue of another process":
        assert pins(p) == before


@pytest.mark.parametrize("translation", ["at2", "at3", "flat"])
def test_unmapped_memory_cannot_be_registered(translation: str) -> None:
    p = pair(preset="bvia2", translation=translation)
    for va, size in ((0x5000, 10), (p.here.base, 1 << 24)):
        with pytest.raises(VipError) as refused:
            p.machine.finish(p.here.nic.register_memory(va, size, p.here.tag))
        assert refused.value.result is PARAMETER, str(refused.value)
    p.machine.finish(good(p))
