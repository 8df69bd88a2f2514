"""Reports of a NI to a host that does not read them.

Strategy: a host that does not poll sends to a host that is down, or writes to invalid addresses, until its NI stores no
more reports. Finally it must get a report of each failed message. Another host may restart after half a message has
been received from it. Then the restart must be reported before any message of the new life.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from firmware.grim.formats import HEADER_BYTES, TOKENS
from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from pymodels.registers import Control, Pci
from pymodels.trace import Part, TraceEvent, unit
from tests.unit.grim.grim_bench import Bench, restart_nic
from tests.unit.grim.test_grim_down import noting

US = 1_000_000
HOLD = (1 << Control.LANAI_RESET_ON | 1 << Control.EBUS_RESET_ON).to_bytes(4, "big")
OPTIONS: dict[str, Any] = {
    "timeout_us": 60,
    "timeout_tries": 4,
    "host_queue_bytes": 4096,
    "segment_bytes": 600,
    "poll_first": 0,
}
NOWHERE = 0x7000_0000
"""Virtual address outside all allocations."""
ENDPOINT = 1024 // HEADER_BYTES
"""Largest number of reports in an endpoint's queue of 1 KB."""
LONG = 16_000
"""Bytes of a message that does not fit into an endpoint's queue."""
NAMES, NEAR, DEAD, AGAIN = range(4)


class Unread:
    """Cluster of four hosts. NAMES serves handler numbers, NEAR does not read, DEAD is down and restarts, and AGAIN
    fails within a long message.
    """

    def __init__(self, failing: int) -> None:
        self.bench = Bench(4, 1, True, **OPTIONS)
        self.failing = failing
        self.errors: list[str] = []
        self.got: list[bytes] = []
        self.handler = 0
        self.full = False
        self.bench.run(self.node, 50_000)

    async def node(self, library: Grim, me: int) -> None:
        """Run the application of a node."""

        def take(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            self.got.append(bytes(data))

        self.handler = (await self.bench.publish(library, take=take))["take"]
        await library.host.sleep(400 * US - library.host.now)
        if me == NAMES:
            await self.serve(library)
        elif me == NEAR:
            await self.near(library)
        elif me == DEAD:
            self.bench.machine.nic(me).card.write(Pci.CONTROL, HOLD)
            await self.restart(library, me)
        else:
            sending = library.send(library.get_dest_id(NEAR), self.handler, payload=b"a" * LONG)
            library.host.spawn(noting([], sending), "the first life")
            library = await self.restart(library, me)
            library.register_handler(take, "take")
            await library.sync_handlers()
            await library.resolve_handler("take")
            await library.send(library.get_dest_id(NEAR), self.handler, payload=b"b" * LONG)
            await self.serve(library)

    async def serve(self, library: Grim) -> None:
        """Poll to the end."""
        while not self.got:
            await library.poll()
            await library.host.sleep(US)

    async def near(self, library: Grim) -> None:
        """Read a part of the long message; then only send until the other node has restarted; then read everything."""
        while self.segments() < 3:
            await library.poll()
        for number in range(self.failing):
            await noting(self.errors, library.send(library.get_dest_id(DEAD), self.handler, number))
        await library.host.sleep(3000 * US)
        self.full = True
        parted = self.bench.count(NEAR, Counter.PARTED)
        while self.bench.count(NEAR, Counter.PARTED) == parted:
            await library.host.sleep(10 * US)
        while not self.got or len(self.errors) < self.failing:
            await noting(self.errors, library.poll())
            await library.host.sleep(US)

    def segments(self) -> int:
        """Return the number of parts of the long message that NEAR has read."""
        hit = unit(NEAR, Part.HOST_CPU), TraceEvent.POLL_HIT
        records = reversed(self.bench.machine.trace.records)
        late = itertools.takewhile(lambda record: record[0] > 400 * US, records)
        return sum(record[1:3] == hit and record[5] == AGAIN for record in late)

    async def restart(self, library: Grim, me: int) -> Grim:
        """Fail when NEAR's reports wait; return the library of the next life."""
        while not self.full:
            await library.host.sleep(10 * US)
        return await restart_nic(self.bench, me)


def test_restart_is_reported_however_many_reports_wait() -> None:
    unread = Unread(TOKENS + 100)
    assert [(len(data), data[:1], data[-1:]) for data in unread.got] == [(LONG, b"b", b"b")]
    assert len(unread.errors) == unread.failing


@pytest.mark.parametrize("options", [{}, {"timeout_us": 300}, {"doorbell_notify": 1}, {"channels": 4}])
def test_every_failure_is_reported_however_long_a_host_does_not_read(options: dict[str, Any]) -> None:
    """More messages fail than reports and scoreboard have room for. While the NI accepts nothing new, the host waits
    for room in its queue, and reads.
    """
    bench = Bench(2, poll_first=0, host_queue_bytes=1024, segment_bytes=256, **options)
    failing, errors = 2 * TOKENS + 50, list[str]()

    async def node(library: Grim, me: int) -> None:
        if me:
            return
        source, to = await library.malloc_pinned(4096), library.get_dest_id(1)
        for number in range(failing):
            await noting(errors, library.send_memory(to, NOWHERE + 4 * number, source, 4))
        await library.host.sleep(20_000 * US)
        assert bench.count(0, Counter.ERRORS_SEEN) <= 2 * TOKENS + ENDPOINT, "the NI keeps more than it has places for"
        end = library.host.now + 30_000 * US
        while len(errors) < failing and library.host.now < end:
            await noting(errors, library.poll())
            await library.host.sleep(US)

    bench.run(node, 100_000)
    told = {number for number in range(failing) if any(f"{NOWHERE + 4 * number:#x} " in error for error in errors)}
    assert told == set(range(failing))
    assert bench.nothing_left()
