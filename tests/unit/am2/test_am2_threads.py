"""Threads of a process that share a parallel AM-II bundle (AM 2.0: AM_PAR).

Strategy: two hosts of the machine. Threads of one process send requests with and without payload, put bulk data and
poll, all through one endpoint. Each message must arrive once. While the handler of one thread's poll runs, another
thread may send requests, and the handler itself may not.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from firmware.am2.host import Access, Am2Error, Token
from tests.unit.am2.am2_bench import KEEP, Bench
from tests.unit.am2.am2_segments import Ends


@pytest.mark.parametrize("credits_", [2, 12])
def test_concurrent_requests_of_threads_are_each_sent_once(credits_: int) -> None:
    bench, each, threads = Bench(credits=credits_), 8, 3

    bench.bundles[0].access = Access.PAR

    async def thread(who: int) -> None:
        for number in range(each):
            await bench.send(0, 1, who, number, data=bytes([who, number]) * (20 * (number % 2)))

    bench.run(*(thread(who) for who in range(threads)), bench.until(0, each * threads), bench.until(1, each * threads))
    sent = [
        ((who, number), bytes([who, number]) * (20 * (number % 2))) for who in range(threads) for number in range(each)
    ]
    assert sorted((words, data) for _, _, words, data in bench.came[1]) == sorted(sent)
    assert len(bench.came[0]) == each * threads and not bench.back[0]


def test_concurrent_bulk_data_of_threads_deliver_each_byte() -> None:
    ends, seen = Ends(credits=2), list[tuple[int, int]]()

    async def keep(token: Token) -> None:
        seen.append((token.offset, token.size))

    ends.bench.endpoints[1].set_handler(9, keep)
    ends.bench.bundles[0].access = Access.PAR

    async def thread(who: int) -> None:
        for number in range(2):
            at, data = 3000 * number + 1000 * who, bytes([who + 1, number]) * 450
            ends.put(1, at, data)
            await ends.bench.endpoints[0].request_xfer(1, at, 9, data)

    async def all_of_them() -> None:
        threads = [ends.bench.machine.kernel.spawn(thread(who), f"thread {who}") for who in range(3)]
        for one in threads:
            await one.finished

    ends.run(all_of_them())
    assert sorted(seen) == [(3000 * number + 1000 * who, 900) for number in range(2) for who in range(3)]
    assert ends.whole()


def test_a_thread_can_send_requests_during_a_handler_of_another_thread() -> None:
    bench, refused = Bench(), list[str]()
    handling, asked = (bench.machine.hosts[0].event(why) for why in ("the handler", "the other thread"))

    async def slow(token: Token) -> None:
        handling.set()
        with pytest.raises(Am2Error) as caught:
            await bench.endpoints[0].request(1, KEEP, 1)
        refused.append(caught.value.cause)
        await asked.wait()

    bench.endpoints[0].set_handler(9, slow)
    bench.bundles[0].access = Access.PAR

    async def other() -> None:
        await handling.wait()
        await bench.endpoints[0].request(1, KEEP, 2)
        asked.set()

    calls: list[Awaitable[Any]] = [bench.endpoints[1].request(0, 9), other(), bench.until(1, 1)]
    bench.run(*calls, bench.bundles[0].until(lambda: bool(refused) and not bench.endpoints[0].unanswered))
    assert refused == ["the handler of a request short makes it"]
    assert [words for _, _, words, _ in bench.came[1]] == [(2,)]


def test_a_bundle_has_the_requested_access() -> None:
    library = Bench().libraries[0]
    assert [library.allocate_bundle().access, library.allocate_bundle(Access.PAR).access] == [Access.SEQ, Access.PAR]
    with pytest.raises(Am2Error, match="invalid access 7"):
        library.allocate_bundle(7)  # type: ignore[arg-type]
