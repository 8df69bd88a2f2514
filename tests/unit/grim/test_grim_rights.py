"""Access rights of pages that are revoked while GRIM runs.

Strategy: on the machine a remote write goes to pinned memory, and then the kernel revokes the right to its page: the
DMA of the next write must end the run with an error that names the page's owner. NI memory that an application has
mapped loses its right to be written.
"""

from __future__ import annotations

import re

import pytest

from firmware.grim.host import Grim
from pymodels.host import PAGE, ProtectionFault, Rights
from pymodels.machine import MachineError
from tests.unit.grim.grim_bench import Bench


def test_remote_write_to_a_page_that_became_read_only_ends_the_run_by_name() -> None:
    bench, written = Bench(2), []

    async def node(library: Grim, me: int) -> None:
        near, far = bench.libraries
        if me == 0:
            target, source, lock = await far.malloc_pinned(64), await near.malloc_pinned(64), await far.malloc_pinned(4)
            place = far.get_pinned_pa(target)
            for value in (1, 2):
                await near.send_physical_memory(1 << 24, place, source, 64, lock=lock, value=value)
                await far.wait_for_lock(lock, value)
                written.append(value)
                bench.machine.host(1).close(place // PAGE * PAGE, "host1: process pinned, page 0x1000")
        await library.host.sleep(10_000_000_000)

    with pytest.raises(MachineError, match="into a page that may not be written: host1: process pinned, page 0x1000"):
        bench.run(node)
    assert written == [1]


def test_write_to_ni_memory_that_became_read_only_is_rejected_by_name() -> None:
    bench = Bench(2)
    bench.libraries[0].reserve_ni_memory(PAGE)

    async def node(library: Grim, me: int) -> None:
        if me == 0:
            place, _ = library.get_reserved_ni_memory()
            app = library.reserved.application
            await app.pio_write(place, bytes(4))
            app.set_rights(place, PAGE, Rights.READ)
            said = f"{app.who}: protection fault: PIO store of 4 bytes at {place:#x}: the page is read-only"
            with pytest.raises(ProtectionFault, match=f"^{re.escape(said)}"):
                await app.pio_write(place, bytes(4))
            assert await app.pio_read(place) == 0

    bench.run(node)
