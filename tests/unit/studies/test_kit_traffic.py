"""Traffic and load of the measurement kit: who sends to whom, how many messages are unanswered, what is late.

Strategy: plans of four hosts are compared with those written by hand. Made-up hosts of constant times carry exchanges
and loads, whose latencies and rates are known; one mistake of each kind must fail the run.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.mail import AHEAD
from tb.studies.kit.hosts import in_pairs, start_in_turn, start_together
from tb.studies.kit.load import Load, closed_load, open_load, poisson
from tb.studies.kit.traffic import at_random, exchange, senders_to, to_all_from_next, to_all_in_turn, to_next
from tests.unit.studies.made_up_mail import (
    ONE_WAY_PS,
    RECEIVE_PS,
    SEND_PS,
    START_PS,
    WIRE_PS,
    MadeUpLab,
    MadeUpMail,
    ends,
    pair,
)


def test_plans_list_senders_and_receivers() -> None:
    assert to_next(3, 2) == [[1, 1], [2, 2], [0, 0]]
    assert to_all_in_turn(3, 3) == [[1, 2, 1], [0, 2, 0], [0, 1, 0]]
    assert to_all_from_next(4, 4) == [[1, 2, 3, 1], [2, 3, 0, 2], [3, 0, 1, 3], [0, 1, 2, 0]]
    assert senders_to(to_all_in_turn(3, 3), 0) == [1, 1, 2, 2]


def test_random_plans_depend_on_their_seed_and_have_no_message_to_self() -> None:
    plan = at_random(5, 40, random.Random("a"))
    assert plan == at_random(5, 40, random.Random("a")) != at_random(5, 40, random.Random("b"))
    assert all(set(own) == set(range(5)) - {me} for me, own in enumerate(plan))
    assert sum(len(senders_to(plan, node)) for node in range(5)) == 5 * 40


def test_an_exchange_ends_at_each_host_with_its_last_message() -> None:
    lab = MadeUpLab()
    mails = [end.mail for end in ends(lab, 4)]
    took = lab.finish(exchange(lab, mails, to_all_from_next(4, 3), bytes(8)))
    assert took == [3 * SEND_PS + WIRE_PS + RECEIVE_PS] * 4
    assert [mail.waited for mail in mails if isinstance(mail, MadeUpMail)] == [1] * 4, "bytes may change after `posted`"
    assert lab.findings.messages == 12 and not lab.findings.failures


def test_a_changed_message_of_an_exchange_fails_the_run() -> None:
    lab = MadeUpLab()
    hosts = ends(lab, 3)
    assert isinstance(hosts[1].mail, MadeUpMail)
    hosts[1].mail.changed = True
    lab.finish(exchange(lab, [end.mail for end in hosts], to_next(3, 1), b"abc"))
    assert lab.findings.failures == ["messages of each host: host 2 has not received exactly the messages sent to it"]


def test_a_message_of_another_host_than_planned_fails_the_run() -> None:
    lab = MadeUpLab()
    hosts = ends(lab, 3)
    assert isinstance(hosts[1].mail, MadeUpMail)
    hosts[1].mail.node = 0
    lab.finish(exchange(lab, [end.mail for end in hosts], to_next(3, 1), b"abc"))
    assert lab.findings.failures == ["messages of each host: host 2 has not received exactly the messages sent to it"]


def test_messages_of_a_slow_open_load_do_not_wait() -> None:
    lab = MadeUpLab()
    load: Load = lab.finish(open_load(lab, *pair(lab), [20_000_000] * 5, 16))
    assert load.due == [START_PS + 20_000_000 * number for number in range(1, 6)]
    assert load.latencies == [ONE_WAY_PS] * 5
    assert load.offered == load.accepted == pytest.approx(50_000)
    assert lab.findings.messages == 5 and not lab.findings.failures


def test_waiting_behind_earlier_messages_counts_as_latency_of_an_open_load() -> None:
    lab = MadeUpLab()
    load: Load = lab.finish(open_load(lab, *pair(lab), [1_000_000] * 10, 16))
    late = SEND_PS - 1_000_000
    assert load.latencies == [ONE_WAY_PS + number * late for number in range(10)]
    assert load.offered == pytest.approx(1e6) and load.accepted == pytest.approx(5e5)
    assert load.warm(0.5).latencies == load.latencies[5:]


@pytest.mark.parametrize(("window", "gap"), [(1, 2 * ONE_WAY_PS), (2, ONE_WAY_PS), (AHEAD, SEND_PS + RECEIVE_PS)])
def test_a_closed_load_has_a_window_of_unanswered_messages(window: int, gap: int) -> None:
    lab = MadeUpLab()
    load: Load = lab.finish(closed_load(lab, *pair(lab), 400, window, 16))
    warm = load.warm(0.5)
    assert load.latencies[0] >= 2 * ONE_WAY_PS
    assert warm.accepted == pytest.approx(1e12 / gap, rel=0.05)
    unanswered = [sum(due <= at < done for due, done in zip(load.due, load.done, strict=True)) for at in load.due]
    assert max(unanswered) == window
    assert lab.findings.messages == 800 and not lab.findings.failures


@pytest.mark.parametrize("window", [0, AHEAD + 1])
def test_a_window_too_large_for_the_layer_is_rejected(window: int) -> None:
    lab = MadeUpLab()
    with pytest.raises(ValueError, match=f"window {window}: out of range; layers have room for 1 to {AHEAD}"):
        lab.finish(closed_load(lab, *pair(lab), 1, window, 16))


def test_a_changed_message_of_a_load_fails_the_run() -> None:
    lab = MadeUpLab()
    near, far = pair(lab)
    assert isinstance(near.mail, MadeUpMail)
    near.mail.changed = True
    lab.finish(open_load(lab, near, far, [1, 1], 16))
    assert lab.findings.failures == [f"bytes of the load: message {number} arrived corrupted" for number in (0, 1)]


def test_a_doubled_message_of_a_load_fails_the_run() -> None:
    lab = MadeUpLab()
    near, far = pair(lab)
    assert isinstance(near.mail, MadeUpMail)
    near.mail.doubled = True
    lab.finish(open_load(lab, near, far, [1, 1], 16))
    assert lab.findings.failures == [
        "duplicates of the load: message 0 arrived twice",
        "messages of the load: [1] are missing",
    ]


def test_gaps_of_a_poisson_load_have_the_given_mean_and_follow_from_their_seed() -> None:
    gaps = poisson(1e5, 4000, "a")
    assert gaps == poisson(1e5, 4000, "a") != poisson(1e5, 4000, "b")
    assert sum(gaps) / len(gaps) == pytest.approx(1e7, rel=0.05) and min(gaps) >= 0


class Started:
    """A library that takes a time to start."""

    def __init__(self, lab: MadeUpLab, order: list[tuple[int, int]]) -> None:
        self._lab, self._order = lab, order

    async def start(self) -> None:
        begun = self._lab.kernel.now - START_PS
        await self._lab.kernel.sleep(10)
        self._order.append((begun, self._lab.kernel.now - START_PS))


@pytest.mark.parametrize(("together", "found"), [(False, [(0, 10), (10, 20)]), (True, [(0, 10), (0, 10)])])
def test_layers_start_in_turn_or_together(together: bool, found: list[tuple[int, int]]) -> None:
    lab, order = MadeUpLab(), list[tuple[int, int]]()
    hosts: list[Any] = [Started(lab, order) for _ in range(2)]
    lab.finish(start_together(lab, hosts) if together else start_in_turn(hosts))
    assert order == found


def test_neighbours_share_a_choice_of_options() -> None:
    assert in_pairs([{"a": 1}, {"a": 2}], spare=1) == {1: {"a": 1}, 2: {"a": 1}, 3: {"a": 2}, 4: {"a": 2}}
