"""Misuses of VIA's library that take more than a line, for the table of `test_via_misuse.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.via.host import Descriptor, VipError
from tb.studies.via._via import user
from tests.unit.via.via_bench import Pair


def place(p: Pair) -> Descriptor:
    """Return a descriptor."""
    return p.here.descriptor(0)


async def served(p: Pair, act: Callable[[Any, Any], Awaitable[Any]]) -> None:
    """Call `act` with a connection request and a new VI."""
    other = await p.here.nic.create_vi(p.here.tag)

    async def ask() -> None:
        with pytest.raises(VipError):
            await other.connect_request(1, 3, 600)

    task = p.here.process.spawn(ask(), "asks")
    try:
        await act(await p.there.nic.connect_wait(3, 500), await p.there.nic.create_vi(p.there.tag))
    finally:
        await task.finished


async def accepted_twice(p: Pair) -> None:
    async def ask() -> None:
        await (await p.here.nic.create_vi(p.here.tag)).connect_request(1, 3, 1000)

    task = p.here.process.spawn(ask(), "asks")
    connection = await p.there.nic.connect_wait(3, 500)
    await p.there.nic.connect_accept(connection, await p.there.nic.create_vi(p.there.tag))
    await task.finished
    await p.there.nic.connect_accept(connection, await p.there.nic.create_vi(p.there.tag))


async def rejected_and_accepted(p: Pair) -> None:
    async def act(connection: Any, vi: Any) -> None:
        await p.there.nic.connect_reject(connection)
        await p.there.nic.connect_accept(connection, vi)

    await served(p, act)


async def of_another_process(p: Pair, act: Callable[[Any, Any, Any], Awaitable[Any]]) -> None:
    other = await user(p.vias[1])
    await served(p, lambda connection, vi: act(other, connection, vi))


async def another_s_vi(p: Pair) -> None:
    async def act(other: Any, connection: Any, _: Any) -> None:
        await p.there.nic.connect_accept(connection, await other.nic.create_vi(other.tag))

    await of_another_process(p, act)


async def another_s_tag(p: Pair) -> None:
    other = await user(p.vias[0])
    await p.here.nic.create_vi(other.tag)


async def another_s_memory(p: Pair) -> None:
    other = await user(p.vias[0])
    await p.here.nic.deregister_memory(other.handle)


async def another_s_queue(p: Pair) -> None:
    other = await user(p.vias[0])
    await p.here.nic.create_vi(p.here.tag, send_cq=await other.nic.create_cq(4))


async def another_s_descriptor(p: Pair) -> None:
    other = await user(p.vias[0])
    await p.mine.post_send(other.descriptor(0).send([]))


async def fresh(p: Pair, act: Callable[[Any], Any]) -> None:
    await act(await p.here.nic.create_vi(p.here.tag))


async def full_nic(p: Pair) -> None:
    made = [await p.here.nic.create_vi(p.here.tag) for _ in range(6)]
    try:
        await p.here.nic.create_vi(p.here.tag)
    finally:
        for vi in made:
            await vi.destroy()


async def full_queues(p: Pair) -> None:
    made = [await p.here.nic.create_cq(4) for _ in range(4)]
    try:
        await p.here.nic.create_cq(4)
    finally:
        for queue in made:
            await queue.destroy()


async def queue_in_use(p: Pair) -> None:
    queue = await p.here.nic.create_cq(4)
    vi = await p.here.nic.create_vi(p.here.tag, receive_cq=queue)
    try:
        await queue.destroy()
    finally:
        await vi.destroy()
        await queue.destroy()


async def queue_then(p: Pair, act: Callable[[Any], Any]) -> None:
    queue = await p.here.nic.create_cq(4)
    try:
        await act(queue)
    finally:
        await queue.destroy()


async def posted_and(p: Pair, act: Callable[[Pair], Any]) -> None:
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 10)]))
    try:
        await act(p)
    finally:
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 10)]))
        await p.mine.poll_send()
        await p.yours.poll_receive()


async def two_peer_requests(p: Pair) -> None:
    first, second = [await p.here.nic.create_vi(p.here.tag) for _ in range(2)]
    await first.connect_peer_request(1, 9, 300)
    try:
        await second.connect_peer_request(1, 9, 300)
    finally:
        with pytest.raises(VipError):
            await first.connect_peer_wait()


async def destroyed_pending(p: Pair) -> None:
    vi = await p.here.nic.create_vi(p.here.tag)
    await vi.connect_peer_request(1, 9, 300)
    try:
        await vi.destroy()
    finally:
        with pytest.raises(VipError):
            await vi.connect_peer_wait()


async def as_call(call: Callable[..., Any], *given: Any) -> None:
    call(*given)
