"""Pages of user-level VIs in the NIC's and the host's memory.

Strategy: a process has one page for all its doorbells, which no other process has, and the number of pages is limited.
A polling step samples the address it is aimed at. A post waits while the NIC makes progress. Without translation
tables, registered memory is contiguous and keeps its contents.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.verbs import Watch
from firmware.via.formats import Status
from firmware.via.host import Result, VipError
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.user_pages import PAGE, Pair
from pymodels.machine import Machine
from tests.unit.via.via_bench import pair, pattern


def doorbells(vi: Any, process: Any) -> int:
    """Return the physical address of a VI's doorbells."""
    poster = vi.sends.poster
    assert isinstance(poster, ByProcess)
    address = process.pages.physical(poster.pair, Pair.BYTES, "", device=True, write=True)
    assert address is not None
    return int(address)


def test_only_doorbells_of_the_same_process_share_a_page() -> None:
    p = pair(preset="bvia2", vis=8)
    second = p.machine.finish(p.here.nic.create_vi(p.here.tag))[0]
    mine = [doorbells(vi, p.here.process) for vi in (p.mine, second)]
    assert mine[0] // PAGE == mine[1] // PAGE
    assert abs(mine[0] - mine[1]) == Pair.BYTES
    other = p.machine.finish(p.vias[0].open())[0]
    theirs = p.machine.finish(other.create_vi(other.create_ptag()))[0]
    assert doorbells(theirs, other.process) // PAGE != mine[0] // PAGE


def test_each_vi_has_its_own_page_with_option_pages_vi() -> None:
    p = pair(preset="bvia1", vis=8)
    second = p.machine.finish(p.here.nic.create_vi(p.here.tag))[0]
    assert doorbells(p.mine, p.here.process) // PAGE != doorbells(second, p.here.process) // PAGE


def test_creating_a_vi_fails_without_a_free_doorbell_page() -> None:
    p = pair(preset="bvia2", vis=8, processes=1)
    other = p.machine.finish(p.vias[0].open())[0]
    tag = other.create_ptag()
    with pytest.raises(VipError) as refused:
        p.machine.finish(other.create_vi(tag))
    assert refused.value.result is Result.ERROR_RESOURCE
    p.machine.finish(p.mine.disconnect())
    p.machine.finish(p.mine.destroy())
    assert p.machine.finish(other.create_vi(tag))[0].number == p.mine.number


def test_a_polling_step_samples_the_address_it_is_aimed_at() -> None:
    machine = Machine(1)
    nic = machine.nic(0)
    loop = nic.poll_loop([Watch(0, 0, "look"), Watch(4, 0, "look")])
    nic.store(4, 1)
    loop.aim(1, 8)

    async def program() -> int:
        return await loop.run(0)

    task = nic.spawn(program(), "program")
    machine.run(until_us=5)
    nic.store(8, 1)
    assert machine.finish(task) == [1]


def test_a_post_waits_for_long_messages_before_it() -> None:
    """Use a doorbell of one word: each post waits until the NIC has begun the previous message, some 500 us each."""
    p = pair(preset="bvia2", vis=8)
    p.here.write(0, pattern(65536))

    async def receive() -> None:
        for i in range(6):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(0, 65536)]))

    async def send() -> None:
        for i in range(6):
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 65536)]))
        for _ in range(6):
            assert (await p.mine.poll_send()).status == Status.DONE

    p.machine.finish(receive())
    p.machine.finish(send())
    assert p.there.read(0, 65536) == pattern(65536)


def test_a_post_that_waits_for_long_messages_gives_way_to_other_threads() -> None:
    """Let another thread become ready during the wait: it must run before the next message begins."""
    p = pair(preset="bvia2", vis=8)
    process, host, late = p.here.process, p.machine.host(0), list[int]()

    async def send() -> None:
        for i in range(4):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(0, 65536)]))
            await p.mine.post_send(p.here.descriptor(i).send([p.here.part(0, 65536)]))

    async def compute() -> None:
        sending = process.spawn(send(), "posting")
        while not sending.finished.done:
            await host.sleep(50_000_000)
            ready = host.now
            await process.spend("post_pointer")
            late.append(host.now - ready)

    p.machine.finish(compute())
    assert len(late) > 10 and max(late) < 50_000_000


def test_registered_memory_without_tables_is_contiguous_and_keeps_its_bytes() -> None:
    p = pair(preset="bvia1", vis=8)
    process, size = p.here.process, 20 * PAGE
    va = process.allocate(size)
    process.store_bytes(va, pattern(size))
    before = process.pieces(va, size)
    p.machine.finish(p.here.nic.register_memory(va, size, p.here.tag))
    assert len(before) > 1, "its frames were anywhere"
    assert [part for _, part in process.pieces(va, size)] == [size]
    assert process.load_bytes(va, size) == pattern(size)


def test_memory_that_is_already_pinned_is_not_moved() -> None:
    p = pair(preset="bvia1", vis=8)
    process = p.here.process
    va = process.allocate(8 * PAGE)
    p.machine.finish(p.here.nic.register_memory(va, 2 * PAGE, p.here.tag))
    kept = process.pieces(va, 2 * PAGE)
    with pytest.raises(VipError) as refused:
        p.machine.finish(p.here.nic.register_memory(va, 8 * PAGE, p.here.tag))
    assert refused.value.result is Result.ERROR_RESOURCE
    assert process.pieces(va, 2 * PAGE) == kept
    p.machine.finish(p.here.nic.register_memory(va, PAGE, p.here.tag))  # a part of what is contiguous
