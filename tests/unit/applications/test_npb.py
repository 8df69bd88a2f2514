"""Messages of the NAS benchmarks, and the translation caches.

Strategy: every pair of processes is compared, message by message in order, for all codes, classes and numbers of
processes: what one sends, the other must receive. Buffers must lie inside their arrays, which must not overlap.
Partners are counted by hand for small grids. The cache is compared with a naive one that keeps the whole history, and
the short cut over equal iterations with a run of all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.npb import CODES, Traffic, Transfer, TranslationCache, miss_rates, recv_queues, streams, traffic
from pymodels.npb.lu import neighbours
from pymodels.npb.mg import levels, torus
from pymodels.npb.multipartition import Partition
from pymodels.npb.streams import BASE, GAP, PAGE, WORD

RUNS = [(code, problem, processes) for code in CODES for problem in "AB" for processes in (4, 16)]


@pytest.mark.parametrize(("code", "problem", "processes"), [*RUNS, ("BT", "B", 64), ("MG", "B", 64), ("IS", "A", 64)])
def test_what_one_process_sends_another_receives(code: str, problem: str, processes: int) -> None:
    sent, received = defaultdict[tuple[int, int], list[int]](list), defaultdict[tuple[int, int], list[int]](list)
    for rank in range(processes):
        process = traffic(code, problem, processes, rank)
        for transfer in (*process.setup, *process.step):
            assert 0 <= transfer.peer < processes and transfer.size > 0
            if transfer.send:
                sent[rank, transfer.peer].append(transfer.size)
            else:
                received[transfer.peer, rank].append(transfer.size)
    assert sent.keys() == received.keys()
    for pair, sizes in sent.items():
        if pair[0] != pair[1] and code != "MG":
            assert sizes == received[pair], pair
        assert sorted(sizes) == sorted(received[pair]), pair


@pytest.mark.parametrize("code", CODES)
def test_messages_are_smaller_with_more_processes_and_larger_in_class_b(code: str) -> None:
    def most(problem: str, processes: int) -> int:
        return max(transfer.size for transfer in traffic(code, problem, processes, 0).step)

    assert most("A", 16) < most("A", 4)
    assert most("B", 16) > most("A", 16) or code == "MG"


def test_the_cells_of_a_multi_partition_cover_the_cube_once() -> None:
    cells = [cell for rank in range(16) for cell in Partition(64, 16, rank).cells]
    assert len(set(cells)) == len(cells) == 64
    for rank in range(16):
        part = Partition(102, 16, rank)
        for direction in range(3):
            assert sorted(cell[direction] for cell in part.cells) == [0, 1, 2, 3]
            assert Partition(102, 16, part.next[direction]).before[direction] == rank


def test_bt_sends_by_hand() -> None:
    step = traffic("BT", "A", 4, 0).step
    faces = 32 * 32 * 5 * 2 * 8
    assert [t.size for t in step[:12]] == [faces] * 12 and [t.send for t in step[:12]] == [False] * 6 + [True] * 6
    assert [(t.send, t.size) for t in step[12:16]] == [
        (True, 33 * 33 * 30 * 8),
        (False, 33 * 33 * 30 * 8),
        (True, 33 * 33 * 5 * 8),
        (False, 33 * 33 * 5 * 8),
    ]


def test_a_number_of_processes_that_makes_no_square_is_refused() -> None:
    for code in ("BT", "SP", "CG"):
        with pytest.raises(ValueError, match="a square number of processes, not 8"):
            traffic(code, "A", 8, 0)


def test_partners_of_lu_are_the_neighbours_of_its_grid() -> None:
    assert neighbours(16, 5) == {"north": 4, "south": 6, "west": 1, "east": 9}
    assert neighbours(4, 0) == {"north": None, "south": 1, "west": None, "east": 2}
    assert [recv_queues("LU", processes) for processes in (4, 16, 64)] == [2, 2 * 2 * 4 * 3 / 16, 2 * 2 * 8 * 7 / 64]


def test_partners_of_mg_are_those_of_its_torus_and_further_ones_on_coarse_levels() -> None:
    assert [torus(processes) for processes in (4, 16, 64)] == [(1, 2, 2), (2, 2, 4), (4, 4, 4)]
    assert recv_queues("MG", 4) == 3  # itself, and two
    own = levels(64, 21)  # place (1, 1, 1): it stays when all even places have no points left
    assert not own[1].dead and own[1].peers[0, 1] == own[1].peers[0, -1] == 23
    assert own[2].gives == (True, True, True) and own[2].takes == (False, False, False)
    assert levels(64, 0)[1].dead and levels(64, 0)[2].takes == (True, True, True)
    assert recv_queues("MG", 64) == 6 + 8 * 3 / 64


@pytest.mark.parametrize(("processes", "side"), [(4, 258), (16, 130), (64, 66)])
def test_the_buffers_of_mg_have_room_for_two_faces_with_their_borders(processes: int, side: int) -> None:
    """NPB 2.3, globals.h: nm = 2 + 2**lm for 2**lm points a side of a process, and nm2 = 2 * nm * nm numbers."""
    own = traffic("MG", "A", processes, 0)
    places = sorted({transfer.address for transfer in (*own.setup, *own.step)})
    assert places == [BASE + number * (2 * side * side * WORD + GAP) for number in range(4)]


@given(st.lists(st.integers(0, 40), max_size=200), st.sampled_from([(8, 1), (4, 2), (1, 8), (16, 4)]))
def test_the_cache_gives_the_place_of_the_least_recently_used_away(pages: list[int], shape: tuple[int, int]) -> None:
    sets, ways = shape
    cache = TranslationCache(sets, ways)
    for i, page in enumerate(pages):
        history = [other for other in pages[:i] if other % sets == page % sets]
        recent = list(dict.fromkeys(reversed(history)))[:ways]
        assert cache.lookup(page) == (page in recent)


def test_misses_are_told_apart() -> None:
    cache = TranslationCache(2, 1)
    page = BASE // PAGE
    found = cache.run(
        [
            Transfer(True, 1, BASE + 4095, 2),  # two pages, new
            Transfer(False, 1, BASE + 2 * PAGE, 1),  # new, takes the place of the first
            Transfer(True, 1, BASE, 4),  # was there before
            Transfer(False, 1, BASE + PAGE, PAGE),  # still there
            Transfer(False, 1, BASE + 3 * PAGE, 1),
            Transfer(False, 1, BASE + PAGE, 1),
        ]
    )
    assert (found.lookups, found.send_compulsory, found.send_other) == (7, 2, 1)
    assert (found.recv_compulsory, found.recv_other) == (2, 1)
    assert found.rate == 6 / 7 and cache.lookup(page)


@given(st.lists(st.integers(0, 40), max_size=300), st.sampled_from([(4, 1), (2, 2)]), st.integers(0, 5))
def test_a_victim_cache_keeps_what_gave_way_last(pages: list[int], shape: tuple[int, int], victims: int) -> None:
    """Compare with a list of all accesses, newest first."""
    sets, ways = shape
    cache = TranslationCache(sets, ways, victims)
    model: list[list[int]] = [[] for _ in range(sets)]
    gone: list[int] = []
    for page in pages:
        line = model[page % sets]
        assert cache.lookup(page) == (page in line or page in gone)
        if page in gone:
            gone.remove(page)
        model[page % sets] = line = [page, *(one for one in line if one != page)]
        gone = [*line[ways:], *gone][:victims]
        del line[ways:]
    plain = TranslationCache(sets, ways)
    assert sum(map(plain.lookup, pages)) <= sum(map(TranslationCache(sets, ways, victims).lookup, pages))


@pytest.mark.parametrize(("code", "iterations"), [("MG", 4), ("SP", 12), ("IS", 11)])
@pytest.mark.parametrize("shape", [(128, 1), (16, 8)])
def test_equal_iterations_are_counted_as_if_each_were_run(code: str, iterations: int, shape: tuple[int, int]) -> None:
    process = replace(traffic(code, "A", 16, 3), iterations=iterations)
    whole = Traffic(process.setup + process.step * iterations, (), 0)
    assert miss_rates(process, *shape) == TranslationCache(*shape).run(whole.setup)


def test_a_gap_between_arrays_moves_all_but_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert streams.arrays(a=8, b=12, c=8) == {"a": BASE, "b": BASE + 8, "c": BASE + 24}
    monkeypatch.setattr(streams, "GAP", 4096)
    assert streams.arrays(a=8, b=12, c=8) == {"a": BASE, "b": BASE + 4104, "c": BASE + 8216}
