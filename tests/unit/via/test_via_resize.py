"""Resizing of a completion queue in use: no completion is lost.

Strategy: two threads use one completion queue at the same time, and at least one of them resizes it. Then messages
arrive, and each must be reported.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from firmware.via.formats import Status
from firmware.via.host import Result, Vi, VipError
from firmware.via.host.library.completion_queue import CompletionQueue
from pymodels.machine import Machine
from tb.studies.via._via import user
from tests.unit.via.via_bench import start

TOO_LONG_US, MESSAGES = 20_000, 24


class Receiver:
    """Receiver with a completion queue, and its sender."""

    def __init__(self, preset: str) -> None:
        self.machine = Machine(2)
        vias = start(self.machine, preset=preset, completion="cq1", vis=8)
        self.here, self.there = self.machine.finish(*(user(via) for via in vias))
        self.queue: CompletionQueue
        (self.queue,) = self.machine.finish(self.there.nic.create_cq(64))
        ((self.mine, self.yours),) = self.machine.finish(self._connected())

    async def _connected(self) -> tuple[Vi, Vi]:
        mine = await self.here.nic.create_vi(self.here.tag)
        yours = await self.there.nic.create_vi(self.there.tag, receive_cq=self.queue)
        task = self.here.process.spawn(mine.connect_request(1, 1, 1000), "asks")
        await self.there.nic.connect_accept(await self.there.nic.connect_wait(1, 1000), yours)
        await task.finished
        return mine, yours

    async def receives(self, count: int) -> None:
        """Post receives for `count` messages."""
        for number in range(count):
            await self.yours.post_receive(self.there.descriptor(number).receive([self.there.part(0, 8)]))

    async def messages(self, count: int) -> None:
        """Send `count` messages, and check that the queue reports each."""
        for number in range(count):
            await self.mine.post_send(self.here.descriptor(number).send([self.here.part(0, 8)]))
        for _ in range(count):
            assert (await self.mine.poll_send()).status == Status.DONE

    async def reports(self, count: int) -> None:
        """Check that the queue reports exactly `count` completions."""
        for _ in range(count):
            assert await self.queue.wait(TOO_LONG_US) == (self.yours, True)
            assert (await self.yours.poll_receive()).length == 8
        assert await self.queue.done() is None

    def run(self, *calls: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run threads concurrently."""
        return list(self.machine.finish(*calls, within_us=TOO_LONG_US))


@pytest.mark.parametrize("late_us", [0, 1, 2])
@pytest.mark.parametrize("preset", ["firmvia", "hwvia"])
def test_two_concurrent_resizes_run_one_after_the_other(preset: str, late_us: int) -> None:
    receiver = Receiver(preset)

    async def resize(entries: int, pause_us: int) -> None:
        await receiver.there.nic.host.sleep(pause_us * 1_000_000)
        await receiver.queue.resize(entries)

    receiver.run(receiver.receives(MESSAGES))
    receiver.run(resize(32, 0), resize(48, late_us), receiver.messages(MESSAGES))
    receiver.run(receiver.reports(MESSAGES))


@pytest.mark.parametrize("late_us", [1, 3, 6])
def test_a_poll_that_begins_during_a_resize_gets_later_completions(late_us: int) -> None:
    receiver = Receiver("firmvia")

    async def poll() -> None:
        await receiver.there.nic.host.sleep(late_us * 1_000_000)
        assert await receiver.queue.poll() == (receiver.yours, True)

    async def resize() -> None:
        await receiver.queue.resize(32)
        await receiver.there.nic.host.sleep(50_000_000)
        await receiver.messages(1)

    receiver.run(receiver.receives(1))
    receiver.run(resize(), poll())


def test_a_destroy_during_a_resize_waits_for_its_end() -> None:
    receiver = Receiver("firmvia")
    nic = receiver.there.nic

    async def destroy() -> CompletionQueue:
        queue: CompletionQueue = await nic.create_cq(4)
        resized = receiver.there.process.spawn(queue.resize(8), "resizes")
        await nic.host.sleep(3_000_000)
        await queue.destroy()
        await resized.finished
        return queue

    old: CompletionQueue
    (old,) = receiver.run(destroy())
    (other,) = receiver.machine.finish(nic.create_cq(4))
    assert other.number == old.number
    with pytest.raises(VipError) as refused:
        receiver.machine.finish(old.resize(8))
    assert refused.value.result is Result.INVALID_PARAMETER
    queues = nic.agent.queues
    assert queues.used.count(True) == 2
