"""Page rights on each binding of the host's verbs: faults, their handlers, costs, and rejected uses.

Strategy: as `test_computing`. A process accesses pages whose rights were removed; its handler, or a driver's, restores
them, at once or after a wait. Times are sums of known durations. Every error is compared in full.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pymodels.host import PAGE, Fault, FaultError, Process, ProtectionFault, Rights, ViewError
from tests.tools.hosts import BINDINGS, ENTRY, FAULT, PROTECT, SWITCH, Bound

WAIT = 50_000


@pytest.fixture(name="bound", params=BINDINGS)
def fixture_bound(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bound:
    """Return a host on each binding."""
    return Bound(request.param, library, monkeypatch)


class App:
    """Process with four pages, whose handler grants a page the right that the access needs."""

    def __init__(self, bound: Bound, wait: int = 0) -> None:
        self.bound = bound
        self.process: Process = bound.host.process("app")
        self.va = self.process.allocate(4 * PAGE)
        self.faults: list[Fault] = []

        async def mend(fault: Fault) -> None:
            self.faults.append(fault)
            if wait:
                done = bound.host.event("a message")
                bound.kernel.at(bound.kernel.now + wait, done.set)
                await self.process.block(done)
            self.process.set_rights(fault.va, 1, Rights.WRITE if fault.write else Rights.READ)

        self.process.on_fault(mend)

    def took(self, program: Any) -> int:
        """Return the duration of a program in ps."""
        start = self.bound.kernel.now
        (end,) = self.bound.ends(program)
        return end - start


def test_an_access_without_the_right_faults_into_the_handler_and_is_repeated(bound: Bound) -> None:
    app = App(bound)
    va, process = app.va, app.process
    process.store_bytes(va, b"before")
    process.set_rights(va, 4 * PAGE, Rights.NONE)

    async def program() -> None:
        assert await process.read(va, 6) == b"before"
        assert await process.read(va, 6) == b"before"
        await process.write(va + 1, b"EFO")
        await process.write(va + 2, b"F")

    assert app.took(program()) == 2 * FAULT
    assert [fault[:3] for fault in app.faults] == [(va, False, True), (va + 1, True, True)]
    assert process.load_bytes(va, 6) == b"bEFOre" and process.faults == 2


def test_a_store_over_pages_faults_once_per_page_and_arrives_whole(bound: Bound) -> None:
    app = App(bound)
    app.process.set_rights(app.va, 4 * PAGE, Rights.READ)
    data = bytes(range(256)) * (2 * PAGE // 256)
    assert app.took(app.process.write(app.va + 100, data)) == 3 * FAULT
    assert [fault.va for fault in app.faults] == [app.va + 100, app.va + PAGE, app.va + 2 * PAGE]
    assert app.process.load_bytes(app.va + 100, len(data)) == data


def test_a_handler_may_wait_and_others_run_meanwhile(bound: Bound) -> None:
    app, other = App(bound, WAIT), bound.host.process("other")
    app.process.set_rights(app.va, PAGE, Rights.NONE)
    start = bound.kernel.now
    times = bound.ends(app.process.read(app.va, 4), other.compute(WAIT / 2000))
    assert times[1] == start + FAULT + SWITCH + WAIT // 2
    assert times[0] == start + FAULT + WAIT + SWITCH


def test_a_page_that_is_not_present_faults_into_the_drivers_handler(bound: Bound) -> None:
    app, brought = App(bound), []
    process, page = app.process, app.va + PAGE

    async def bring(fault: Fault) -> None:
        brought.append(fault)
        bound.host.store_bytes(process.pages.at(page, "paging").physical, b"from the card")
        process.set_present(page, PAGE, True)

    process.page_by(page, PAGE, bring)
    process.set_rights(page, PAGE, Rights.READ)
    process.set_present(page, PAGE, False)

    async def program() -> None:
        assert await process.read(page, 13) == b"from the card"
        await process.write(page, b"FROM")

    assert app.took(program()) == 2 * FAULT
    assert [fault[:3] for fault in brought + app.faults] == [(page, False, False), (page, True, True)]


def test_protect_costs_a_call_and_each_page(bound: Bound) -> None:
    app = App(bound)
    assert app.took(app.process.protect(app.va + 5, 3 * PAGE, Rights.READ)) == ENTRY + 4 * PROTECT
    assert {app.process.pages.at(app.va + PAGE * i, "look").rights for i in range(4)} == {Rights.READ}


def test_accesses_that_cannot_wait_are_rejected_with_the_reason(bound: Bound) -> None:
    process, va = App(bound).process, 0x1000_0000
    process.set_rights(va, PAGE, Rights.NONE)
    with pytest.raises(
        ProtectionFault, match=f"^h: process app: protection fault: load of 4 bytes at {va:#x}: the page has"
    ):
        process.load_words(va, 1)
    process.set_rights(va, PAGE, Rights.READ)
    assert process.load_words(va, 1) == (0,)
    with pytest.raises(ProtectionFault, match="store of 1 bytes at .*: the page is read-only"):
        process.store_bytes(va, b"x")
    process.set_present(va, PAGE, False)
    with pytest.raises(ProtectionFault, match="pinning at .*: the page is not present"):
        process.pin(va, 1)
    process.set_present(va, PAGE, True)
    process.pin(va, 1)
    with pytest.raises(ProtectionFault, match="paging out at .*: the page is pinned"):
        process.set_present(va, PAGE, False)


def test_a_handler_that_does_not_resolve_its_fault_ends_the_run_by_name(bound: Bound) -> None:
    process, va = App(bound).process, 0x1000_0000

    async def nothing(fault: Fault) -> None:
        await process.compute(1)

    async def too_little(fault: Fault) -> None:
        process.set_rights(fault.va, 1, Rights.READ)

    process.set_rights(va, PAGE, Rights.NONE)
    for handler, times in ((nothing, 1), (too_little, 8)):
        process.on_fault(handler)
        what = f"h: process app: write of 2 bytes at {va + 7:#x}, page {va:#x}: its handler returned {times} times"
        with pytest.raises(FaultError, match=f"^{re.escape(what)}"):
            bound.ends(process.write(va + 7, b"no"))


def test_a_fault_without_a_handler_is_an_error(bound: Bound) -> None:
    app = App(bound)
    process, va = app.process, app.va

    async def faults_itself(fault: Fault) -> None:
        await process.read(va + PAGE, 1)

    process.set_rights(va, 2 * PAGE, Rights.NONE)
    process.on_fault(faults_itself)
    with pytest.raises(ProtectionFault, match=f"read of 1 bytes at {va + PAGE:#x}: the page has no right"):
        bound.ends(process.read(va, 1))
    with pytest.raises(ProtectionFault, match="read of 1 bytes at 0x0: nothing is mapped there"):
        bound.ends(process.read(0, 1))
    process.set_rights(va, PAGE, Rights.WRITE)
    process.set_present(va, PAGE, False)
    with pytest.raises(ProtectionFault, match="the page is not present"):
        bound.ends(process.read(va, 1))


def test_a_view_is_the_memory_itself_until_the_process_waits(bound: Bound) -> None:
    app = App(bound)
    process, va = app.process, app.va
    process.set_rights(va, PAGE, Rights.READ)

    async def program() -> None:
        array = await process.view(va + 8, 4, write=True)
        array[:] = (1, 2, 3, 4)
        del array
        await process.compute(1)
        readable = await process.view(va + 8, 4)
        assert readable.tolist() == [1, 2, 3, 4] and not readable.flags.writeable

    assert app.took(program()) == FAULT + 1000
    assert process.load_bytes(va + 8, 4) == bytes((1, 2, 3, 4))


@pytest.mark.parametrize("part", [False, True])
def test_a_view_that_is_kept_over_a_wait_ends_the_run_by_name(bound: Bound, part: bool) -> None:
    process, va = App(bound).process, 0x1000_0000

    async def program() -> int:
        array = await process.view(va, 64)
        kept = array[3:9] if part else array
        del array
        await process.compute(1)
        return int(kept[0])

    with pytest.raises(ViewError, match=rf"^h: process app: view\({va:#x}, 64\): it was kept during compute; "):
        bound.ends(program())


def test_a_view_over_scattered_frames_is_rejected(bound: Bound) -> None:
    process, va = App(bound).process, 0x1000_0000
    with pytest.raises(ViewError, match=r"its pages lie in 4 pieces of physical memory; view one page at a time"):
        bound.ends(process.view(va, 4 * PAGE))


def test_dma_into_a_page_that_may_not_be_written_ends_the_run_by_name(bound: Bound) -> None:
    process, va = App(bound).process, 0x1000_0000
    frame = process.pin(va, PAGE)[0]
    bound.dma(frame + 8, 1)
    process.set_rights(va, PAGE, Rights.READ)
    with pytest.raises(Exception, match=f"{frame + 16:#x}.* may not be written: h: process app, page {va:#x}"):
        bound.dma(frame + 16, 2)
    assert process.load_words(va + 8, 1) == (1,) and process.load_words(va + 16, 1) == (0,)
    process.set_rights(va, PAGE, Rights.WRITE)
    bound.dma(frame + 16, 3)
    assert process.load_words(va + 16, 1) == (3,)


def test_a_frame_that_is_returned_or_released_is_open_again(bound: Bound) -> None:
    process = App(bound).process
    va = process.allocate(2 * PAGE)
    process.set_rights(va, 2 * PAGE, Rights.READ)
    old = [page for page, _ in process.pieces(va, 2 * PAGE)]
    moved = process.gather(va, 2 * PAGE)
    assert sorted(bound.host.closed) == [new for _, new in moved]
    process.free(va, 2 * PAGE)
    assert not bound.host.closed
    for frame in old:
        bound.dma(frame, 7)
