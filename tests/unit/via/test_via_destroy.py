"""Destruction of a VI.

Strategy: a VI is used, disconnected and destroyed, and the memory of its descriptors returned to the operating system.
Its number is then reused by another VI. The first VI's posted descriptors must be forgotten: the kernel must not read
their memory.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability
from firmware.via.nic.layout import State
from tb.studies.via._via import connect
from tests.unit.via.via_bench import pair


@pytest.mark.parametrize("level", [Reliability.UNRELIABLE, Reliability.DELIVERY])
def test_the_next_vi_of_a_number_inherits_nothing(level: Reliability) -> None:
    p = pair(reliability=level)

    async def use_and_destroy() -> None:
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 16)]))
        await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 16)]))
        await p.yours.poll_receive()
        await p.mine.poll_send()
        await p.mine.disconnect()
        while p.yours.state is State.CONNECTED:
            await p.here.nic.host.sleep(1_000_000)
        await p.yours.disconnect()
        for vi, owner in ((p.mine, p.here), (p.yours, p.there)):
            await vi.destroy()
            await owner.nic.deregister_memory(owner.place_handle)
            owner.process.free(owner.places, 1 << 16)
            owner.places = owner.process.allocate(1 << 16)
            owner.place_handle = await owner.nic.register_memory(owner.places, 1 << 16, owner.tag)
        mine, yours = await connect(p.here, p.there, 1)
        await p.here.nic.host.sleep(10_000_000_000)  # longer than a send of the first VI could have waited
        assert (mine.number, yours.number) == (p.mine.number, p.yours.number)
        await yours.post_receive(p.there.descriptor(1).receive([p.there.part(0, 16)]))
        await mine.post_send(p.here.descriptor(1).send([p.here.part(0, 16)]))
        assert (await yours.poll_receive()).length == 16

    p.machine.finish(use_and_destroy())
