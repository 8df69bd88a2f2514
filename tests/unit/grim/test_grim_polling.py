"""The polling thread, the nine phases of `grim_enable`, and NI memory for applications.

Strategy: the thread must run the handlers of an application that never polls. It runs them later than polling would, by
the rest of the period and by context switches. Both threads share one CPU, so a computing application is delayed by the
time of the thread.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.host.enable import Phase
from pymodels.host.faults import ProtectionFault
from tests.unit.grim.grim_bench import Bench

SWITCH_PS = 1_500_000
"""Duration of a context switch on the machine."""
PERIOD_US = 40


def pair(**options: int | str) -> Bench:
    """Two nodes."""
    return Bench(2, 1, False, True, **options)


def one_way(**options: int | str) -> list[int]:
    """Return picoseconds from each of ten sends until the other application has noticed it."""
    bench = pair(**options)
    sent: list[int] = []
    noticed: list[int] = []

    async def node(library: Grim, me: int) -> None:
        got: list[int] = []

        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            for i in range(10):
                await library.wait_for(lambda i=i: len(got) > i)  # type: ignore[misc]
                noticed.append(library.host.now)
            return
        for i in range(10):
            await library.host.sleep(100_000_000 + 3_700_000 * i)
            sent.append(library.host.now)
            await library.send(1 << 24, number, i)

    bench.run(node)
    return [end - begin for begin, end in zip(sent, noticed, strict=True)]


def test_polling_thread_polls_for_the_application_with_a_delay() -> None:
    explicit = one_way()
    threaded = one_way(poll_thread=1, poll_period_us=PERIOD_US)
    assert max(explicit) - min(explicit) < 1_500_000, "the phases of the NIs' search"
    late = [ps - min(explicit) for ps in threaded]
    assert all(SWITCH_PS < ps < PERIOD_US * 1_000_000 + 4 * SWITCH_PS + 2_000_000 for ps in late)
    assert max(late) - min(late) > 10_000_000, "the phase of the thread decides"


def test_shorter_period_reduces_the_delay() -> None:
    mean = [sum(one_way(poll_thread=1, poll_period_us=period)) for period in (5, 20, 80)]
    assert mean[0] < mean[1] < mean[2]


def test_computing_application_loses_the_cpu_time_of_the_thread() -> None:
    times = []
    for options in ({}, {"poll_thread": 1, "poll_period_us": 20}):
        bench = pair(**options)

        async def node(library: Grim, me: int) -> int:
            begun = library.host.now
            for _ in range(2000):
                await library.host.spend("copy_line")
            return library.host.now - begun

        times.append(bench.run(node)[0])
    turns = times[0] // 24_000_000
    assert times[1] - times[0] >= turns * 2 * SWITCH_PS


def test_stopped_thread_leaves_polling_to_the_application() -> None:
    bench = pair(poll_thread=1, poll_period_us=10)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        assert library.polling_thread is not None
        library.polling_thread.stop()
        await library.host.sleep(20_000_000)
        if me == 0:
            await library.send(1 << 24, number, 5)
            return
        turns = library.polling_thread.turns
        await library.host.sleep(200_000_000)
        assert not got
        await library.wait_for(lambda: got == [5])
        assert library.polling_thread.turns == turns

    bench.run(node)


def test_locks_of_remote_memory_work_with_the_polling_thread() -> None:
    bench = pair(poll_thread=1)

    async def node(library: Grim, me: int) -> None:
        near, far = bench.libraries
        if me == 1:
            return
        lock, source = await far.malloc_pinned(4), await near.malloc_pinned(8)
        await near.send_memory(1 << 24, lock, source, 4, lock=lock, value=9)
        await far.wait_for_lock(lock, 9)

    bench.run(node)


def test_grim_enable_goes_through_its_nine_phases_in_order() -> None:
    bench = pair()
    seen: list[tuple[str, Phase]] = []

    class Device:
        """Peripheral device that records its calls."""

        async def initialise(self) -> None:
            """Phase 4."""
            seen.append(("initialise", bench.libraries[0].phase))

        async def activate(self) -> None:
            """Phase 9."""
            seen.append(("activate", bench.libraries[0].phase))

    library = bench.libraries[0]
    assert library.phase == 0
    phases: list[int] = []

    class Watched(type(library)):  # type: ignore[misc]
        """Library that records its phases."""

        def __setattr__(self, name: str, value: Any) -> None:
            phases.extend([value] * (name == "phase"))
            super().__setattr__(name, value)

    library.__class__ = Watched
    library.devices.append(Device())
    bench.machine.finish(library.grim_enable(), bench.libraries[1].grim_enable())
    assert seen == [("initialise", Phase.DEVICES), ("activate", Phase.ACTIVATION)]
    assert phases == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    bench.settle()
    assert all(bench.machine.nic(node).load(0x18) for node in range(2)), "the NI was told that operation begins"


def test_an_endpoint_can_be_polled_by_itself() -> None:
    bench = pair(channels=3)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for channel in range(3):
                await library.send(library.get_dest_id(1, 0, channel), number, channel)
            return
        await library.host.sleep(100_000_000)
        assert await library.poll(1) == 1
        assert await library.poll(1) == 0
        assert got == [1]
        assert await library.poll() == 2
        assert got == [1, 0, 2]

    bench.run(node)


def test_poll_costs_one_check_of_each_endpoint() -> None:
    def costs(channels: int) -> tuple[int, int]:
        """Return the CPU time of a poll of all endpoints, and of one."""
        bench = pair(channels=channels)

        async def node(library: Grim, me: int) -> tuple[int, int]:
            times = [library.host.cpu_ps]
            for channel in (None, 0):
                await library.poll(channel)
                times.append(library.host.cpu_ps)
            return times[1] - times[0], times[2] - times[1]

        found: tuple[int, int] = bench.run(node)[0]
        return found

    (one, alone), (two, _), (five, alone_of_five) = costs(1), costs(2), costs(5)
    assert one == alone == alone_of_five
    assert five - one == 4 * (two - one) > 0


def test_reserved_ni_memory_belongs_to_the_application() -> None:
    bench = pair()
    for library in bench.libraries:
        library.reserve_ni_memory(1001)

    async def node(library: Grim, me: int) -> None:
        virtual, physical = library.get_reserved_ni_memory()
        application = library.reserved.application
        data = struct.pack(">250I", *range(250))
        await application.pio_write(virtual, data)
        for outside in (virtual - 4, virtual + 4096):
            with pytest.raises(ProtectionFault):
                await application.pio_write(outside, bytes(4))
        number = (await bench.publish(library, nothing=lambda *unused: None))["nothing"]
        for i in range(20):
            await library.send(library.get_dest_id(1 - me), number, payload=bytes([255]) * 40 * i)
        await library.host.sleep(300_000_000)
        await library.poll()
        words = [await library.host.pio_read(physical + 4 * i) for i in range(250)]
        assert words == list(range(250))
        assert await application.pio_read(virtual + 996) == 249

    bench.run(node)


@pytest.mark.parametrize(
    ("size", "options", "message"),
    [
        (0, {}, "size: 0 bytes, but the firmware leaves"),
        (1 << 21, {}, "size: 2097152 bytes, but the firmware leaves"),
        (1 << 16, {"channels": 8}, "size: 65536 bytes, but the firmware leaves"),
    ],
)
def test_more_than_the_firmware_leaves_cannot_be_reserved(size: int, options: dict[str, int], message: str) -> None:
    with pytest.raises(GrimError) as caught:
        Bench(2, 1, False, False, **options).libraries[0].reserve_ni_memory(size)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("; reserve less, or reduce option queue_bytes")


def test_ni_memory_is_reserved_once_and_before_enable() -> None:
    bench = pair()
    bench.libraries[0].reserve_ni_memory(64)
    with pytest.raises(GrimError, match="^size: 4096 bytes are already reserved; reserve all at once"):
        bench.libraries[0].reserve_ni_memory(64)

    async def node(library: Grim, me: int) -> None:
        with pytest.raises(GrimError, match="^grim_enable: was called before; reserve NI memory first"):
            library.reserve_ni_memory(64)
        if me == 1:
            with pytest.raises(GrimError, match="^reserve_ni_memory: was not called before grim_enable; reserve some"):
                library.get_reserved_ni_memory()

    bench.run(node)
