"""Table of the calls of GRIM's API, every misuse of each call, and its error, tested by row.

Strategy: a wrong call is made on a working library. Its error must name the argument and say what would be right;
afterwards a message still arrives, and every queue is empty. Further tests make calls before `grim_enable`, and calls
in a handler that would wait for messages. A call of the API without a row fails.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from firmware.grim.host import Grim, GrimError
from tests.unit.grim import grim_misuse_memory, grim_misuse_messages, grim_misuse_trees
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_misuse import FAR, Row, World, nothing

ROWS: list[Row] = [*grim_misuse_messages.ROWS, *grim_misuse_trees.ROWS, *grim_misuse_memory.ROWS]
HARMLESS = {
    "get_my_vnn", "get_my_name", "vnn_configuration", "print_vnn_configuration", "use_overflow",
    "nodes_served", "overflow", "translations_served", "load",
}  # fmt: skip
"""Calls without an argument that could be wrong."""
ALWAYS = {
    "load",
    "grim_enable",
    "register_handler",
    "reserve_ni_memory",
    "process",
    "nodes_served",
    "overflow",
    "translations_served",
}
"""Calls that are allowed before `grim_enable`."""
WAITING: list[tuple[str, Callable[[Grim, World], Any]]] = [
    ("sync_handlers", lambda g, w: g.sync_handlers()),
    ("resolve_handler", lambda g, w: g.resolve_handler("unknown")),
    ("wait_for", lambda g, w: g.wait_for(lambda: False)),
    ("wait_for_lock", lambda g, w: g.wait_for_lock(w.block, 99)),
    ("find_multicast_tree", lambda g, w: g.find_multicast_tree("unknown")),
    ("subscribe_multicast", lambda g, w: g.subscribe_multicast(w.tree, 1)),
    ("subscribe_multicast", lambda g, w: g.subscribe_multicast_by_name("tree", 1)),
    ("unsubscribe_multicast", lambda g, w: g.unsubscribe_multicast(w.tree, 1)),
]


def api() -> set[str]:
    """Return the public names of the library that are calls or properties."""
    calls = inspect.getmembers(Bench(2, start_nics=False).libraries[0], inspect.ismethod)
    properties = inspect.getmembers(Grim, lambda value: isinstance(value, property))
    return {name for name, _ in calls + properties if not name.startswith("_")}


async def called(result: Any) -> Any:
    """Await the result of a call if it is a coroutine."""
    return await result if hasattr(result, "__await__") else result


async def called_with(call: Callable[..., Any], arguments: list[int]) -> None:
    """Make a call when the coroutine runs."""
    await called(call(*arguments))


class Misused:
    """Two nodes: one makes a wrong call, then sends the other a message and waits for the answer."""

    def __init__(self, misuse: Callable[[Grim, World], Any], who: int = 0) -> None:
        self.bench = Bench(2, multicast_trees=2)
        self.who = who
        self._misuse = misuse
        self._got = [0, 0]
        self.inside: GrimError | None = None
        """Error of the wrong call in a handler."""
        self.world: World

    async def _prepare(self, library: Grim) -> None:
        """Create the valid arguments of the calls."""
        numbers = await self.bench.publish(library, handler=self._take, inside=self._inside)
        tree = await library.find_multicast_tree("tree")
        block, freed = await library.malloc_pinned(8), await library.malloc_pinned(1000)
        await library.free_pinned_va(freed)
        if library.get_my_vnn() == self.who:
            self.world = World(numbers["handler"], tree, block, freed)

    def _take(self, source: int, node: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
        self._got[node] += 1

    async def _inside(self, source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
        try:
            await called(self._misuse(self.bench.libraries[self.who], self.world))
        except GrimError as error:
            self.inside = error

    def run(self, application: Callable[[Grim], Any]) -> Any:
        """Run `application` on the node with the wrong call; return its result."""

        async def node(library: Grim, me: int) -> Any:
            await self._prepare(library)
            other, number = (1 - me) << 24, library.handlers.numbers["handler"]
            result = None
            if me == self.who:
                result = await application(library)
                await library.send(other, number, 1 - me)
            await library.wait_for(lambda: self._got[me] > 0)
            if me != self.who:
                await library.send(other, number, 1 - me)
            return result

        result = self.bench.run(node)[self.who]
        self.bench.settle()
        assert self.bench.nothing_left()
        assert self._got == [1, 1]
        return result


@pytest.mark.parametrize(("call", "what", "misuse", "message"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_misuse_is_named_without_side_effects(call: str, what: str, misuse: Callable[..., Any], message: str) -> None:
    misused = Misused(misuse)

    async def application(library: Grim) -> GrimError:
        with pytest.raises(GrimError) as caught:
            await called(misuse(library, misused.world))
        return caught.value

    error = misused.run(application)
    block, freed = misused.world.block, misused.world.freed
    places = {"block": block, "odd": block + 2, "inside": block + 4, "freed": freed}
    assert str(error) == message.format(**{name: hex(place) for name, place in places.items()})
    assert message.startswith(error.argument + ": ")


def test_table_has_every_call() -> None:
    assert {row[0] for row in ROWS} | {name for name, _ in WAITING} | HARMLESS == api()
    assert not {row[0] for row in ROWS} & HARMLESS


@pytest.mark.parametrize("name", sorted(api() - ALWAYS))
def test_calls_before_grim_enable_raise_grim_error(name: str) -> None:
    bench = Bench(2)
    call = getattr(bench.libraries[0], name)
    arguments = [1] * sum(
        parameter.default is parameter.empty for parameter in inspect.signature(call).parameters.values()
    )
    with pytest.raises(GrimError, match="^grim_enable: has not completed; call and await it first"):
        bench.machine.finish(called_with(call, arguments))


@pytest.mark.parametrize(("name", "misuse"), WAITING, ids=[name for name, _ in WAITING])
def test_waiting_call_inside_a_handler_is_rejected(name: str, misuse: Callable[[Grim, World], Any]) -> None:
    misused = Misused(misuse, who=1)

    async def application(library: Grim) -> None:
        await library.send(FAR, library.handlers.numbers["inside"])
        await library.poll()

    misused.run(application)
    remedy = "set a flag in the handler and call it after grim_poll"
    cause = "a handler cannot wait for messages, because polling stops until it returns"
    assert str(misused.inside) == f"{name}: {cause}; {remedy}"


def test_other_tasks_may_wait_while_a_handler_runs() -> None:
    bench = Bench(2)
    flag: list[int] = []

    async def node(library: Grim, me: int) -> None:
        async def slow(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            library.host.spawn(library.wait_for(lambda: bool(flag)), "another")
            await library.host.sleep(10_000_000)
            flag.append(1)

        number = (await bench.publish(library, slow=slow, nothing=nothing))["slow"]
        if me == 1:
            await library.send(FAR, number)
            await library.wait_for(lambda: bool(flag))

    bench.run(node)
    assert flag == [1]
