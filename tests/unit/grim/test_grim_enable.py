"""`grim_enable`: synchronisation of NIs in any order, and invalid options.

Strategy: nodes enable at random times, and their firmware starts at random times, while some NICs are in reset and lose
every packet. Afterwards the cluster must work, and no node may have returned from `grim_enable` before the last one
called it. The layout of SRAM is checked for overlaps with many options.
"""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.grim.formats import reference
from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter, Layout, State, Word
from firmware.grim.nic.peers import partners
from firmware.grim.options import ALL_AT_MOST, Options
from firmware.options import OptionError
from pymodels.trace import Part, TraceEvent, unit
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_traffic import AllToAll

SMALL = "bytes have no room for three segments of 4096; increase it or reduce segment_bytes"


@pytest.mark.parametrize(
    ("seed", "synchronisation"), [*((seed, "all") for seed in range(6)), *((seed, "tree") for seed in range(8))]
)
def test_nodes_start_in_any_order_and_leave_enable_together(seed: int, synchronisation: str) -> None:
    rng = random.Random(seed)
    nodes = rng.randrange(2, 6) if synchronisation == "all" else rng.randrange(2, 12)
    bench = Bench(nodes, seed, start_nics=False, synchronisation=synchronisation)
    begin = [rng.randrange(0, 800) * 1_000_000 for _ in range(nodes)]
    firmware = [rng.randrange(0, 800) * 1_000_000 for _ in range(nodes)]
    ended: list[int] = []

    async def start(node: int) -> None:
        nic = bench.machine.nic(node)
        if rng.random() < 0.5:
            nic.card.write(0x800040, (1 << 30).to_bytes(4, "big"))  # in reset: packets vanish
        await nic.sleep(firmware[node])
        bench.start_nic(node)

    async def node(index: int) -> None:
        library = bench.libraries[index]
        await library.host.sleep(begin[index])
        await library.grim_enable()
        ended.append(library.host.now)

    bench.machine.finish(*(start(index) for index in range(nodes)), *(node(index) for index in range(nodes)))
    assert min(ended) > max(begin)
    assert max(ended) < max(begin + firmware) + 200_000_000
    assert all(bench.machine.nic(index).load(Word.STATE) == State.RUNNING for index in range(nodes))


def test_lost_notice_is_repeated() -> None:
    bench = Bench(2, start_nics=False, sync_period_us=20)
    bench.machine.nic(1).card.write(0x800040, (1 << 30).to_bytes(4, "big"))
    bench.start_nic(0)
    bench.start_nic(1)
    traffic = AllToAll(bench, 5, [0, 10])
    late = bench.libraries[1].grim_enable

    async def later() -> None:
        await bench.machine.host(1).sleep(500_000_000)
        await late()

    bench.libraries[1].grim_enable = later  # type: ignore[method-assign]
    traffic.run()
    assert bench.machine.nic(1).receive.lost > 10
    assert 10 < bench.count(0, Counter.SYNC_SENT) < 40


@pytest.mark.parametrize("nodes", [1, 2, 5, 6, 22, 1024])
def test_partners_form_one_tree(nodes: int) -> None:
    met = [partners(node, nodes, tree=True) for node in range(nodes)]
    assert sum(map(len, met)) == 2 * (nodes - 1)
    for node, first in enumerate(met):
        assert all(node in met[peer] for peer in first)
        above = [peer for peer in first if peer < node]
        assert len(above) == (node > 0)
        below = first.keys() - set(above)
        assert all(first[peer] == set(below if peer in above else first) for peer in first)


def test_large_cluster_synchronises_in_a_tree() -> None:
    nodes = ALL_AT_MOST + 1
    bench = Bench(nodes)

    async def node(library: Grim, me: int) -> None:
        pass

    bench.run(node)
    assert sum(bench.count(node, Counter.SYNC_SENT) for node in range(nodes)) < 4 * nodes


class Large(Bench):
    """Bench of NICs with the memory for a cluster of many nodes."""

    sram_bytes = 1 << 23


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            Bench,
            {"multicast_trees": 0},
            r"4194304 are reserved for pending answers to all nodes; use a NIC with more memory",
        ),
        (
            Large,
            {},
            "option multicast_trees: trees support at most 256 nodes, but the cluster has 1024; give 0",
        ),
    ],
)
def test_errors_for_many_nodes_name_the_missing_resource(
    kind: type[Bench], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        Layout(Options(**options), 1024, kind.sram_bytes or 1 << 21)


def test_nodes_above_vnn_255_send_and_answer_with_their_own_vnn() -> None:
    nodes, pairs = 260, {3: 259, 259: 3, 256: 0, 0: 256}
    bench = Large(nodes, trace=True, multicast_trees=0)
    got: dict[int, int] = {}

    async def node(library: Grim, me: int) -> None:
        def arrived(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got[me] = reference(source).vnn
            assert (a0, bytes(payload)) == (got[me], b"named")

        if me in pairs:
            library.register_handler(arrived, "arrived")
            await library.sync_handlers()
            await library.wait_for(lambda: me > 0 or library.nodes_served == len(pairs) - 1)
            handler = await library.resolve_handler("arrived")
            await library.send(library.get_dest_id(pairs[me]), handler, me, payload=b"named")
            await library.wait_for(lambda: me in got)

    bench.run(node)
    assert got == pairs
    seen = {(record[1], record[5]) for record in bench.machine.trace.records if record[2] == TraceEvent.POLL_HIT}
    assert {(unit(me, Part.HOST_CPU), sender) for me, sender in pairs.items()} <= seen, "the trace names the sender"
    bench.settle()
    assert bench.nothing_left()


def test_second_enable_is_an_error() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> str:
        with pytest.raises(GrimError) as caught:
            await library.grim_enable()
        return str(caught.value)

    assert bench.run(node) == ["grim_enable: was called before; call it once"] * 2


@pytest.mark.parametrize("call", ["get_my_vnn", "get_my_name", "vnn_configuration", "sync_handlers", "poll"])
def test_calls_before_enable_are_rejected(call: str) -> None:
    bench = Bench(1)

    async def node() -> None:
        result = getattr(bench.libraries[0], call)()
        if hasattr(result, "__await__"):
            await result

    with pytest.raises(GrimError, match="^grim_enable: has not completed; call and await it first"):
        bench.machine.finish(node())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chanels": 2}, "unknown option 'chanels': grim has no such option; did you mean 'channels'?"),
        ({"channels": 33}, "value out of range: grim.channels is 33; give 1 to 32"),
        (
            {"synchronisation": "tree", "timeout_us": 100},
            "option synchronisation=tree: timeout_us needs notices between all pairs of NIs; use all",
        ),
        ({"window": 128}, "value out of range: grim.window is 128; give 1 to 127"),
        ({"segment_bytes": 64_573}, "value out of range: grim.segment_bytes is 64573; give 4 to 64572"),
        ({"segment_bytes": 10}, "option segment_bytes: 10 is not a multiple of 4; round it"),
        ({"host_queue_bytes": 4096}, f"option host_queue_bytes: 4096 {SMALL}"),
        ({"queue_bytes": 4096}, f"option queue_bytes: 4096 {SMALL}"),
        (
            {"channels": 32, "segment_bytes": 32_000},
            "option channels=32: 2097152 bytes of SRAM leave N for each channel's queue, "
            "but three segments need 96184; reduce channels or segment_bytes",
        ),
    ],
)
def test_invalid_option_is_named(options: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Bench(2, 1, False, True, **options)
    assert re.sub(r"leave \d+", "leave N", str(caught.value)) == message
    assert caught.value.exit_code == 2


def test_sram_option_above_the_nics_memory_is_rejected() -> None:
    with pytest.raises(
        OptionError, match="^option sram_bytes: 8388608 bytes, but the NIC has 2097152; give 2097152 or less"
    ):
        Bench(2, 1, False, False, sram_bytes=1 << 23, queue_bytes=1 << 22)


def test_queue_size_follows_the_available_sram() -> None:
    limits = [Layout(Options(queue_bytes=1 << 23), 2, sram).limit for sram in (1 << 18, 1 << 20, 1 << 21)]
    assert limits == sorted(limits)
    assert [limit >> 16 for limit in limits] == [1, 13, 29]


def test_oversized_queue_is_reduced_with_a_warning() -> None:
    bench = Bench(2, channels=8, queue_bytes=1 << 20)
    (warning,) = bench.libraries[0].warnings
    assert warning.startswith("queue_bytes 1048576: reduced to ")
    AllToAll(bench, 20, [0, 1000]).run()


def test_host_without_memory_for_its_queues_raises_memory_error() -> None:
    bench = Bench(2, 1, False, False, host_queue_bytes=1 << 26, channels=2)
    with pytest.raises(MemoryError, match="bytes requested"):
        bench.machine.finish(bench.libraries[0].grim_enable())


@settings(max_examples=60)
@given(st.integers(1, 32), st.integers(2, 20), st.sampled_from([4, 100, 1024, 4096]), st.integers(0, 1) | st.just(1024))
def test_areas_of_sram_do_not_overlap(channels: int, nodes: int, segment: int, cut_through: int) -> None:
    options = Options.from_values(
        {"channels": channels, "segment_bytes": segment, "cut_through_bytes": cut_through * 8 & ~7}
    )
    layout = Layout(options, nodes, 1 << 21)
    starts = [layout.counters, layout.channels, layout.routes, layout.scoreboard, layout.outgoing, layout.incoming]
    starts += [layout.blocks, layout.pointers, layout.control, layout.report]
    starts += [*layout.buffers, *layout.queues, layout.end]
    assert starts == sorted(set(starts))
    assert all(start % 8 == 0 for start in starts)
    assert layout.end <= layout.sram_bytes
    assert layout.limit + layout.slot <= layout.queue_bytes
    assert layout.buffers[1] - layout.buffers[0] >= layout.host_slot + 9
