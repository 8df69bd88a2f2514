"""Restart of a host.

Strategy: three hosts send numbered messages to each other without a pause. The NIC of one is reset meanwhile, stays
down for a random time, and starts with a new program and a new library. Every message must be handled once and in
order, be an error at its sender, or have been accepted by the reset NIC. No message from before the restart may be
handled after it; such packets are delayed or duplicated until long after. A host that was wrongly declared down must
recover completely.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.grim.formats import reference
from firmware.grim.host import Grim, UndeliveredError
from firmware.grim.nic.layout import Counter, Word
from pymodels.trace import Part, TraceEvent, unit
from tests.unit.grim.grim_bench import US, Bench, restart_nic
from tests.unit.grim.test_grim_down import lose_all, noting

QUICK: dict[str, Any] = {"timeout_us": 60, "timeout_tries": 4, "host_queue_bytes": 1 << 14, "segment_bytes": 600}
Sent = tuple[int, int, int]
"""Sender, destination, number."""


class Rejoin:
    """Hosts that send all the time; the NIC of the last one is reset and restarted."""

    def __init__(self, seed: int, nodes: int = 3, after_us: int = 800, down_us: int = 900, **options: Any) -> None:
        self.random = random.Random(seed)
        self.bench = Bench(nodes, seed, True, True, **{**QUICK, **options})
        self.bad, self.after_us, self.down_us = nodes - 1, after_us, down_us
        self.end_us = after_us + down_us + 1500
        self.sent: list[Sent] = []
        self.got: list[Sent] = []
        self.errors: list[Sent] = []
        self.raised: list[str] = []
        self.handler = 0
        self.back_at = self.cut = 0

    async def application(self, library: Grim, me: int, until_us: float, first: int) -> None:
        """Send to all others and poll until a time; numbers from `first` on."""
        numbers = dict.fromkeys(range(self.bench.nodes), first)
        while library.host.now < until_us * US:
            for vnn in range(self.bench.nodes):
                if vnn != me:
                    self.sent.append((me, vnn, numbers[vnn]))
                    size = self.random.choice([0, 8, 500])
                    self.take_errors(library, me)
                    await library.send(library.get_dest_id(vnn), self.handler, numbers[vnn], payload=bytes(size))
                    numbers[vnn] += 1
            await self.poll(library, me)
            await library.host.sleep(self.random.randrange(40) * US)

    async def poll(self, library: Grim, me: int) -> None:
        """Poll, and record messages that were not delivered."""
        self.take_errors(library, me)
        await library.poll()
        self.take_errors(library, me)

    def take_errors(self, library: Grim, me: int) -> None:
        """Record messages that were not delivered, before the next call raises their errors."""
        for error in library.calls.errors:
            assert isinstance(error, UndeliveredError)
            self.errors.append((me, error.vnn, error.first))
        library.calls.errors.clear()

    def handle(self, me: int) -> Any:
        """Return the handler of a node."""

        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            self.got.append((reference(source).vnn, me, number))

        return on_data

    async def node(self, library: Grim, me: int) -> None:
        """Run a node, or both lives of the node that fails."""
        self.handler = (await self.bench.publish(library, data=self.handle(me)))["data"]
        await library.host.sleep(400 * US - library.host.now)
        begun = 400 + self.after_us if me == self.bad else 400 + self.end_us
        await self.application(library, me, begun, 0)
        if me == self.bad:
            library = await self.restart(library)
            await self.application(library, me, 400 + self.end_us, 1 << 20)
        await self.quiet(library, me)

    async def restart(self, library: Grim) -> Grim:
        """Reset the NIC under traffic, let time pass, and restart it."""
        library = await restart_nic(self.bench, self.bad, self.down_us, self.drain)
        self.back_at = library.host.now
        library.register_handler(self.handle(self.bad), "data")
        await library.sync_handlers()
        assert await library.resolve_handler("data") == self.handler
        return library

    async def drain(self, library: Grim) -> None:
        """Handle, in the first life, the messages that the NIC delivered before its reset."""
        await self.poll(library, self.bad)
        self.cut = len(self.got)

    async def quiet(self, library: Grim, me: int) -> None:
        """Poll until the last answers have arrived."""
        end = library.host.now + 1500 * US
        while library.host.now < end:
            await self.poll(library, me)
            await library.host.sleep(10 * US)

    def run(self) -> None:
        """Run it, and compare the result with what was sent."""
        self.bench.run(self.node, 100_000)
        assert len(set(self.got)) == len(self.got), "a message was handled twice"
        for pair in {(source, to) for source, to, _ in self.got}:
            numbers = [number for source, to, number in self.got if (source, to) == pair]
            assert numbers == sorted(numbers), f"{pair} out of order"
        missing = set(self.sent) - set(self.got) - set(self.errors)
        assert all(self.bad in message[:2] for message in missing), "who was up lost something"
        hands = self.in_its_hands()
        from_bad = {message for message in missing if message[0] == self.bad}
        assert all(number < 1 << 20 for _, _, number in from_bad), "its second life lost something"
        assert len(missing - from_bad) <= hands, f"{len(missing - from_bad)} messages lost, the NIC had {hands}"
        assert len(set(self.errors)) == len(self.errors)
        assert self.bench.nothing_left()

    def in_its_hands(self) -> int:
        """Return the messages that the failed NIC had accepted and not delivered to its host."""
        records, me = self.bench.machine.trace.records, unit(self.bad, Part.NIC_CPU)
        accepted = [r for r in records if r[1] == me and r[2] == TraceEvent.NIC_ACCEPT and r[0] < self.back_at]
        host = unit(self.bad, Part.HOST_CPU)
        seen = [r for r in records if r[1] == host and r[2] == TraceEvent.POLL_HIT and r[0] < self.back_at]
        return len(accepted) - len(seen)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("down_us", [30, 900])
def test_restarted_host_loses_and_duplicates_no_message(seed: int, down_us: int) -> None:
    rejoin = Rejoin(seed, down_us=down_us, after_us=700 + 17 * seed)
    rejoin.run()
    after = {(source, to) for source, to, _ in rejoin.got[rejoin.cut :]}
    assert after == {(source, to) for source in range(3) for to in range(3) if source != to}, "all speak with all again"
    assert any(to == 2 for _, to, _ in rejoin.errors), "what could not come was told"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_packets_from_before_a_restart_are_dropped_however_late(seed: int, sequencing: str) -> None:
    """Delay packets until the restarted host sends with the same sequence numbers again."""
    rejoin = Rejoin(seed, down_us=100, sequencing=sequencing, channels=2)
    rejoin.bench.machine.faults.lose(0.01, 0.01, seed, reordered=0.05, doubled=0.2, most_ps=500 * US)
    rejoin.run()
    assert rejoin.bench.total(Counter.FOREIGN) > 0
    assert rejoin.got[-1][2] > 0


@pytest.mark.parametrize("forgets", [False, True])
def test_host_restarts_after_each_of_many_failures(forgets: bool) -> None:
    """`forgets`: the last time its memory does not even know how often the firmware had begun."""
    rejoin = Rejoin(1)
    restart = rejoin.restart

    async def three_times(library: Grim) -> Grim:
        for _ in range(2):
            library = await restart(library)
            await library.send(library.get_dest_id(0), rejoin.handler, -1)
            await library.host.sleep(rejoin.random.randrange(300) * US)
        if forgets:
            rejoin.bench.machine.nic(rejoin.bad).store(Word.BEGINNINGS, 0)
        library = await restart(library)
        rejoin.got = [message for message in rejoin.got if message[2] != -1]
        return library

    rejoin.restart = three_times  # type: ignore[method-assign]
    rejoin.run()


def test_host_wrongly_declared_down_recovers() -> None:
    """Node 0 receives nothing from node 1 for a while, and drops it with all messages for it. Then both send again."""
    bench = Bench(2, 1, False, True, timeout_us=60, timeout_tries=4)
    got: list[tuple[int, int]] = []
    errors: list[str] = []

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((me, number))

        number = (await bench.publish(library, data=on_data))["data"]
        await library.host.sleep(400 * US - library.host.now)
        if me == 0:
            lose_all(bench, 1, 0, 80)
        for i in range(5):
            await library.send(library.get_dest_id(1 - me), number, i)
        while library.host.now < 20_000 * US:
            await noting(errors, library.poll())
            await library.host.sleep(20 * US)
        for i in range(5, 10):
            await library.send(library.get_dest_id(1 - me), number, i)
        while library.host.now < 30_000 * US:
            await noting(errors, library.poll())
            await library.host.sleep(20 * US)

    bench.run(node)
    assert bench.total(Counter.PARTED) > 0
    assert len(set(got)) == len(got) and errors and all("is down" in error for error in errors)
    for me in range(2):
        assert [number for to, number in got if to == me][-5:] == [5, 6, 7, 8, 9], "both ways again"
    assert bench.nothing_left()


def test_host_restarted_after_declaring_another_down_is_distinguished_from_its_earlier_life() -> None:
    """Node 0 wrongly declares node 1 down, they connect again, then node 0 restarts."""
    bench = Bench(2, 1, False, True, timeout_us=60, timeout_tries=4)
    got: list[tuple[int, int]] = []
    errors: list[str] = []

    async def serve(library: Grim, until_us: int) -> None:
        while library.host.now < until_us * US:
            await noting(errors, library.poll())
            await library.host.sleep(20 * US)

    async def send(library: Grim, to: int, numbers: range, until_us: int) -> None:
        for number in numbers:
            await library.send(library.get_dest_id(to), library.handlers.numbers["data"], number)
        await serve(library, until_us)

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((me, number))

        await bench.publish(library, data=on_data)
        await library.host.sleep(400 * US - library.host.now)
        if me == 0:
            lose_all(bench, 1, 0, 80)
            await send(library, 1, range(5), 20_000)
        await serve(library, 20_000)
        await send(library, 1 - me, range(10, 15), 25_000)
        if me == 0:
            library = await restart_nic(bench, 0)
            library.register_handler(on_data, "data")
            await library.sync_handlers()
        await serve(library, 40_000)
        await send(library, 1 - me, range(20, 25), 60_000)

    bench.run(node, 200_000)
    for me in range(2):
        assert [number for to, number in got if to == me][-10:] == [*range(10, 15), *range(20, 25)]
    assert len(set(got)) == len(got)
    assert bench.nothing_left()
