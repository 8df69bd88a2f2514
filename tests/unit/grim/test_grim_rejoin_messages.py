"""Long messages and copies of multicast messages that are in flight while a host restarts.

Strategy: the NIC of one host is reset while a message of many segments is in flight, at its sender's or its receiver's
side. No part of it may become part of another message. Trees that the restarted NI has lost are an error at the sender.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from firmware.common.host import card
from firmware.grim.host import Grim
from pymodels.registers import Pci
from tb.fuzz import trial
from tb.fuzz.program import Act, Program
from tests.unit.grim.grim_bench import US, Bench, restart_nic
from tests.unit.grim.test_grim_down import noting


def test_unfinished_long_message_does_not_become_part_of_the_next() -> None:
    """Half of a message of many segments has arrived when its sender fails; the next one from there is complete."""
    bench = Bench(2, 1, True, True, segment_bytes=400, timeout_us=60, timeout_tries=4)
    got: list[bytes] = []
    whole = random.Random(1).randbytes(5000)

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        number = (await bench.publish(library, data=on_data))["data"]
        if me == 1:
            await library.host.sleep(400 * US - library.host.now)
            sending = library.host.spawn(library.send(library.get_dest_id(0), number, payload=bytes(20_000)), "long")
            await library.host.sleep(60 * US)
            bench.machine.nic(1).card.write(Pci.CONTROL, card.HOLD.to_bytes(4, "big"))
            await sending.finished
            library = await restart_nic(bench, 1)
            await library.sync_handlers()
            await library.send(library.get_dest_id(0), number, payload=whole)
        else:
            await library.wait_for(lambda: len(got) == 1)

    bench.run(node, 50_000)
    assert got == [whole]
    assert list(bench.libraries[0].handlers.numbers) == ["data"], "the first message of the second life was whole, too"


@pytest.mark.parametrize("pause_us", [0, 40])
def test_long_message_begun_before_the_restart_is_rejected_to_its_end(pause_us: int) -> None:
    """Restart the receiver while the sender still appends segments, none of which is taken for a complete message."""
    bench = Bench(2, 1, False, True, segment_bytes=400, queue_bytes=2048, timeout_us=60, timeout_tries=4)
    got: list[bytes] = []
    errors: list[str] = []
    whole = random.Random(1).randbytes(1000)

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        number = (await bench.publish(library, data=on_data))["data"]
        await library.host.sleep(400 * US - library.host.now)
        if me == 1:
            await library.host.sleep(60 * US)
            library = await restart_nic(bench, 1)
            library.register_handler(on_data, "data")
            await library.sync_handlers()
        else:
            bench.machine.host(0).pause_between(480, 480 + 20 * pause_us)
            await library.send(library.get_dest_id(1), number, payload=bytes(20_000))
            while not errors:
                await noting(errors, library.poll())
                await library.host.sleep(20 * US)
            while library.host.now < 3000 * US:
                await noting(errors, library.poll())
                await library.host.sleep(20 * US)
            await library.send(library.get_dest_id(1), number, payload=whole)
        while library.host.now < 4000 * US:
            await library.poll()
            await library.host.sleep(20 * US)

    bench.run(node, 50_000)
    assert [len(data) for data in got] == [len(whole)]
    assert len(errors) == 1


def test_restarted_subscriber_without_its_trees_is_an_error_at_the_multicast_sender() -> None:
    """Broadcast to the restarted host, too: the tree of all hosts needs no subscription."""
    bench = Bench(3, 1, False, True, timeout_us=60, timeout_tries=4)
    got: list[tuple[int, int]] = []
    errors: list[str] = []
    ready: list[int] = []

    async def until(library: Grim, condition: Callable[[], bool]) -> None:
        while not condition():
            await noting(errors, library.poll())
            await library.host.sleep(5 * US)

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((me, number))

        number = (await bench.publish(library, data=on_data))["data"]
        joins = library.host.spawn(library.subscribe_multicast_by_name("all", 1), "subscribe")
        await until(library, lambda: joins.finished.done)
        ready.append(me)
        await until(library, lambda: len(ready) == 3)
        if me == 2:
            library = await restart_nic(bench, 2)
            library.register_handler(on_data, "data")
            await library.sync_handlers()
            ready.append(me)
        await until(library, lambda: len(ready) == 4)
        if me == 1:
            await library.send_mc(joins.finished.value, number, 1)
            await library.broadcast(number, 2)
        end = library.host.now + 2000 * US
        await until(library, lambda: library.host.now > end)

    bench.run(node, 50_000)
    assert sorted(got) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert len(errors) == 1 and "multicast" in errors[0], errors


def test_a_copy_for_two_children_names_the_connection_of_each() -> None:
    """Node 1 has restarted and node 2 has not: what node 0 broadcasts then reaches both."""
    bench = Bench(3, 1, False, True, timeout_us=60, timeout_tries=4)
    got: list[tuple[int, int]] = []
    ready: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((me, number))

        async def until(condition: Callable[[], bool]) -> None:
            while not condition():
                await library.poll()
                await library.host.sleep(5 * US)

        number = (await bench.publish(library, data=on_data))["data"]
        ready.append(me)
        await until(lambda: len(ready) == 3)
        if me == 1:
            library = await restart_nic(bench, 1)
            library.register_handler(on_data, "data")
            await library.sync_handlers()
            ready.append(me)
        await until(lambda: len(ready) == 4)
        if me == 0:
            await library.broadcast(number, 7)
        end = library.host.now + 1000 * US
        await until(lambda: library.host.now > end)

    bench.run(node, 50_000)
    assert sorted(got) == [(0, 7), (1, 7), (2, 7)]


def test_restarted_host_reconnects_while_copies_for_others_wait() -> None:
    """Node 1 restarts. Its parent in the broadcast tree connects first, and has a message for its child."""
    acts = (
        Act(3, "broadcast many", {"bytes": 3072}),
        Act(1, "broadcast many", {"bytes": 64}),
        Act(1, "go down", {"us": 1222}),
    )
    options: dict[str, int | str] = {"channels": 4, "window": 1, "queue_bytes": 1024, "segment_bytes": 256}
    options |= {"cut_through_bytes": 512, "page_seed": 2, "timeout_us": 300, "timeout_tries": 4}
    assert trial.on_machine("grim", Program(4, "lanai9", options, {}, acts)).failures == ()
