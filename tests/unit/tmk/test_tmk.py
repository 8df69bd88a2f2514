"""TreadMarks: lazy release consistency of real pages, over UDP.

Strategy: two to four processes of the machine access shared pages through their page tables. Each test shows one
property by the messages, the faults, or the contents of an array. Examples are: a release sends nothing, a page is
compared on request, two processes may write one page, records are collected. A bit flipped in a diff must show in the
reader's page.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from firmware.tmk.host import Tmk, TmkError
from firmware.tmk.host.wire import Kind, Message, apply, encode, pack_intervals
from pymodels.host import PAGE, ProtectionFault, Rights
from pymodels.host.faulting import ViewError
from tests.unit.tmk.tmk_bench import Bench, Call


def started(nodes: int = 2, pages: int = 4, **options: Any) -> Bench:
    """Allocate all pages and distribute their address."""
    bench = Bench(nodes, pages=pages, **options)
    bench.all[0].malloc(PAGE * pages)

    async def begin(tmk: Tmk) -> None:
        if tmk.proc_id == 0:
            await tmk.distribute(b"")
        await tmk.barrier(0)

    bench.program(begin)
    return bench


async def put(tmk: Tmk, word: int, value: int) -> None:
    """Store a word of shared memory."""
    await tmk.process.write(tmk.memory.base + 4 * word, value.to_bytes(4, "big"))


async def get(tmk: Tmk, word: int) -> int:
    """Load a word of shared memory."""
    return int.from_bytes(await tmk.process.read(tmk.memory.base + 4 * word, 4), "big")


def sent(bench: Bench) -> int:
    """Return the number of datagrams so far."""
    return sum(udp.kernel.sent for udp in bench.below)


async def under(tmk: Tmk, lock: int, do: Callable[[], Call]) -> Any:
    """Run a critical section of the program."""
    await tmk.lock_acquire(lock)
    result = await do()
    await tmk.lock_release(lock)
    return result


WORDS = PAGE // 4


# ---- laziness


def test_a_release_sends_nothing_and_a_reader_that_does_not_synchronize_keeps_the_old_value() -> None:
    bench = started()
    one, other = bench.all
    assert bench.do(other, get(other, 0)) == [0]
    bench.do(one, one.lock_acquire(0), put(one, 0, 7))
    before = sent(bench)
    bench.do(one, one.lock_release(0))
    assert sent(bench) == before and bench.do(other, get(other, 0)) == [0]
    assert bench.do(other, under(other, 0, lambda: get(other, 0))) == [7]


def test_a_page_written_in_ten_intervals_is_not_compared_until_another_process_reads_it() -> None:
    bench = started()
    one = bench.all[0]
    faults = one.process.faults

    async def write(number: int) -> None:
        await under(one, 0, lambda: put(one, 0, number))

    for number in range(10):
        bench.do(one, write(number))
    assert (one.process.faults - faults, one.memory.twins, one.memory.diffs) == (1, 1, 0)
    assert one.coherence.notices == one.coherence.vector[0] == 10


def test_only_the_first_write_faults_until_the_diff_is_made() -> None:
    bench = started()
    one, other = bench.all
    bench.do(other, get(other, 0))  # a process without a copy fetches the page and requests no diff
    counted: list[int] = []

    async def write(word: int) -> None:
        await under(one, 0, lambda: put(one, word, word + 1))
        counted.append(one.process.faults)

    bench.do(one, write(0), write(1))  # the second the next interval
    assert bench.do(other, under(other, 0, lambda: get(other, 0))) == [1]
    bench.do(one, write(2), write(3))
    assert counted[1] == counted[0] and counted[2] == counted[3] == counted[0] + 1 and one.memory.diffs == 1


def test_the_first_copy_of_a_written_page_takes_two_messages_and_no_diff() -> None:
    bench = started(3)
    one, other, third = bench.all
    bench.do(one, under(one, 0, lambda: put(one, 0, 7)))
    bench.do(other, other.lock_acquire(0))
    before = sent(bench)
    assert bench.do(other, get(other, 0)) == [7] and sent(bench) - before == 2 and one.memory.diffs == 0
    bench.do(other, other.lock_release(0))
    bench.do(one, under(one, 0, lambda: put(one, 1, 8)))
    assert bench.do(third, under(third, 0, lambda: get(third, 1)), get(third, 0)) == [8, 7]
    assert bench.do(other, under(other, 0, lambda: get(other, 1))) == [8] and one.memory.diffs == 1


# ---- several writers


def test_two_processes_write_the_halves_of_a_page_between_the_same_barriers_and_both_survive() -> None:
    bench = started()

    async def program(tmk: Tmk) -> bytes:
        half = bytes([tmk.proc_id + 1]) * (PAGE // 2)
        await tmk.process.write(tmk.memory.base + PAGE // 2 * tmk.proc_id, half)
        await tmk.barrier(1)
        return await tmk.process.read(tmk.memory.base, PAGE)

    assert bench.program(program) == [b"\1" * (PAGE // 2) + b"\2" * (PAGE // 2)] * 2


def test_a_diff_of_one_word_takes_fewer_than_64_bytes_on_the_wire() -> None:
    bench = started()
    one, other = bench.all
    bench.do(other, get(other, 0))
    bench.do(one, under(one, 0, lambda: put(one, 5, 9)))
    bench.do(other, other.lock_acquire(0))
    substrate: Any = one._substrate
    before = substrate.sent_bytes
    assert bench.do(other, get(other, 5)) == [9] and substrate.sent_bytes - before < 64


def test_words_written_by_two_processes_in_order_have_the_later_value() -> None:
    bench = started(3)
    one, two, three = bench.all
    bench.do(two, get(two, 0))
    bench.do(three, get(three, 0))
    for tmk, value in ((one, 1), (two, 2), (one, 3), (two, 4)):
        bench.do(tmk, under(tmk, 0, lambda tmk=tmk, value=value: put(tmk, 0, value)))  # type: ignore[misc]
    assert bench.do(three, under(three, 0, lambda: get(three, 0))) == [4]


# ---- who knows what


def test_knowledge_is_passed_on_without_unrelated_notices() -> None:
    bench = started(4)
    one, two, three, four = bench.all
    bench.do(four, under(four, 9, lambda: put(four, 3 * WORDS, 5)))  # unrelated
    bench.do(one, under(one, 0, lambda: put(one, 0, 7)))
    bench.do(two, under(two, 0, lambda: get(two, 0)))
    bench.do(two, under(two, 1, lambda: put(two, WORDS, 8)))
    assert bench.do(three, under(three, 1, lambda: get(three, 0))) == [7]
    assert three.coherence.vector == [1, 1, 0, 0] and not three.memory.pages[3].pending


def test_a_grant_carries_exactly_the_missing_intervals() -> None:
    bench = started(4)
    one, two, three, four = bench.all
    grants: dict[int, int] = {}

    def watch(tmk: Tmk) -> None:
        send = tmk._substrate.send

        async def sent_by(to: int, message: Message) -> None:
            if message.kind == Kind.GRANT:
                grants[message.number] = len(message.body)
            await send(to, message)

        tmk._substrate.send = sent_by  # type: ignore[method-assign]

    for tmk in bench.all:
        watch(tmk)
    bench.do(four, under(four, 9, lambda: put(four, 3 * WORDS, 5)))  # of the manager, which knows nothing; unrelated
    bench.do(one, under(one, 4, lambda: put(one, 0, 7)))
    bench.do(two, under(two, 4, lambda: get(two, 0)))
    bench.do(two, under(two, 5, lambda: put(two, WORDS, 8)))
    bench.do(three, under(three, 5, lambda: get(three, 0)))
    bench.do(three, under(three, 4, lambda: get(three, 0)))
    interval = 4 * (2 + 4 + 1 + 2)  # process, index, a vector of four, one run of pages
    assert grants == {9: 4, 5: 4 + 2 * interval, 4: 4}


def test_a_lock_is_granted_by_its_last_owner_and_reacquired_without_a_message() -> None:
    bench = started(3)
    for tmk in (bench.all[1], bench.all[2]):
        bench.do(tmk, under(tmk, 0, lambda tmk=tmk: get(tmk, 0)))  # type: ignore[misc]
    before = sent(bench)
    bench.do(bench.all[1], under(bench.all[1], 0, lambda: put(bench.all[1], 0, 1)))
    taken = sent(bench) - before
    bench.do(bench.all[1], under(bench.all[1], 0, lambda: put(bench.all[1], 0, 2)))
    assert sent(bench) - before == taken == 3  # Request, forwarded, granted
    assert [tmk.locks.remote for tmk in bench.all] == [0, 2, 1]


def test_a_barrier_of_n_takes_twice_n_minus_one_messages() -> None:
    bench = started(4)
    before = sent(bench)
    bench.program(lambda tmk: tmk.barrier(3))
    assert sent(bench) - before == 6


def test_notices_of_consecutive_pages_form_one_run() -> None:
    bench = started(2, pages=64)
    one = bench.all[0]
    bench.run(one.process.write(one.memory.base, bytes(PAGE * 64)), one.lock_acquire(0))
    bench.do(one, one.lock_release(0))
    assert len(pack_intervals(one.coherence.known[0])) == 4 * (1 + 2 + 2 + 1 + 2)


# ---- pages are real


def test_a_bit_flipped_in_a_diff_shows_in_the_readers_page() -> None:
    bench = started()
    one, other = bench.all
    bench.do(other, get(other, 0))
    bench.do(one, under(one, 0, lambda: put(one, 5, 8)))
    send = one._substrate.send

    async def flipped(to: int, message: Message) -> None:
        if message.kind == Kind.FOUND:
            message = message._replace(body=message.body[:-1] + bytes([message.body[-1] ^ 1]))
        await send(to, message)

    one._substrate.send = flipped  # type: ignore[method-assign]
    assert bench.do(other, under(other, 0, lambda: get(other, 5))) == [9]


def test_without_protection_results_are_wrong() -> None:
    bench = started()
    one, other = bench.all
    bench.do(other, get(other, 0))
    bench.do(one, under(one, 0, lambda: put(one, 0, 7)))

    async def nothing(page: int, right: Rights) -> None:
        """Leave the right of a page unchanged."""

    other.memory.allow = nothing  # type: ignore[method-assign]
    assert bench.do(other, under(other, 0, lambda: get(other, 0))) == [0]


def test_use_of_a_view_kept_over_a_wait_names_process_call_and_address() -> None:
    bench = started()
    one = bench.all[0]

    async def keep() -> None:
        view = await one.process.view(one.memory.base, 16)
        await one.lock_acquire(0)
        view[0] = 1

    said = f"host0: process tmk: view\\({one.memory.base:#x}, 16\\): it was kept during .*; release it before"
    with pytest.raises(ViewError, match=said):
        bench.do(one, keep())


def test_a_store_that_cannot_fault_into_a_protected_page_ends_the_run() -> None:
    bench = started()
    with pytest.raises(ProtectionFault, match="process tmk"):
        bench.all[1].process.store_bytes(bench.all[1].memory.base, b"x")


# ---- collection


def test_records_are_collected_and_storage_stays_bounded_while_results_are_equal() -> None:
    results, kept = [], []
    for limit in (2048, 1 << 26):
        bench = started(3, pages=2, collect_bytes=limit)

        async def program(tmk: Tmk) -> bytes:
            for number in range(60):
                await put(tmk, 8 * tmk.proc_id + number % 8, number)
                await tmk.barrier(1)
                await tmk.process.read(tmk.memory.base, 4)
                kept.append(tmk.coherence.kept)
            result = await tmk.process.read(tmk.memory.base, 2 * PAGE)
            await tmk.exit()
            return result

        kept.clear()
        results.append(bench.program(program))
        assert max(kept) < 4000 if limit == 2048 else max(kept) > 4000
        assert bench.all[0].barriers.collections > 3 if limit == 2048 else not bench.all[0].barriers.collections
    assert results[0] == results[1]


def test_with_a_limit_of_16_kb_records_are_collected_ten_times_and_storage_stays_bounded() -> None:
    """SANLAB_TMK_BARRIERS says how many, instead of 60."""
    barriers, bench = int(os.environ.get("SANLAB_TMK_BARRIERS", "60")), started(2, pages=2, collect_bytes=16 << 10)
    kept = []

    async def program(tmk: Tmk) -> bytes:
        for number in range(barriers):
            if tmk.proc_id == number % 2:  # a diff of all words, which the other one fetches
                await tmk.process.write(tmk.memory.base, bytes([number % 251]) * PAGE)
            await tmk.barrier(1)
            await tmk.process.read(tmk.memory.base, 4)
            kept.append(tmk.coherence.kept)
        result = await tmk.process.read(tmk.memory.base, PAGE)
        await tmk.exit()
        return result

    assert bench.program(program, within_us=1e7) == [bytes([(barriers - 1) % 251]) * PAGE] * 2
    assert bench.all[0].barriers.collections >= barriers // 6 and max(kept) < (16 << 10) + 2 * (PAGE + 100)


def test_a_diff_requested_after_its_collection_is_an_error() -> None:
    bench = started(2, collect_bytes=256)
    one, other = bench.all

    async def program(tmk: Tmk) -> None:
        for number in range(8):
            await put(tmk, tmk.proc_id, number)
            await tmk.barrier(1)

    bench.program(program)
    assert one.barriers.collections
    other.memory.pages[0].pending[0] = 1
    other.memory.pages[0].have[0] = 0
    late = Message(Kind.DIFFS, 1, 0, 99, (0).to_bytes(4, "big") + bytes(4) + (1).to_bytes(4, "big"))
    with pytest.raises(TmkError, match="diffs of page 0 up to interval 1: process 1 requests them, but they were coll"):
        bench.run(one.coherence.give_diffs(late))


# ---- Requests


def test_a_request_is_served_during_computation_and_delays_it() -> None:
    bench = started()
    one, other = bench.all
    took, ended = [], []

    async def compute() -> None:
        host = bench.machine.host(0)
        begun, used = bench.machine.kernel.now, host.cpu_ps
        await one.process.compute(20_000_000)
        ended.append((bench.machine.kernel.now - begun, host.cpu_ps - used))

    async def ask() -> None:
        begun = bench.machine.kernel.now
        await get(other, 0)
        took.append(bench.machine.kernel.now - begun)

    bench.run(compute(), ask())
    assert took[0] < 1_000_000_000 and 20_000_000_000 < ended[0][0] == ended[0][1]


def test_two_processes_that_fault_on_each_others_pages_do_not_deadlock() -> None:
    bench = started()
    one, other = bench.all

    async def program(tmk: Tmk) -> int:
        await get(tmk, WORDS * (1 - tmk.proc_id))
        await tmk.barrier(0)
        await put(tmk, WORDS * tmk.proc_id, tmk.proc_id + 1)
        await tmk.barrier(1)
        result = await get(tmk, WORDS * (1 - tmk.proc_id))
        await tmk.exit()
        return result

    assert bench.program(program) == [2, 1] and one.memory.diffs == other.memory.diffs == 1


@pytest.mark.parametrize("options", [{}, {"on": "via"}, {"on": "via", "vis": 1}])
def test_a_response_of_more_than_32_kb_is_sent_in_parts(options: dict[str, Any]) -> None:
    bench = started(2, pages=1, **options)
    one, other = bench.all
    bench.do(other, get(other, 0))

    async def rewrite(number: int) -> None:
        await one.lock_acquire(0)
        await one.process.write(one.memory.base, bytes([number]) * PAGE)
        await one.lock_release(0)
        await one.coherence.make_diff(0)  # as for a request

    for number in range(20):
        bench.do(one, rewrite(number + 1))
    assert bench.do(other, under(other, 0, lambda: get(other, 9))) == [0x14141414]


@pytest.mark.parametrize("options", [{}, {"on": "via"}, {"on": "via", "vis": 1}, {"on": "via", "scheme": "thread"}])
def test_a_request_of_more_than_32_kb_is_sent_in_parts(options: dict[str, Any]) -> None:
    bench = started(2, **options)
    data = bytes(number % 251 for number in range(100_000))

    async def program(tmk: Tmk) -> bytes:
        if tmk.proc_id == 0:
            await tmk.distribute(data)
        await tmk.barrier(0)
        await tmk.exit()
        return tmk.distributed[-1]

    assert bench.program(program, within_us=1e6) == [data] * 2


def test_a_diff_holds_the_runs_of_changed_words_and_restores_them() -> None:
    twin, page = bytes(PAGE), bytearray(PAGE)
    page[0:4], page[40:48], page[PAGE - 4 :] = b"abcd", b"01234567", b"last"
    runs = encode(twin, bytes(page))
    assert len(runs) == 3 * 4 + 16
    other = bytearray(b"\xff" * PAGE)
    assert apply(runs, other) == 3
    assert other[0:4] + other[40:48] + other[-4:] == b"abcd01234567last" and other[4:40] == b"\xff" * 36
    assert encode(twin, twin) == b""
