"""NAS Parallel Benchmarks that compute over MPI, and the streams of those that do not.

Strategy: each code's results must equal those that NPB publishes for class S, for several numbers of ranks. One changed
number in one message must make a result wrong, and ranks with different seeds must see every message of a stream as
changed. The random generator is compared with its recurrence in integers, and counts of operations with the totals that
NPB prints for class A.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.applications.npb import KERNELS, Node, Verified, stream
from firmware.mpi.host import Mpi
from pymodels.errors import SanlabError
from pymodels.npb import ALL_CODES, step_operations, traffic
from pymodels.npb.generator import MODULUS, MULTIPLIER, SEED, numbers
from tests.amount import cases
from tests.unit.mpi.mpi_bench import World

MOPS = 40.0
RUNS = [
    ("EP", 2),
    ("IS", 1),
    ("IS", 3),
    ("IS", 8),
    ("CG", 1),
    ("CG", 4),
    ("MG", 1),
    ("MG", 8),
    ("FT", 2),
]
BETWEEN = [("CG", 2), ("MG", 4)]
"""Long runs whose numbers of ranks lie between those of others."""


@pytest.mark.parametrize(("code", "ranks"), cases([*RUNS, *BETWEEN], RUNS))
def test_results_are_those_that_npb_publishes(code: str, ranks: int) -> None:
    async def program(mpi: Mpi, rank: int) -> tuple[Verified, float]:
        node = Node(mpi, MOPS)
        return await KERNELS[code](node), node.computed_ns

    results = World(ranks).run(program, within_us=1e8)
    assert [verified.wrong for verified, _ in results] == [""] * ranks
    assert min(computed for _, computed in results) > 0


def test_one_number_changed_in_one_message_makes_a_result_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    async def program(mpi: Mpi, rank: int) -> str:
        node, sound = Node(mpi, MOPS), mpi.COMM_WORLD.Sendrecv
        received = 0

        async def damaged(*arguments: Any) -> None:
            nonlocal received
            await sound(*arguments)
            received += 1
            if rank == 1 and received == 58:
                doubles = arguments[3].reshape(-1)
                doubles[len(doubles) // 2] += 1e-3

        monkeypatch.setattr(mpi.COMM_WORLD, "Sendrecv", damaged)
        return (await KERNELS["MG"](node)).wrong

    assert all(wrong.startswith("rnm2 is ") for wrong in World(2).run(program))


@pytest.mark.parametrize(("code", "ranks"), [("CG", 3), ("MG", 6), ("FT", 3)])
def test_a_number_of_ranks_that_a_code_cannot_share_among_is_refused(code: str, ranks: int) -> None:
    async def program(mpi: Mpi, rank: int) -> None:
        with pytest.raises(SanlabError, match=f"{code}: {ranks} ranks"):
            await KERNELS[code](Node(mpi, MOPS))

    World(ranks).run(program)


@pytest.mark.parametrize("code", ["BT", "LU", "EP"])
@pytest.mark.parametrize("seeds", [(7, 7, 7, 7), (1, 2, 3, 4)])
def test_a_stream_counts_messages_that_arrive_changed(code: str, seeds: tuple[int, ...]) -> None:
    async def program(mpi: Mpi, rank: int) -> int:
        return await stream(Node(mpi, MOPS), code, "A", 1, seeds[rank])

    received = [sum(not one.send for one in traffic(code, "A", 4, rank).step) for rank in range(4)]
    assert World(4).run(program, within_us=1e8) == (received if len(set(seeds)) > 1 else [0] * 4)


@pytest.mark.parametrize("code", ALL_CODES)
def test_every_transfer_that_is_begun_is_waited_for_before_the_next_step_needs_it(code: str) -> None:
    for rank in range(4):
        waiting = 0
        for transfer in traffic(code, "A", 4, rank).step:
            waiting = 0 if transfer.ends else waiting + (not transfer.send)
        assert waiting == 0, "a receive is open at the end of a step"


def test_numbers_follow_the_recurrence_from_any_place() -> None:
    state, expected = SEED, []
    for _ in range(40_000):
        state = MULTIPLIER * state % MODULUS
        expected.append(state / MODULUS)
    assert numbers(40_000).tolist() == expected
    assert numbers(100, skip=39_900).tolist() == expected[39_900:]


@pytest.mark.parametrize(
    ("code", "steps", "total"),
    [("BT", 200, 168.3e9), ("SP", 400, 85.0e9), ("LU", 250, 119.28e9), ("MG", 4, 3.89e9), ("CG", 15, 1.5e9)],
)
def test_operations_of_class_a_are_those_that_npb_counts(code: str, steps: int, total: float) -> None:
    assert steps * step_operations(code, "A") == pytest.approx(total, rel=0.005)
