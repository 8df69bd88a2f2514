"""The handler databases.

Strategy: nodes register different and common handlers, in different orders and at different times. All nodes must see
the same numbers, which node 0 assigns by messages through the network. The two special cases are messages that arrive
before an endpoint knows its own numbers, and messages to an endpoint without the handler.
"""

from __future__ import annotations

import pytest

from firmware.grim.host import Grim, GrimError
from tests.unit.grim.grim_bench import Bench


def nothing(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
    """Handle a message by doing nothing."""


def test_every_node_learns_the_same_numbers() -> None:
    bench = Bench(4)
    names = ["common", *(f"own {node}" for node in range(4))]

    async def node(library: Grim, me: int) -> list[int]:
        library.register_handler(nothing, "common")
        library.register_handler(nothing, f"own {me}")
        await library.host.sleep(1_000_000 * (7 * me % 5))
        await library.sync_handlers()
        if me == 0:
            await library.wait_for(lambda: library.nodes_served == 3)
            return [await library.resolve_handler(name) for name in names]
        await library.host.sleep(1_000_000_000)
        return [library.handlers.numbers.get(name, 0) for name in names]

    tables = bench.run(node)
    assert len(set(tables[0])) == 5
    for me, table in enumerate(tables):
        known = {name: number for name, number in zip(names, table, strict=True) if number}
        assert known.items() <= dict(zip(names, tables[0], strict=True)).items()
        assert {"common", f"own {me}"} <= known.keys()


def test_unknown_name_is_resolved_by_the_server() -> None:
    bench = Bench(3)

    async def node(library: Grim, me: int) -> int:
        if me == 1:
            await library.sync_handlers()  # learns nothing yet
            await library.host.sleep(300_000_000)
            return await library.resolve_handler("late")
        if me == 2:
            await library.host.sleep(100_000_000)
            library.register_handler(nothing, "late")
            await library.sync_handlers()
            return await library.resolve_handler("late")
        bench.machine.host(0).spawn(library.wait_for(lambda: False), "server")
        return 0

    numbers = bench.run(node)
    assert numbers[1] == numbers[2] >= 16


def test_unregistered_name_is_an_error() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> str:
        library.register_handler(nothing, f"handler {me}")
        await library.sync_handlers()
        if me == 0:
            bench.machine.host(0).spawn(library.wait_for(lambda: False), "server")
            return ""
        with pytest.raises(GrimError) as caught:
            await library.resolve_handler("hadler 1")
        return str(caught.value)

    assert bench.run(node)[1] == "name: no endpoint has registered a handler 'hadler 1'; did you mean 'handler 1'?"


def test_messages_before_the_handler_numbers_are_known_are_kept_in_order() -> None:
    bench = Bench(3)
    got: list[tuple[int, bytes]] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((number, bytes(data)))

        library.register_handler(handler, "handler")
        if me == 2:  # polls, but synchronises late
            for _ in range(50):
                await library.host.sleep(2_000_000)
                await library.poll()
            assert not got
            await library.sync_handlers()
            await library.wait_for(lambda: len(got) == 30)
            return
        await library.sync_handlers()
        if me == 0:
            number = await library.resolve_handler("handler")
            for i in range(30):
                await library.send(library.get_dest_id(2), number, i, payload=bytes([i]) * i)
            await library.wait_for(lambda: library.nodes_served == 2)

    bench.run(node)
    assert got == [(i, bytes([i]) * i) for i in range(30)]


def test_messages_behind_a_kept_message_are_kept_too() -> None:
    bench = Bench(2)
    got: list[str] = []

    async def node(library: Grim, me: int) -> None:
        def first(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(f"first {a0}")

        def second(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(f"second {a0}")

        numbers = await bench.publish(library, first=first)
        library.register_handler(second, "second")
        if me == 0:
            await library.sync_handlers()
            for i in range(3):
                await library.send(library.get_dest_id(1), await library.resolve_handler("second"), i)
                await library.send(library.get_dest_id(1), numbers["first"], i)
            await library.wait_for(lambda: library.nodes_served == 2)
        else:
            for _ in range(50):
                await library.host.sleep(2_000_000)
                await library.poll()
            assert not got
            await library.sync_handlers()
            await library.wait_for(lambda: len(got) == 6)

    bench.run(node)
    assert got == ["second 0", "first 0", "second 1", "first 1", "second 2", "first 2"]


def test_endpoint_without_the_handler_reports_to_the_sender() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> str:
        if me == 0:
            library.register_handler(nothing, "only here")
            await library.sync_handlers()
            number = await library.resolve_handler("only here")
            await library.send(library.get_dest_id(1), number, payload=b"lost")
            with pytest.raises(GrimError) as caught:
                await library.wait_for(lambda: False)
            return str(caught.value)
        bench.machine.host(1).spawn(library.wait_for(lambda: False), "other")
        return ""

    expected = "handler: 'only here' is not registered at node 1, channel 0; register it there"
    assert bench.run(node)[0] == expected


def test_handlers_may_be_coroutines_and_methods() -> None:
    bench = Bench(2)
    got: list[str] = []

    class Owner:
        """Object whose method is a handler."""

        def method(self, source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append("method")

    async def node(library: Grim, me: int) -> None:
        async def coroutine(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            await library.host.sleep(5_000_000)
            got.append("coroutine")

        numbers = await bench.publish(library, coroutine=coroutine, method=Owner().method)
        if me == 0:
            for name in ("coroutine", "method"):
                await library.send(library.get_dest_id(1), numbers[name])
        else:
            await library.wait_for(lambda: len(got) == 2)

    bench.run(node)
    assert got == ["coroutine", "method"]


def test_a_node_can_send_to_itself() -> None:
    bench = Bench(2)
    got: list[tuple[int, int, bytes]] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append((source, a0, bytes(data)))

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.send(library.get_dest_id(1), number, -5, payload=b"to me")
            assert await library.poll() == 1

    bench.run(node)
    assert got == [(1 << 24, -5, b"to me")]
