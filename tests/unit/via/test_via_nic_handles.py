"""Handles of opened NICs and of registered memory: closed NICs and rejected registrations leave no state.

Strategy: a NIC is closed with and without remaining objects. Registrations are rejected for each reason, many times, or
undone at once. Then every call is made on closed objects, and all memory must be free.
"""

from __future__ import annotations

import pytest

from firmware.via.host import Result, VipError
from pymodels.machine import Machine
from tests.unit.via.via_bench import refused, start


def test_a_nic_with_open_objects_cannot_be_closed_and_a_closed_nic_rejects_calls() -> None:
    machine = Machine(2)
    (via, _) = start(machine)

    async def run() -> None:
        nic = await via.open()
        tag, va = nic.create_ptag(), nic.process.allocate(4096)
        handle = await nic.register_memory(va, 4096, tag)
        attributes = await nic.query_memory(handle)
        await refused(nic.close(), Result.ERROR_RESOURCE)
        await nic.deregister_memory(handle)
        queue = await nic.create_cq(4)
        await refused(nic.close(), Result.ERROR_RESOURCE)
        await queue.destroy()
        await nic.close()
        for call in (
            nic.close(),
            nic.query(),
            nic.query_counters(),
            nic.register_memory(va, 4096, tag),
            nic.deregister_memory(handle),
            nic.query_memory(handle),
            nic.set_memory(handle, attributes),
            nic.create_vi(tag),
            nic.create_cq(4),
            nic.connect_wait(7, 10),
        ):
            await refused(call)
        for act in (nic.create_ptag, lambda: nic.on_error(lambda _: None), lambda: nic.descriptor(va, handle)):
            with pytest.raises(VipError):
                act()

    machine.finish(run())


@pytest.mark.parametrize("preset", ["hwvia", "bvia2"])
def test_a_rejected_registration_leaves_no_state(preset: str) -> None:
    """Exceed the NIC's room of 256 table pages (at2), or name a range without memory at its end."""
    machine = Machine(2)
    (via, _) = start(machine, preset=preset, vis=4, table_words=256, regions=16)

    async def run() -> None:
        nic = await via.open()
        tag, pages = nic.create_ptag(), 300
        va = nic.process.allocate(4096 * pages)
        for _ in range(20):
            if preset == "hwvia":
                await refused(nic.register_memory(va, 4096 * pages, tag), Result.ERROR_RESOURCE)
            else:
                await refused(nic.register_memory(va + 4096, 4096 * pages, tag))
        await nic.register_memory(va, 4096 * 100, tag)
        nic.process.free(va + 4096 * 100, 4096 * (pages - 100))  # nothing is pinned there

    machine.finish(run())


def test_memory_handles_fit_in_a_word_and_are_not_reused_at_once() -> None:
    machine = Machine(2)
    (via, _) = start(machine)

    async def run() -> None:
        nic = await via.open()
        tag, va = nic.create_ptag(), nic.process.allocate(4096)
        via.kernel_agent.registry._serial = (1 << 20) - 4
        handles = [await nic.register_memory(va, 4096, tag) for _ in range(8)]
        assert len(set(handles)) == 8 and all(0 < handle < 1 << 32 for handle in handles)
        for handle in handles:
            await nic.deregister_memory(handle)

    machine.finish(run())
