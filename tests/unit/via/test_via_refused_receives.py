"""Invalid receives posted by user-level doorbells: they complete in their turn, whenever the NIC reads them.

Strategy: with each way of reading descriptors, invalid receives are posted between valid ones, once with room to read
all ahead and once with more. None may be reported before the first message. The queue then reports all in the order of
posting. Without a message, the end of the connection completes them.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from pymodels.machine import Machine
from tb.studies.via._via import user
from tests.unit.via.test_via_kernel_statuses import RECEIVED, completions, made
from tests.unit.via.via_bench import start

WAYS = pytest.mark.parametrize("way", ["hwvia pio", "hwvia ahead", "bvia2 dma", "bvia2 prefetch"])
WRONG = RECEIVED | Status.LENGTH_ERROR
TURNS = ("good bad good", "good bad bad good bad good", "good " * 16 + "bad good")
"""Posted receives; the last case exceeds the room for reading ahead."""


@WAYS
@pytest.mark.parametrize("completion", ["cq1", "cq2"])
@pytest.mark.parametrize("posted", TURNS)
def test_an_invalid_receive_is_reported_after_earlier_ones(way: str, completion: str, posted: str) -> None:
    preset, descriptors = way.split()
    machine = Machine(2)
    vias = start(machine, preset=preset, descriptors=descriptors, completion=completion)
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(made(near, far, Reliability.RECEPTION))
    kinds = posted.split()

    async def run() -> list[Status]:
        for i, kind in enumerate(kinds):
            await yours.post_receive(far.descriptor(i).receive([far.part(0, 100 if kind == "good" else 100000)]))
        await machine.host(0).sleep(100_000_000)
        assert await queue.done() is None
        for i in range(kinds.count("good")):
            await mine.post_send(near.descriptor(i).send([near.part(0, 50 + i)]))
        return await completions(queue, len(kinds))

    assert machine.finish(run()) == [[RECEIVED if kind == "good" else WRONG for kind in kinds]]


@WAYS
def test_an_invalid_receive_gets_its_error_at_the_end_of_the_connection(way: str) -> None:
    preset, descriptors = way.split()
    machine = Machine(2)
    vias = start(machine, preset=preset, descriptors=descriptors, completion="cq1")
    near, far = machine.finish(user(vias[0]), user(vias[1]))
    ((queue, mine, yours),) = machine.finish(made(near, far, Reliability.RECEPTION))

    async def run() -> list[Status]:
        for i, size in enumerate((100, 100000)):
            await yours.post_receive(far.descriptor(i).receive([far.part(0, size)]))
        await machine.host(0).sleep(100_000_000)
        await mine.disconnect()
        return await completions(queue, 2)

    assert machine.finish(run()) == [[RECEIVED | Status.FLUSHED, WRONG]]
