"""Promises of descriptors: each layer keeps those that are listed, and breaks those that are not.

Strategy: one scenario for each promise. A promise must hold with every seed. For an omitted promise, at least one seed
must break it, so that a descriptor which promises too little fails as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from firmware.layers import load
from firmware.mail import AHEAD, Mail, Message
from firmware.promises import FAULTS, Promise
from tests.unit.conformance.bench import Bench, message
from tests.unit.conformance.cases import PS, Case, every_case

CHANCES: dict[Promise, dict[str, Any]] = {
    Promise.LOSS: {"loss": 0.12},
    Promise.DAMAGE: {"loss": 0.0, "damage": 0.2},
    Promise.OVERTAKING: {"loss": 0.0, "reordered": 0.25},
    Promise.DOUBLING: {"loss": 0.0, "doubled": 0.25},
}
"""Share of packets that a fault affects, as arguments of `Faults.lose`."""
SEEDS = (1, 2, 3)
SEEDS_OF_OPPOSITES = (1, 2, 3, 4, 5, 6)
MESSAGES, SIZE = 12, 600
WITHIN_US, SOON_US = 30_000.0, 6_000.0
"""Time limit of a run that should end, and of one that should not."""
ROUNDS = (1, 2, 3, 5, 9)
"""Messages to each host before and after the reset of a NIC, which end at different ring positions."""
every_fault = pytest.mark.parametrize("fault", CHANCES, ids=lambda one: str(one.name).lower())
every_seed = pytest.mark.parametrize("seed", SEEDS)


@dataclass(frozen=True)
class Outcome:
    """Result of one stream of messages between two hosts."""

    came: tuple[Message, ...]
    sent: tuple[Message, ...]
    error: str
    """Error of a call that failed or did not return; empty if all messages were received."""

    @property
    def once(self) -> bool:
        """True if every message was received exactly once and unchanged."""
        return not self.error and sorted(self.came) == sorted(self.sent)

    @property
    def ordered(self) -> bool:
        """True if the received messages are a subsequence of the sent ones."""
        left = iter(self.sent)
        return all(one in left for one in self.came)


def stream(bench: Bench, count: int, size: int, late_us: int = 0, within_us: float = WITHIN_US) -> Outcome:
    """Send messages to a host that starts to receive late, until it has received all."""
    near, far = bench.mails
    sent = tuple((0, message(0, 1, number, min(near.most, size))) for number in range(count))
    came = list[Message]()

    async def sends() -> None:
        for _, data in sent:
            await near.send(1, data)
        await near.finish()

    async def receives() -> None:
        await far.host.sleep(late_us * PS, "other work")
        while len(came) < count:
            came.append(await far.receive())

    error = ""
    bench.machine.kernel.spawn(sends(), "sender")
    try:
        bench.run(receives(), within_us=within_us)
    except Exception as raised:  # noqa: BLE001 - which one a layer raises is its own affair
        error = f"{type(raised).__name__}: {raised}"
    return Outcome(tuple(came), sent, error)


@cache
def disturbed(case: Case, fault: Promise, seed: int, within_us: float = WITHIN_US) -> Outcome:
    """Return the result of a stream on a network with faults of one kind."""
    bench = case.bench()
    bench.machine.faults.lose(**CHANCES[fault], seed=seed)
    found = stream(bench, MESSAGES, SIZE, within_us=within_us)
    assert bench.machine.faults.injected, "no fault was injected"
    return found


def _kept(case: Case, fault: Promise, seed: int) -> Outcome:
    """Return the result of a stream with a fault, with a short limit if the layer does not recover from it."""
    return disturbed(case, fault, seed, WITHIN_US if fault in case.promised else SOON_US)


@every_seed
@every_fault
@every_case
def test_a_fault_that_the_layer_repairs_leaves_every_message_exactly_once(
    case: Case, fault: Promise, seed: int
) -> None:
    found = _kept(case, fault, seed)
    if fault in case.promised:
        assert found.once, found.error
    elif seed == SEEDS[0]:
        assert not all(_kept(case, fault, other).once for other in SEEDS_OF_OPPOSITES), "it promises too little"


def _disturbed_orders(case: Case, seeds: tuple[int, ...]) -> Iterator[bool]:
    for seed in seeds:
        for fault in CHANCES:
            if fault in case.promised | Promise.OVERTAKING:
                yield _kept(case, fault, seed).ordered


@every_case
def test_messages_stay_in_order_with_faults_where_promised(case: Case) -> None:
    if Promise.RESEQUENCING in case.promised:
        assert all(_disturbed_orders(case, SEEDS))
    else:
        assert not all(_disturbed_orders(case, SEEDS_OF_OPPOSITES)), "it promises too little"


@every_case
def test_the_descriptor_says_of_every_repaired_loss_that_losses_are_tolerated(case: Case) -> None:
    options = case.options
    below = load(case.layer)
    while below.stands_on:
        below, options = load(str(options.get("on", below.stands_on[0]))), {}
    if Promise.LOSS in case.promised:
        assert below.repairs(options)


@every_case
def test_messages_wait_for_a_host_that_does_not_receive_where_promised(case: Case) -> None:
    found = stream(case.bench(), 8 * AHEAD, 300, late_us=3000)
    if Promise.BACK_PRESSURE in case.promised:
        assert found.once and (found.ordered or Promise.ORDER not in case.promised), found.error
    else:
        assert not found.once, "it promises too little"


@every_case
def test_as_many_messages_as_mail_has_room_for_wait_for_a_host_that_does_not_receive(case: Case) -> None:
    found = stream(case.bench(), AHEAD, 300, late_us=3000)
    assert found.once and (found.ordered or Promise.ORDER not in case.promised), found.error


@every_case
def test_no_cpu_copies_messages_where_promised(case: Case) -> None:
    bench = case.bench()
    before = [host.copied_bytes for host in bench.machine.hosts]
    found = stream(bench, 8, 2048)
    copied = sum(host.copied_bytes for host in bench.machine.hosts) - sum(before)
    payload = sum(len(data) for _, data in found.came)
    assert found.once
    if Promise.ZERO_COPY in case.promised:
        assert copied == 0
    else:
        assert copied >= payload


def _with_strangers(case: Case, seed: int) -> Outcome:
    """Return the result of a stream while packets of random bytes arrive at the receiver."""
    bench, rng = case.bench(), random.Random(seed)
    plain = load(case.layer).shown.plain
    types = [one.type for one in (plain if isinstance(plain, tuple) else (plain,)) if one is not None]

    async def strangers() -> None:
        for number in range(8):
            await bench.mails[0].host.sleep(6 * PS, "the next packet of random bytes")
            kind = types[number % len(types)] if types and number % 2 else None
            head = rng.randbytes(4) if kind is None else kind.to_bytes(max(2, -(-kind.bit_length() // 8)), "big")
            bench.machine.network.insert(1, head + rng.randbytes(rng.choice((12, 28, 60))) + b"\0")

    bench.machine.kernel.spawn(strangers(), "strangers")
    return stream(bench, 24, 200, within_us=SOON_US)


@every_seed
@every_case
def test_packets_of_random_bytes_have_no_effect_where_promised(case: Case, seed: int) -> None:
    found = _with_strangers(case, seed)
    if Promise.PROTECTION in case.promised:
        assert found.once, found.error
    elif seed == SEEDS[0]:
        assert not all(_with_strangers(case, other).once for other in SEEDS_OF_OPPOSITES), "it promises too little"


def _exchange_all(bench: Bench, rounds: int, within_us: float = WITHIN_US) -> bool:
    """Let all hosts send to all others. Return True if each message was received once."""
    size = min(48, bench.mails[0].most)

    async def host(me: int, mail: Mail) -> list[Message]:
        came = await bench.exchange(me, mail, size, rounds)
        await mail.settle()
        return came

    found = bench.run(*(host(me, mail) for me, mail in enumerate(bench.mails)), within_us=within_us)
    return [sorted(came) for came in found] == [sorted(bench.expected(me, size, rounds)) for me in range(len(found))]


@pytest.mark.parametrize("count", [1, 3])
@every_case
def test_all_nics_start_again_after_a_reset_with_waiting_messages_where_promised(case: Case, count: int) -> None:
    bench = case.bench(3)

    async def burst(me: int, mail: Mail) -> None:
        for number in range(count):
            await mail.post((me + 1) % 3, message(me, (me + 1) % 3, number, 40))

    def again() -> bool:
        bench.run(*(burst(me, mail) for me, mail in enumerate(bench.mails)), within_us=WITHIN_US)
        bench.reset(range(3))
        bench.run(*(mail.start() for mail in bench.mails), within_us=WITHIN_US)
        return _exchange_all(bench, 2)

    assert _holds(again) is (Promise.RESTART in case.promised)


@every_case
def test_all_nics_start_again_after_a_reset_when_idle(case: Case) -> None:
    bench = case.bench(3)
    assert _exchange_all(bench, 2)
    bench.rest()
    bench.reset(range(3))
    bench.run(*(mail.start() for mail in bench.mails), within_us=WITHIN_US)
    assert _exchange_all(bench, 2)


def _rejoined(case: Case, rounds: int) -> bool:
    """Reset one of three NICs. Return True if its host exchanges messages with the others afterwards."""
    bench = case.bench(3)
    assert _exchange_all(bench, rounds)
    bench.rest()

    def again() -> bool:
        bench.reset([2])
        bench.run(bench.mails[2].start(), within_us=SOON_US)
        return _exchange_all(bench, rounds, SOON_US)

    return _holds(again)


@every_case
def test_a_host_rejoins_the_others_after_the_reset_of_its_nic_where_promised(case: Case) -> None:
    if Promise.REJOIN in case.promised:
        assert all(_rejoined(case, rounds) for rounds in ROUNDS)
    else:
        assert not all(_rejoined(case, rounds) for rounds in ROUNDS), "it promises too little"


def _holds(scenario: Any) -> bool:
    """Run a scenario. Return False if it raises an exception."""
    try:
        return bool(scenario())
    except Exception:  # noqa: BLE001 - which one a layer raises is its own affair
        return False


def test_every_fault_has_chances() -> None:
    assert [one for one in Promise if one in FAULTS] == list(CHANCES)
