"""Errors in descriptors and calls.

Strategy: every error that a process can make in a descriptor or a call, one at a time. An error in a descriptor becomes
its status (of the specification), an error in a call raises an exception. Afterwards a valid message is delivered on
the same VI.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from firmware.via.formats import Control, Field, Status
from firmware.via.host import Descriptor, Result, VipError
from pymodels.host.process import Process
from tb.studies.via._via import User, user
from tests.unit.via.via_bench import Pair, good, pair

PROTECTION, FORMAT, LENGTH = Status.PROTECTION_ERROR, Status.FORMAT_ERROR, Status.LENGTH_ERROR


def raw(descriptor: Descriptor, process: Process, count: int, flags: int) -> Descriptor:
    """Write a descriptor with the given count and flags, valid or not."""
    process.store_bytes(descriptor.va + Field.CONTROL, struct.pack(">HH", count, flags))
    return descriptor


def no_handle(p: Pair) -> Descriptor:
    return p.here.descriptor(0).send([(p.here.base, p.here.handle ^ 1 << 20, 100)])


def beyond(p: Pair) -> Descriptor:
    return p.here.descriptor(0).send([p.here.part(p.here.size - 10, 11)])


def before(p: Pair) -> Descriptor:
    return p.here.descriptor(0).send([p.here.part(-1, 10)])


def around(p: Pair) -> Descriptor:
    return p.here.descriptor(0).send([(0xFFFFFFF0, p.here.handle, 0x20)])


def strange_flags(p: Pair) -> Descriptor:
    return raw(p.here.descriptor(0).send([p.here.part(0, 10)]), p.here.process, 1, 0x40)


def fenced(p: Pair) -> Descriptor:
    return raw(p.here.descriptor(0).send([p.here.part(0, 10)]), p.here.process, 1, Control.FENCE)


def rdma_read(p: Pair) -> Descriptor:
    return raw(p.here.descriptor(0).send([p.here.part(0, 10)]), p.here.process, 1, Control.RDMA_READ)


def write_without_target(p: Pair) -> Descriptor:
    return raw(p.here.descriptor(0).send([]), p.here.process, 0, Control.RDMA_WRITE)


def too_many_segments(p: Pair) -> Descriptor:
    return raw(p.here.descriptor(0).send([]), p.here.process, 0xFFFF, 0)


def list_beyond_the_region(p: Pair) -> Descriptor:
    last = p.here.nic.descriptor(p.here.places + (1 << 16) - 64, p.here.place_handle)
    return raw(last.send([]), p.here.process, 3, 0)


def too_long(p: Pair) -> Descriptor:
    return p.here.descriptor(0).send([p.here.part(0, 65536), p.here.part(0, 1)])


WRONG: list[tuple[Callable[[Pair], Descriptor], Status]] = [
    (no_handle, PROTECTION),
    (beyond, PROTECTION),
    (before, PROTECTION),
    (around, PROTECTION),
    (strange_flags, FORMAT),
    (fenced, FORMAT),
    (rdma_read, FORMAT),
    (write_without_target, FORMAT),
    (too_many_segments, FORMAT),
    (list_beyond_the_region, PROTECTION),
    (too_long, LENGTH),
]


def test_errors_of_a_send_become_its_status() -> None:
    p = pair()

    async def one(make: Callable[[Pair], Descriptor]) -> Status:
        await p.mine.post_send(make(p))
        return (await p.mine.poll_send()).status

    for make, status in WRONG:
        assert p.machine.finish(one(make)) == [Status.DONE | status], make.__name__
    p.machine.finish(good(p))


def test_a_short_send_of_unmapped_memory_gets_an_error_status() -> None:
    p = pair(preset="hwvia", inline=64, vis=8)

    async def run() -> None:
        for va in (0x5000, 0xFFFFFFF0):
            await p.mine.post_send(p.here.descriptor(0).send([(va, p.here.handle, 0x20)]))
            assert (await p.mine.poll_send()).status == Status.DONE | PROTECTION

    p.machine.finish(run())
    p.machine.finish(good(p))


def test_a_send_descriptor_posted_as_a_receive_is_a_format_error() -> None:
    p = pair()

    async def run() -> Status:
        wrong = p.there.descriptor(0).rdma_write([p.there.part(0, 10)], p.here.base, p.here.handle)
        await p.yours.post_receive(wrong)
        return (await p.yours.poll_receive()).status

    assert p.machine.finish(run()) == [Status.DONE | Status.RECEIVE | FORMAT]
    p.machine.finish(good(p))


def test_memory_of_another_process_or_tag_cannot_be_used() -> None:
    p = pair()

    async def run() -> list[Status]:
        other = await user(p.vias[0])
        tag = p.here.nic.create_ptag()
        handle = await p.here.nic.register_memory(p.here.base, 4096, tag)
        statuses = []
        for segment in ((other.base, other.handle, 10), (p.here.base, handle, 10)):
            await p.mine.post_send(p.here.descriptor(0).send([segment]))
            statuses.append((await p.mine.poll_send()).status)
        return statuses

    assert p.machine.finish(run()) == [[Status.DONE | PROTECTION] * 2]


def test_memory_in_use_by_a_descriptor_cannot_be_deregistered() -> None:
    p = pair()

    async def busy() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 10)]))
        await p.there.nic.deregister_memory(p.there.handle)

    with pytest.raises(VipError) as refused:
        p.machine.finish(busy())
    assert refused.value.result is Result.ERROR_RESOURCE

    async def free() -> None:
        await p.mine.post_send(p.here.descriptor(1).send([p.here.part(0, 10)]))
        await p.yours.poll_receive()
        await p.there.nic.deregister_memory(p.there.handle)

    p.machine.finish(free())


async def connecting(p: Pair, node: int, discriminator: int) -> None:
    """Request a connection with a new VI."""
    await (await p.here.nic.create_vi(p.here.tag)).connect_request(node, discriminator, 1000)


async def misaligned(p: Pair) -> None:
    """Create a descriptor at an address that is not a multiple of 64."""
    p.here.nic.descriptor(p.here.places + 4, p.here.place_handle)


CALLS: dict[str, Callable[[Pair], Coroutine[Any, Any, Any]]] = {
    "tag": lambda p: p.here.nic.register_memory(p.here.base, 10, 999),
    "vi tag": lambda p: p.here.nic.create_vi(999),
    "most": lambda p: p.here.nic.create_vi(p.here.tag, most=65537),
    "nothing": lambda p: p.here.nic.register_memory(p.here.base, 0, p.here.tag),
    "handle": lambda p: p.here.nic.deregister_memory(p.there.handle + 5),
    "misaligned": misaligned,
    "connected": lambda p: p.mine.connect_request(1, 7, 100),
    "destroy": lambda p: p.mine.destroy(),
    "close": lambda p: p.here.nic.close(),
    "node": lambda p: connecting(p, 5, 7),
    "nobody": lambda p: connecting(p, 1, 8),
    "no request": lambda p: p.here.nic.connect_wait(9, 500),
    "entries": lambda p: p.here.nic.create_cq(1025),
}


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("tag", Result.INVALID_PTAG),
        ("vi tag", Result.INVALID_PTAG),
        ("most", Result.INVALID_MTU),
        ("nothing", Result.INVALID_PARAMETER),
        ("handle", Result.INVALID_PARAMETER),
        ("misaligned", Result.INVALID_PARAMETER),
        ("connected", Result.INVALID_STATE),
        ("destroy", Result.INVALID_STATE),
        ("close", Result.ERROR_RESOURCE),
        ("node", Result.NOT_REACHABLE),
        ("nobody", Result.TIMEOUT),
        ("no request", Result.TIMEOUT),
        ("entries", Result.INVALID_PARAMETER),
    ],
)
def test_an_invalid_call_raises_an_error_with_the_cause(name: str, result: Result) -> None:
    p = pair()
    with pytest.raises(VipError) as refused:
        p.machine.finish(CALLS[name](p))
    assert refused.value.result is result
    p.machine.finish(good(p))


def test_regions_can_be_exhausted_and_reused() -> None:
    p = pair(regions=16)

    async def run() -> None:
        nic, tag = p.here.nic, p.here.tag
        handles = [await nic.register_memory(p.here.base, 4096, tag) for _ in range(14)]
        with pytest.raises(VipError, match="out of resources"):
            await nic.register_memory(p.here.base, 4096, tag)
        await nic.deregister_memory(handles[3])
        assert await nic.register_memory(p.here.base, 4096, tag) not in handles

    p.machine.finish(run())


def test_no_page_of_the_nic_is_mapped_with_kernel_doorbells() -> None:
    """Check that no page of the NIC is mapped: the kernel rings the central queue's doorbell (readings C13)."""
    p = pair()
    assert User is type(p.here)
    with pytest.raises(Exception, match="protection fault"):
        p.machine.finish(p.here.process.pio_write(p.machine.host(0).nic_base, b"\0\0\0\1"))
