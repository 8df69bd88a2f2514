"""Logical channels connected to hosts, cards and processes by the configuration.

Strategy: connections are given to nodes in the form in which the configuration reader returns them. Each of two nodes
has a process, and all endpoints exchange messages while they poll independently. A message must reach the handlers of
its endpoint alone, in order, with the reference of its sender. Every wrong use of a channel of another endpoint is
tried. The number of channels and the channel of a card without a line are compared with the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from firmware.grim.channel_map import channel_map
from firmware.grim.formats import MAX_CHANNELS, Device, Reference, reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.host.card_restart import LOST
from firmware.grim.host.handlers import CARD_ERROR
from firmware.grim.nic.size_requests import resolve_options
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.card.registers import CardError
from pymodels.config import Connection
from pymodels.config.model import FPGA_CARD, MAX_CHANNEL
from tests.unit.grim.grim_bench import Bench

BACK_TO_ITSELF = b"\x80"
COUNT = 12


def lines(*texts: str) -> tuple[Connection, ...]:
    """Return the connections of CHANNEL lines, line i of the file `grim_config`."""
    found = []
    for number, text in enumerate(texts, 1):
        channel, endpoint, *process = text.split()
        found.append(Connection(int(channel), endpoint, "".join(process), f"grim_config:{number}"))
    return tuple(found)


def connected(*nodes: tuple[Connection, ...], cards: tuple[int, ...] = (), **options: Any) -> list[ClusterView]:
    """Return the views of nodes with these connections; `cards` are the nodes with an FPGA card."""
    views = Bench(len(nodes), start_nics=False).views
    used = tuple(frozenset({FPGA_CARD} if node in cards else ()) for node in range(len(nodes)))
    routes = [{**view.routes, view.me: BACK_TO_ITSELF} for view in views]
    return [replace(view, channels=nodes, cards=used, options=options, routes=routes[view.me]) for view in views]


def bench_of(*nodes: tuple[Connection, ...], **options: Any) -> Bench:
    """Return a running cluster of nodes with these connections."""
    bench = Bench(len(nodes), start_nics=False)
    bench.views = connected(*nodes, **options)
    bench.libraries = [Grim(bench.machine.host(node), view) for node, view in enumerate(bench.views)]
    for node in range(len(nodes)):
        bench.start_nic(node)
    return bench


@pytest.mark.parametrize("options", [{}, {"timeout_us": 300}, {"sequencing": "per-ni"}, {"buffering": "both"}])
def test_messages_between_all_endpoints_reach_the_handlers_of_their_endpoint_in_order(options: dict[str, Any]) -> None:
    bench = bench_of(lines("2 PROCESS left"), lines("1 PROCESS right"), **options)
    names, places = ("host0", "left", "host1", "right"), ((0, 0), (0, 2), (1, 0), (1, 1))
    came: dict[str, list[tuple[int, int]]] = {name: [] for name in names}
    ready = [0]

    async def endpoint(library: Any, name: str, node: int) -> None:
        def take(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            assert bytes(payload) == bytes([a0, a1]) * 50
            came[name].append((source, a0))

        library.register_handler(take, "take")
        await library.sync_handlers()
        number = await library.resolve_handler("take")
        ready[0] += 1
        served = len(names) - 1
        await library.wait_for(lambda: name != "host0" or library.nodes_served == served)
        for count in range(COUNT):
            for to, channel in places:
                await library.send(
                    Reference(to, Device.HOST, channel).pack(), number, count, to, payload=bytes([count, to]) * 50
                )
        await library.wait_for(lambda: len(came[name]) == COUNT * len(names))

    async def node(library: Grim, me: int) -> None:
        process = library.processes[("left", "right")[me]]
        task = library.host.spawn(endpoint(process, process.name, me), process.name)
        await endpoint(library, f"host{me}", me)
        await task.finished

    bench.run(node)
    bench.settle()
    senders = {Reference(vnn, Device.HOST, channel).pack() for vnn, channel in places}
    for name in names:
        found = {sender: [count for source, count in came[name] if source == sender] for sender in senders}
        assert found == {sender: list(range(COUNT)) for sender in senders}, name
    assert bench.nothing_left()


def test_endpoint_that_does_not_poll_keeps_its_messages_until_its_process_polls() -> None:
    bench = bench_of(lines("1 PROCESS viewer"), lines())
    came: list[tuple[str, int]] = []

    async def node(library: Grim, me: int) -> None:
        def take(source: int, a0: int, *rest: Any) -> None:
            came.append((where, a0))

        where = "host"
        number = (await bench.publish(library, take=take))["take"]
        if me:
            await library.send(library.get_process(0, "viewer"), number, 1)
            await library.send(library.get_dest_id(0), number, 2)
            return
        viewer = library.process("viewer")
        viewer.register_handler(lambda source, a0, *rest: came.append(("viewer", a0)), "take")
        viewer.handlers.merge(library.handlers.numbers)
        await library.wait_for(lambda: bool(came))
        await library.host.sleep(100_000_000)
        assert not await library.poll()
        assert came == [("host", 2)], "the host does not poll the channel of its process"
        assert await viewer.poll() == 1

    bench.run(node)
    assert came == [("host", 2), ("viewer", 1)]


def test_process_reads_and_writes_memory_of_the_other_host_on_its_channel() -> None:
    bench = bench_of(lines(), lines("1 PROCESS viewer"))
    data, blocks = bytes(range(256)) * 20, [0, 0]

    async def node(library: Grim, me: int) -> None:
        blocks[me] = block = await library.malloc_pinned(3 * len(data))
        library.store_pinned(block, data if me else bytes(len(data)))
        if me == 0:
            await library.wait_for_lock(block + 2 * len(data), 7)
            assert library.load_pinned(block, len(data)) == data
            return
        while not blocks[0]:
            await library.host.sleep(1_000_000)
        viewer = library.process("viewer")
        lock = block + 2 * len(data)
        await viewer.send_memory(
            library.get_dest_id(0), blocks[0], block, len(data), lock=blocks[0] + 2 * len(data), value=7
        )
        library.store_pinned(lock, (1).to_bytes(4, "big"))
        await viewer.fetch_memory(library.get_dest_id(0), block + len(data), blocks[0], len(data), lock=lock)
        await viewer.wait_for_lock(lock, 0)
        assert library.load_pinned(block + len(data), len(data)) == data

    bench.run(node)


def test_a_channel_of_another_endpoint_is_rejected_by_name() -> None:
    bench = bench_of(lines("1 PROCESS viewer", "2 PROCESS editor", "3 HOST"), lines())
    said: list[str] = []

    async def node(library: Grim, me: int) -> None:
        if me:
            return
        to = library.get_dest_id(1)
        viewer = library.process("viewer")
        wrong: list[Callable[[], Coroutine[Any, Any, Any]]] = [
            lambda: library.send(to, 0, channel=1),
            lambda: library.poll(2),
            lambda: viewer.messages.send(to, 0, channel=0),
            lambda: viewer.messages.send(to, 0, channel=2),
        ]
        for handlers in (library.handlers, viewer.handlers):
            handlers.names[0] = "take"
        for call in wrong:
            with pytest.raises(GrimError) as caught:
                await call()
            said.append(str(caught.value))
        with pytest.raises(GrimError) as caught:
            library.process("vewer")
        said.append(str(caught.value))
        with pytest.raises(GrimError) as caught:
            library.get_process(1, "viewer")
        said.append(str(caught.value))
        assert await library.poll(3) == 0

    bench.run(node)
    assert said == [
        "channel: channel 1 belongs to process 'viewer'; call process('viewer') for its endpoint",
        "channel: channel 2 belongs to process 'editor'; call process('editor') for its endpoint",
        "channel: channel 0 belongs to the host; use its own channel 1",
        "channel: channel 2 belongs to process 'editor'; use its own channel 1",
        "process: no CHANNEL line of host0 connects a process 'vewer'; did you mean 'viewer'?",
        "process: no CHANNEL line of host1 connects a process 'viewer'; add CHANNEL <number> PROCESS viewer",
    ]


def test_message_for_a_handler_that_only_another_endpoint_of_the_node_has_is_an_error() -> None:
    bench = bench_of(lines("1 PROCESS viewer"), lines())
    said: list[str] = []

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, take=lambda *all_: None))["take"]
        if me == 0:
            await library.process("viewer").wait_for(lambda: bool(said))
            return
        await library.send(library.get_process(0, "viewer"), number)
        with pytest.raises(GrimError, match="'take' is not registered at node 0, channel 1"):
            await library.wait_for(lambda: False)
        said.append("reported")
        await library.send(library.get_process(0, "viewer"), number)

    bench.run(node)


def test_members_of_a_tree_can_be_processes_which_can_also_send_to_it() -> None:
    bench = bench_of(lines("1 PROCESS viewer"), lines("2 PROCESS viewer"))
    came: list[tuple[str, int]] = []
    left = [2]

    def count(name: str) -> int:
        return sum(endpoint == name for endpoint, _ in came)

    async def node(library: Grim, me: int) -> None:
        viewer = library.process("viewer")
        await bench.publish(library, take=lambda source, a0, *all_: came.append((f"host{me}", a0)))
        viewer.register_handler(lambda source, a0, *all_: came.append((f"viewer{me}", a0)), "take")
        viewer.handlers.merge(library.handlers.numbers)
        tree = await library.subscribe_multicast_by_name("all", 1 | 1 << viewer.channel)
        left[0] -= 1
        while left[0]:
            await library.poll()
        await viewer.send_mc(tree, library.handlers.numbers["take"], me, payload=bytes(9000))
        polls = library.host.spawn(viewer.wait_for(lambda: count(f"viewer{me}") == 2), "viewer")
        await library.wait_for(lambda: count(f"host{me}") == 2)
        await polls.finished

    bench.run(node)
    assert sorted(came) == [(name, sender) for name in ("host0", "host1", "viewer0", "viewer1") for sender in (0, 1)]


@pytest.mark.parametrize(
    ("nodes", "cards", "channels", "owned"),
    [
        ((lines(), lines()), (), 1, (-1, -1)),
        ((lines("1 CELOXICA"), lines("3 HOST")), (0, 1), 4, (1, 2)),
        ((lines("1 PROCESS a", "2 PROCESS b"), lines()), (0, 1), 4, (3, 3)),
        ((lines("2 PROCESS a"), lines("3 CELOXICA")), (0, 1), 4, (3, 3)),
        ((lines("2 PROCESS a"), lines()), (0,), 3, (1, -1)),
    ],
)
def test_lines_determine_the_number_of_channels_and_a_card_without_a_line_gets_the_highest_free_one(
    nodes: tuple[tuple[Connection, ...], ...], cards: tuple[int, ...], channels: int, owned: tuple[int, ...]
) -> None:
    views = connected(*nodes, cards=cards)
    options = [resolve_options(view, view.sram_bytes)[0] for view in views]
    assert [one.channels for one in options] == [channels] * 2
    assert tuple(channel_map(options[0], views[0], node).card for node in range(2)) == owned


@pytest.mark.parametrize(
    ("node", "options", "message"),
    [
        (
            lines("1 HOST", "4 CELOXICA"),
            {"channels": 4},
            "grim_config:2: CHANNEL 4 CELOXICA: option channels=4 gives channels 0 to 3; give 5 or more channels",
        ),
        (
            lines("1 PROCESS viewer"),
            {"channels": 2},
            "option channels=2: the FPGA card of host0 needs a channel of its own, but CHANNEL lines connect all of "
            "them; add CHANNEL <number> CELOXICA",
        ),
        (
            lines(),
            {"channels": 1},
            "option channels=1: the FPGA card of host0 needs a channel of its own; give 2 or more",
        ),
    ],
)
def test_connection_beyond_the_channels_is_rejected_at_its_line(
    node: tuple[Connection, ...], options: dict[str, int], message: str
) -> None:
    view = connected(node, lines(), cards=(0,), **options)[0]
    with pytest.raises(OptionError) as caught:
        resolve_options(view, view.sram_bytes)
    assert str(caught.value) == message


def test_another_nodes_card_is_found_on_the_channel_of_its_line() -> None:
    bench = Bench(2, start_nics=False)
    views = connected(lines(), lines("1 CELOXICA", "3 HOST"), cards=(1,))
    library = Grim(bench.machine.host(0), views[0])
    library.nodes.find_resources()
    library.calls.enabled(SimpleNamespace())  # type: ignore[arg-type]
    assert reference(library.get_resource(1, Device.CELOXICA)).channel == 1
    with pytest.raises(GrimError, match="^destination: channel 1 of node 1 belongs to its FPGA card; use another"):
        library.get_dest_id(1, channel=1)
    assert reference(library.get_dest_id(1, channel=3)).channel == 3
    assert "\n  CHANNEL 1 CELOXICA\n  CHANNEL 3 HOST" in library.vnn_configuration()


def test_highest_channel_of_a_line_is_that_of_the_format() -> None:
    assert MAX_CHANNEL == MAX_CHANNELS - 1
    assert Options.declared()["channels"].high == MAX_CHANNELS


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((CardError.UNKNOWN_CIRCUIT, 99, 0), ["handler: '99' is not a circuit of the FPGA card of node 1"]),
        ((LOST, 1, 0), []),
    ],
    ids=["unknown circuit", "end of an unfinished result"],
)
def test_error_of_a_card_is_raised_at_the_process_that_sent_the_message(
    words: tuple[int, int, int], told: list[str]
) -> None:
    bench = bench_of(lines("1 PROCESS viewer"), lines())
    found: list[str] = []
    answers: list[int] = []

    async def node(library: Grim, me: int) -> None:
        await bench.publish(library)
        if me:
            await library.messages.send_internal(library.get_process(0, "viewer"), CARD_ERROR, *words)
            await library.host.sleep(200_000_000)
            answers.append(await library.poll())
            return
        viewer = library.process("viewer")
        for _ in range(20):
            try:
                await viewer.poll()
            except GrimError as error:
                found.append(str(error))
            await library.host.sleep(5_000_000)

    bench.run(node)
    assert [one.split(";")[0] for one in found] == told
    assert answers == [0], "the process answers that it does not have the handler"
