"""Traffic on a network without faults: every message arrives once, in order from each host, and the network empties.

Strategy: all hosts post to all others before they receive, in clusters of one to eight hosts. Then random programs of
sizes, destinations and pauses, and single situations: a late receiver, messages both ways, buffers that change after
`send` has returned, answers. Several tests share the result of one run.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

import pytest

from firmware.layers import patient
from firmware.mail import AHEAD, Mail, Message
from firmware.promises import Promise
from tests.unit.conformance.bench import Bench, message
from tests.unit.conformance.cases import KINDS, PS, Case, every_case

NODES = (1, 2, 3, 5, 8)
SIZE, ROUNDS = 48, 2
every_number_of_hosts = pytest.mark.parametrize("nodes", NODES)


@dataclass(frozen=True)
class Exchanged:
    """Messages received and expected by every host, and packets left in the network."""

    came: list[list[Message]]
    expected: list[list[Message]]
    left: int


@cache
def exchanged(case: Case, nodes: int, nic: str = "") -> Exchanged:
    """Let all hosts send to all others, and end."""
    bench = case.bench(nodes, nic)

    async def host(me: int, mail: Mail) -> list[Message]:
        came = await bench.exchange(me, mail, SIZE, ROUNDS)
        await mail.finish()
        return came

    came = bench.run(*(host(me, mail) for me, mail in enumerate(bench.mails)), within_us=100_000)
    bench.rest()
    expected = [bench.expected(me, SIZE, ROUNDS) for me in range(nodes)]
    return Exchanged(came, expected, bench.machine.network.in_flight())


def by_sender(case: Case, messages: list[Message]) -> list[Message]:
    """Return messages sorted by sender, and by order of arrival for each sender if that order is promised."""
    return sorted(messages, key=lambda one: one[0] if Promise.ORDER in case.promised else one)


@every_number_of_hosts
@every_case
def test_each_message_of_all_pairs_is_received_exactly_once(case: Case, nodes: int) -> None:
    found = exchanged(case, nodes)
    assert [sorted(came) for came in found.came] == [sorted(one) for one in found.expected]


@every_number_of_hosts
@every_case
def test_messages_of_each_host_are_received_in_order_where_promised(case: Case, nodes: int) -> None:
    found = exchanged(case, nodes)
    assert [by_sender(case, came) for came in found.came] == [by_sender(case, one) for one in found.expected]


@every_number_of_hosts
@every_case
def test_nothing_is_left_in_the_network(case: Case, nodes: int) -> None:
    assert exchanged(case, nodes).left == 0


@pytest.mark.parametrize(("case", "kind"), KINDS, ids=str)
def test_each_kind_of_nic_that_the_layer_is_compiled_for_exchanges_messages(case: Case, kind: str) -> None:
    found = exchanged(case, 3, kind)
    assert [by_sender(case, came) for came in found.came] == [by_sender(case, one) for one in found.expected]


@pytest.mark.parametrize("seed", range(4))
@every_case
def test_random_traffic_of_three_hosts_arrives_unchanged(case: Case, seed: int) -> None:
    bench, rng = case.bench(3), random.Random(seed)
    plan = {
        me: [(rng.choice([node for node in range(3) if node != me]), rng.randrange(1, 700), rng.randrange(30))
             for _ in range(8)]
        for me in range(3)
    }  # fmt: skip
    most = bench.mails[0].most

    def sent(me: int) -> list[tuple[int, bytes]]:
        return [(to, message(me, to, at, min(size, most))) for at, (to, size, _) in enumerate(plan[me])]

    async def host(me: int, mail: Mail) -> list[Message]:
        for (node, data), (*_, pause) in zip(sent(me), plan[me], strict=True):
            await mail.host.sleep(pause * PS, "a pause")
            await mail.post(node, data)
        due = sum(to == me for other in range(3) for to, _ in sent(other))
        came = [await mail.receive() for _ in range(due)]
        await mail.posted()
        await mail.finish()
        return came

    found = bench.run(*(host(me, mail) for me, mail in enumerate(bench.mails)), within_us=100_000)
    for me, came in enumerate(found):
        expected = [(node, data) for node in range(3) for to, data in sent(node) if to == me]
        assert by_sender(case, came) == by_sender(case, expected)


def _to_a_late_receiver(bench: Bench, late_us: int) -> tuple[list[Message], list[Message]]:
    """Send mixed sizes to a host that receives late. Return received and sent messages."""
    near, far = bench.mails
    sizes = [min(size, near.most) for size in (1, 4, 33, 64, 700, 1024, 2000, 4096)][: AHEAD - 2]
    sent = [message(0, 1, number, size) for number, size in enumerate(sizes)]

    async def sends() -> None:
        for data in sent:
            await near.send(1, data)
        await near.finish()

    async def receives() -> list[Message]:
        await far.host.sleep(late_us * PS, "other work")
        came = [await far.receive() for _ in sent]
        await far.finish()
        return came

    return bench.run(sends(), receives(), within_us=1e6)[1], [(0, data) for data in sent]


@pytest.mark.parametrize("late_us", [150, 1500])
@every_case
def test_messages_of_mixed_sizes_wait_for_a_late_receiver(case: Case, late_us: int) -> None:
    came, sent = _to_a_late_receiver(case.bench(), late_us)
    assert by_sender(case, came) == by_sender(case, sent)


@every_case
def test_patient_options_let_a_host_do_other_work_for_long(case: Case) -> None:
    came, sent = _to_a_late_receiver(case.bench(more=patient(case.layer)), 5000)
    assert by_sender(case, came) == by_sender(case, sent)


@every_case
def test_two_hosts_send_to_each_other_before_they_receive(case: Case) -> None:
    bench = case.bench()
    size = min(256, bench.mails[0].most)

    async def host(me: int, mail: Mail) -> list[Message]:
        came = await bench.exchange(me, mail, size, 3)
        await mail.finish()
        return came

    found = bench.run(*(host(me, mail) for me, mail in enumerate(bench.mails)), within_us=50_000)
    assert found == [bench.expected(me, size, 3) for me in range(2)]


@every_case
def test_changes_after_the_return_of_send_do_not_reach_the_receiver(case: Case) -> None:
    bench = case.bench()
    near, far = bench.mails
    data = bytearray(min(near.most, 512))

    async def sends() -> None:
        for number in range(6):
            data[:] = bytes([number]) * len(data)
            await near.send(1, memoryview(data))  # type: ignore[arg-type]
        data[:] = b"\xee" * len(data)
        await near.finish()

    async def receives() -> list[Message]:
        came = [await far.receive() for _ in range(6)]
        await far.finish()
        return came

    came = bench.run(sends(), receives(), within_us=50_000)[1]
    assert came == [(0, bytes([number]) * len(data)) for number in range(6)]


@every_case
def test_what_was_received_stays_unchanged_when_more_arrives(case: Case) -> None:
    bench = case.bench()
    near, far = bench.mails
    size = min(near.most, 300)

    async def sends() -> None:
        for number in range(20):
            await near.send(1, message(0, 1, number, size))
        await near.finish()

    async def receives() -> list[Message]:
        came = [await far.receive() for _ in range(20)]
        await far.finish()
        return came

    assert bench.run(sends(), receives(), within_us=50_000)[1] == [(0, message(0, 1, n, size)) for n in range(20)]


@every_case
def test_an_answer_returns_the_bytes(case: Case) -> None:
    bench = case.bench()
    near, far = bench.mails
    sent = [message(0, 1, number, size) for number, size in enumerate((4, 64, 17))]

    async def asks() -> list[bytes]:
        found = [await near.request(1, data) for data in sent]
        await near.finish()
        return found

    async def answers() -> None:
        for _ in sent:
            await far.answer()
        await far.finish()

    assert bench.run(asks(), answers(), within_us=50_000)[0] == sent
