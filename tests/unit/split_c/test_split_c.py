"""Split-C: accesses reach the memory they name, waits end on time, programs compute the results of one processor.

Strategy: one to eight nodes of the machine. Elements of all types go both ways, single and in bulk, to the own node and
to others, with guards around them. Nodes reach waits late on purpose. Each misuse raises its own error. The three
applications run on several numbers of nodes, with both LANais and with interrupts, and are compared with numpy.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import ceil, log2
from typing import Any

import numpy as np
import pytest

from firmware.am.nic.layout import MOST
from firmware.applications.spread import PROGRAMS, Node
from firmware.applications.spread.node import Array
from firmware.layers import check_options
from firmware.options import OptionError
from firmware.split_c.host import Global, SplitC, SplitCError
from firmware.view import ClusterView
from pymodels.hardware.discover import nic_kind
from tests.unit.split_c.split_c_bench import Bench

VALUES = {"int32": -7, "uint32": 0xFFFFFFFF, "float32": 0.5, "int64": -(1 << 40), "uint64": 1 << 63, "float64": 0.1}
SIZES = {"histogram": 700, "matrix": 13, "sort": 300}
RESULTS = {"histogram": 256, "matrix": 13 * 13, "sort": 300}
"""Number of values in each program's result."""
MOPS = 40.0


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("owner", [0, 1])
def test_elements_of_each_type_are_written_stored_and_read(dtype: str, owner: int) -> None:
    bench, value = Bench(), VALUES[dtype]
    spreads = [one.all_blocks(4, dtype) for one in bench.nodes]
    near, array = bench.nodes[0], spreads[0]

    async def first() -> list[int | float]:
        await near.write(array.part(owner) + 1, value)
        await near.store(array.part(owner) + 2, value)
        await near.all_store_sync()
        return [await near.read(array.part(owner) + at) for at in range(4)]

    read, _ = bench.run(first(), serve(bench.nodes[1]))
    assert read == [0, value, value, 0]
    assert list(bench.nodes[owner].local(spreads[owner])) == [0, value, value, 0]


async def serve(node: SplitC) -> None:
    """Take part in one `all_store_sync` and in the operations after it."""
    await node.all_store_sync()
    await node.host.sleep(100_000_000, "what follows")
    await node.poll()
    for _ in range(8):
        await node.host.sleep(30_000_000, "what follows")
        await node.poll()


@pytest.mark.parametrize("count", [0, 1, 9, MOST // 4, MOST // 4 + 1, 3 * MOST // 4 + 5])
@pytest.mark.parametrize("owner", [0, 1])
def test_bulk_operations_copy_exactly_their_elements(count: int, owner: int) -> None:
    bench, data = Bench(), np.arange(1, count + 1, dtype=np.uint32)
    most = count + 2

    async def program(node: SplitC) -> list[np.ndarray[Any, Any]]:
        source, put, stored, got = (node.all_blocks(most, np.uint32) for _ in range(4))
        if node.me == 0:
            node.local(source)[:count] = data
            await node.bulk_put(put.part(owner) + 1, source.part(0), count)
            await node.bulk_store(stored.part(owner) + 1, source.part(0), count)
        await node.all_store_sync()
        if node.me == 0:
            await node.bulk_get(got.part(0) + 1, put.part(owner) + 1, count)
        await node.sync()
        await node.barrier()
        return [node.local(one) for one in (put, stored, got)]

    parts = bench.run(*(program(node) for node in bench.nodes))
    expected = [0, *data, 0]
    assert [list(one) for one in (*parts[owner][:2], parts[0][2])] == [expected] * 3
    if owner == 1:
        assert not any(one.any() for one in (*parts[0][:2], parts[1][2]))


def test_get_and_put_return_before_their_data_arrive_and_sync_after() -> None:
    bench = Bench()
    spreads = [one.all_blocks(2, np.int32) for one in bench.nodes]
    near, far, array = *bench.nodes, spreads[0]
    far.local(spreads[1])[0] = 5

    async def first() -> None:
        await near.get(array.part(0), array.part(1))
        await near.put(array.part(1) + 1, 6)
        assert near.local(array)[0] == 0
        assert far.local(spreads[1])[1] == 0
        await near.sync()
        assert near.local(array)[0] == 5
        assert far.local(spreads[1])[1] == 6
        await near.barrier()

    bench.run(first(), far.barrier())


def test_store_sync_waits_for_the_bytes_stored_by_other_nodes() -> None:
    bench = Bench(3)
    spreads = [one.all_blocks(8, np.int32) for one in bench.nodes]
    late = 200_000_000

    async def give(node: SplitC) -> None:
        await node.host.sleep(late * node.me, "its turn")
        await node.store(spreads[0].part(0) + node.me, node.me)
        await node.bulk_store(spreads[0].part(0) + 2 + 2 * node.me, spreads[0].part(node.me), 2)

    async def take() -> list[int]:
        node, ended = bench.nodes[0], []
        for size in (12, 12):
            await node.store_sync(size)
            ended.append(node.host.now)
        return ended

    ended, *_ = bench.run(take(), *(give(node) for node in bench.nodes[1:]))
    begun = ended[0] // late * late
    assert ended[1] >= begun + late
    assert list(bench.nodes[0].local(spreads[0])[1:3]) == [1, 2]


@pytest.mark.parametrize("nodes", [2, 3, 5, 8])
def test_no_node_leaves_a_barrier_before_the_last_node_arrives(nodes: int) -> None:
    bench = Bench(nodes)

    async def program(node: SplitC) -> list[tuple[int, int]]:
        times = []
        for episode in range(3):
            await node.host.sleep(100_000_000 * ((node.me + episode) % nodes), "its turn")
            come = node.host.now
            await node.barrier()
            times.append((come, node.host.now))
        return times

    times = bench.run(*(program(node) for node in bench.nodes))
    for episode in zip(*times, strict=True):
        assert max(come for come, _ in episode) <= min(left for _, left in episode)


def test_a_spread_array_is_distributed_block_by_block() -> None:
    (node, *_) = Bench(3).nodes
    array = node.all_spread(11, np.float64, block=2)
    assert [(one.node, (one.at - array.at) // 8) for one in (array[i] for i in range(11))] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 2),
    ]  # fmt: skip
    assert array.most == len(node.local(array)) == 4
    single = node.all_spread(4, np.float64)
    assert [single[i].node for i in range(4)] == [0, 1, 2, 0], "one by one, where no block is given"


Misuse = Callable[[SplitC, Any], Awaitable[Any]]
MISUSES: dict[str, tuple[Misuse, str]] = {
    "an element beyond the end": (
        lambda c, a: c.read(a[8]),
        "element 8 of a spread array: index out of range; give 0 to 7",
    ),
    "an element before it": (lambda c, a: c.read(a[-1]), "element -1 of a spread array: index out of range"),
    "an unknown node": (lambda c, a: c.write(Global(2, 8, a.dtype), 1), "2 nodes have 1048576 bytes each"),
    "beyond the heap": (
        lambda c, a: c.write(Global(1, 1 << 20, a.dtype), 1),
        "elements of 4 bytes are outside the heaps",
    ),
    "a misaligned address": (
        lambda c, a: c.write(Global(1, 2, a.dtype), 1),
        "1 elements of 4 bytes are outside the heaps, or misaligned",
    ),
    "bulk beyond the heap": (lambda c, a: c.bulk_get(a.part(0), a.part(1), 1 << 18), "262144 elements of 4 bytes"),
    "a negative count": (lambda c, a: c.bulk_put(a.part(1), a.part(0), -1), "-1 elements: invalid count"),
    "a fractional count": (lambda c, a: c.bulk_put(a.part(1), a.part(0), 0.5), "0.5 elements: invalid count"),  # type: ignore[arg-type]
    "a get into another node": (
        lambda c, a: c.get(a.part(1), a.part(0)),
        "it is on node 1, and this is node 0; give a pointer",
    ),
    "a put out of another node": (
        lambda c, a: c.bulk_put(a.part(0), a.part(1), 1),
        "it is on node 1, and this is node 0",
    ),
    "two types": (lambda c, a: c.get(a.part(0), c.all_blocks(1, "f4").part(1)), "int32 and float32: types differ"),
    "a number too large": (lambda c, a: c.write(a[1], 1 << 31), "value 2147483648: int32 cannot represent it"),
    "a fraction": (lambda c, a: c.write(a[1], 0.5), "value 0.5: int32 cannot represent it"),
    "a text": (lambda c, a: c.write(a[1], "one"), "value 'one': int32 cannot represent it"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    bench, (call, said) = Bench(), MISUSES[name]
    arrays = [one.all_blocks(4, np.int32) for one in bench.nodes]
    before = bench.nodes[0].messages
    with pytest.raises(SplitCError, match=said):
        bench.run(call(bench.nodes[0], arrays[0]))
    assert bench.nodes[0].messages == before
    bench.run(*(one.barrier() for one in bench.nodes))
    assert not any(one.local(array).any() for one, array in zip(bench.nodes, arrays, strict=True))


def test_invalid_arrays_are_rejected() -> None:
    node = Bench(heap_kb=4).nodes[0]
    for count, dtype, said in (
        (0, "i4", "it is empty; give at least 1 of each"),
        (4, "i2", "type int16: an element is a number of 4 or 8 bytes"),
        (4, "what", "unknown numpy type"),
        (2048, "i4", r"4088 of its 4096 bytes are left; increase split_c\.heap_kb"),
    ):
        with pytest.raises(SplitCError, match=said):
            node.all_spread(count, dtype)
    with pytest.raises(OptionError, match="value out of range: split_c.heap_kb is 3; give 4 to 16384"):
        check_options("split_c", {"heap_kb": 3}, 2, 1 << 20, nic_kind("lanai9").card(1 << 20))


def test_calls_before_start_are_rejected() -> None:
    bench = Bench()
    node = SplitC(bench.machine.host(0), ClusterView(**bench.machine.view(0)), None)  # type: ignore[arg-type]
    with pytest.raises(SplitCError, match=r"the program has not started; await start\(\) on all nodes"):
        bench.run(node.barrier())


# ---- programs


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("nodes", [1, 2, 3, 8])
def test_a_program_computes_what_one_processor_alone_computes(name: str, nodes: int) -> None:
    compare(Bench(nodes), name)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("nic", "am"), [("lanai4", {}), ("lanai9", {"receive": "interrupt"})])
def test_a_program_computes_the_same_on_other_nics_and_with_interrupts(name: str, nic: str, am: dict[str, Any]) -> None:
    compare(Bench(3, nic, am), name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_charges_every_operation_of_its_sums_and_sorts(name: str) -> None:
    size, nodes = SIZES[name], 3
    parts, ran = compare(Bench(nodes), name)
    widest, shares = -(-RESULTS["histogram"] // nodes), [len(node.share(size)) for node in ran]
    samples = [8 * nodes * nodes] * nodes
    operations = {
        "histogram": 4 * size + 2 * widest * nodes * nodes,
        "matrix": 2 * size**3,
        "sort": sum(3 * n * ceil(log2(n)) for n in [*shares, *map(len, parts), *samples]),
    }
    assert sum(node.computed_ns for node in ran) == pytest.approx(operations[name] / MOPS * 1000)


def compare(bench: Bench, name: str) -> tuple[list[Array], list[Node]]:
    """Run a program and compare its result with that of one processor. Return its parts and its nodes."""
    size, program = SIZES[name], PROGRAMS[name]
    nodes = [Node(node, MOPS) for node in bench.nodes]
    parts = bench.run(*(program.run(node, size, 3) for node in nodes))
    result = np.concatenate(parts)
    assert result.size == RESULTS[name]
    assert np.array_equal(result, program.alone(size, 3))
    return parts, nodes
