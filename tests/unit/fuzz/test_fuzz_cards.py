"""Reference model of FPGA circuits in the fuzz test of cards, without a simulator.

Strategy: the model of circuits gets messages, results and images. It must reject each result that no order of them
gives, and accept each that some order gives. Over many programs each act must be drawn often, and a card must accept
nearly all options.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from firmware.grim.channel_map import NO_CARD
from firmware.grim.formats import Device, Reference
from firmware.grim.nic.cards import card_channel
from firmware.grim.options import Options
from firmware.options import OptionError
from firmware.view import ClusterView
from pymodels.card.circuits import CIRCUITS
from pymodels.card.fabric import EXAMPLE
from pymodels.card.image import build
from pymodels.card.registers import SLOTS
from pymodels.card.registers import Load as Outcome
from pymodels.config.model import FPGA_CARD
from pymodels.machine import Machine
from tb.fuzz import trial
from tb.studies.cards.fuzz import CARD_ACTS, POWER_ACTS
from tb.studies.cards.fuzz.circuits import Flow, Job, Load, Outage
from tb.studies.cards.fuzz.configuration import Configuration
from tb.studies.cards.fuzz.ledger import Ledger
from tb.studies.cards.fuzz.multicasts import Copies
from tb.studies.grim.fuzz.mail import FOREVER
from tb.studies.grim.fuzz.node import CHECK

COUNT, TELL, CLEAR = range(3)
"""Arguments of the histogram."""
AT = 0, 0
HOST = (0,)
"""Channels of a host whose other channel is its card's."""
SEEDS, LEAST, REFUSED_MOST = 200, 10, 40


def bins(payload: bytes) -> bytes:
    """Return the histogram's result after these bytes."""
    circuit = CIRCUITS["histogram"]()
    circuit.run(COUNT, payload)
    return circuit.run(TELL, b"")


def flow(result: bytes, *loads: Load) -> Flow:
    """Return the history of a histogram: bytes counted from 0 on, counters requested at 100, the result received at
    200.
    """
    counted = Job(0, 0, "histogram", COUNT, b"ab", None, 0)
    asked = Job(1, 0, "histogram", TELL, b"", AT, 100, 200, result)
    return Flow("histogram", list(loads), [counted, asked])


@pytest.mark.parametrize(
    ("loads", "right"),
    [
        ([], {b"ab"}),
        ([Load(10, 20)], {b"", b"ab"}),
        ([Load(250, 300)], {b"ab"}),
        ([Load(150)], {b"", b"ab"}),
        ([Load(10, 20), Load(60, 160)], {b"", b"ab"}),
    ],
    ids=["never", "before or behind the first", "behind both", "under way", "twice"],
)
def test_result_is_accepted_if_an_order_of_messages_and_images_gives_it(loads: list[Load], right: set[bytes]) -> None:
    for payload in (b"", b"a", b"ab", b"abc"):
        assert (not list(flow(bins(payload), *loads).wrong())) is (payload in right), payload


def test_an_image_that_was_loaded_between_two_results_has_cleared_the_circuit() -> None:
    told = Job(1, 0, "histogram", TELL, b"", AT, 10, 20, bins(b"ab"))
    for payload, wrong in ((b"", 0), (b"ab", 1)):
        again = replace(told, number=2, begun=50, arrived=60, result=bins(payload))
        counted = Job(0, 0, "histogram", COUNT, b"ab", None, 0)
        assert len(list(Flow("histogram", [Load(30, 40)], [counted, told, again]).wrong())) == wrong


def test_an_image_of_another_slot_keeps_the_circuit() -> None:
    for circuits, kept in ((frozenset({"fir16"}), True), (frozenset({"histogram"}), False), (None, False)):
        load = Load(10, 20, circuits)
        told = Job(1, 0, "histogram", TELL, b"", AT, 10, 11, bins(b""))
        counted = Job(2, 0, "histogram", TELL, b"", AT, 30, 40, bins(b"ab"))
        between = Job(0, 0, "histogram", COUNT, b"ab", None, 11)
        cleared = list(Flow("histogram", [load], [told, between, counted]).wrong())
        assert not cleared, circuits
        lost = [told, between, replace(counted, result=bins(b""))]
        assert bool(list(Flow("histogram", [load], lost).wrong())) is kept, circuits


def test_partial_images_change_one_slot_and_need_a_whole_one_before() -> None:
    one = Configuration(EXAMPLE)
    first, second = one.slots[0], next(line.image for line in EXAMPLE if line.image != EXAMPLE[0].image)
    assert one.places(str(second))[0] is None
    part = build(EXAMPLE, str(second), 1, 64).pack()
    whole = build(EXAMPLE, str(second), None, 64).pack()
    assert one.may_empty(whole) is None
    assert one.may_empty(part) == frozenset(line.name for line in EXAMPLE if line.slot == 1)
    assert one.may_empty(part[:4]) == frozenset()
    assert (one.load(part).outcome, one.slots) == (Outcome.DONE, [first, second, first, first])
    assert (one.load(part[:-8]).outcome, one.slots) == (Outcome.TRUNCATED, [first, None, first, first])
    assert (one.load(whole[:-8]).outcome, one.slots) == (Outcome.TRUNCATED, [None] * SLOTS)
    assert (one.load(part).outcome, one.slots) == (Outcome.NO_SHELL, [None] * SLOTS)
    assert (one.load(whole).outcome, one.slots) == (Outcome.DONE, [second] * SLOTS)
    assert one.load(part).outcome == Outcome.DONE


def test_result_of_a_process_that_arrives_at_its_host_is_an_error() -> None:
    for channels, wrong in ((HOST, 1), ((1,), 0)):
        ledger = Ledger(2)
        job = ledger.begin(0, 1, "loopback", 0, 9, (0, 1))
        words = 0, job.number, job.number * CHECK & 0xFFFF_FFFF
        ledger.arrive(5, 0, Reference(1, Device.CELOXICA, 1).pack(), words, job.payload, channels)
        assert len(ledger.wrong()) == wrong


@pytest.mark.parametrize(("begun", "arrived", "lost"), [(10, 90, False), (10, 100, True), (199, FOREVER, True)])
def test_a_loss_of_power_may_stop_what_has_begun_before_the_new_start(begun: int, arrived: int, lost: bool) -> None:
    assert Outage(100, 200).doubts(begun, arrived) is lost
    assert not Outage(100, 200).doubts(200, FOREVER), "begun after the new start"
    ledger = Ledger(2)
    job = ledger.begin(begun, 1, "loopback", 0, 9, AT)
    job.arrived = arrived
    ledger.outages[0].append(Outage(100, 200))
    assert not ledger.may_be_lost(job), "another card"
    ledger.outages[1].append(Outage(100, 200))
    assert ledger.may_be_lost(job) is lost
    assert bool(list(ledger.missing())) is (arrived == FOREVER and not lost)


def test_a_message_that_a_loss_of_power_may_have_stopped_was_processed_or_not() -> None:
    lost = Job(0, 0, "histogram", COUNT, b"ab", None, 140)
    for payload in (b"", b"ab", b"abab"):
        told = Job(1, 0, "histogram", TELL, b"", AT, 170, 200, bins(payload))
        found = list(Flow("histogram", [], [lost, told], [Outage(150, 160)]).wrong())
        assert bool(found) is (payload == b"abab")


def test_too_many_possible_states_are_unknown_until_an_image_has_cleared_the_circuit() -> None:
    lost = [Job(n, 0, "histogram", COUNT, bytes([n]), None, 140) for n in range(8)]
    wrong = Job(8, 0, "histogram", TELL, b"", AT, 170, 200, bins(b"wrong"))
    again = replace(wrong, number=9, begun=400, arrived=500)
    assert not list(Flow("histogram", [], [*lost, wrong], [Outage(150, 160)]).wrong())
    assert len(list(Flow("histogram", [Load(300, 310)], [*lost, wrong, again], [Outage(150, 160)]).wrong())) == 1


def test_copies_of_a_multicast_reach_every_member_once() -> None:
    copies = Copies()
    key = "member", 1, 4
    copies.expected[key] = b"data"
    assert list(copies.missing()) == ["copy 4 for handler 'member' has not arrived at node 1"]
    copies.arrive(key, b"data")
    assert (list(copies.missing()), copies.wrong) == ([], [])
    copies.arrive(key, b"data")
    copies.arrive(("member", 0, 4), b"data")
    what = "copy 4 for handler 'member' of node"
    assert copies.wrong == [f"{what} 1 arrived twice", f"{what} 0 was not sent"]
    other = Copies()
    other.expected[key] = b"data"
    other.arrive(key, b"atad")
    assert "4 other bytes" in other.wrong[0]


def test_each_card_answers_its_copy_of_a_multicast() -> None:
    ledger = Ledger(2)
    first = ledger.begin_cast(0, "loopback", 1, 9, (1, 0))
    words = 1, first.number, first.number * CHECK & 0xFFFF_FFFF
    for card in (1, 0):
        assert len(list(ledger.missing())) == card + 1
        assert ledger.under_way(card, "loopback")
        ledger.arrive(5, 1, Reference(card, Device.CELOXICA, 1).pack(), words, first.payload, HOST)
        assert not ledger.under_way(card, "loopback")
    assert (list(ledger.missing()), ledger.wrong()) == ([], [])
    ledger.arrive(6, 1, Reference(1, Device.CELOXICA, 1).pack(), words, first.payload, HOST)
    assert "arrived twice" in ledger.wrong()[0]


def test_wrong_results_are_named() -> None:
    ledger = Ledger(2)
    job = ledger.begin(0, 1, "crc32", 0, 9, (0, 0))
    card = Reference(1, Device.CELOXICA, 3).pack()
    right = CIRCUITS["crc32"]().run(0, job.payload)
    assert list(ledger.missing()) == [f"the result of {job} has not arrived at node 0"]
    words = 0, job.number, job.number * CHECK & 0xFFFF_FFFF
    for at, source, given, data, said in (
        (0, card, (0, 7, 0), right, "an unknown result"),
        (1, card, words, right, "arrived at node 1, channels [0]"),
        (0, Reference(0, Device.CELOXICA, 3).pack(), words, right, "arrived from (0, "),
        (0, card, (1, *words[1:]), right, "with argument 1"),
        (0, card, words, right[::-1], "returned 4 bytes"),
    ):
        job.arrived = FOREVER
        ledger._failures.clear()
        ledger.arrive(5, at, source, given, data, HOST)
        assert len(ledger.wrong()) == 1 and said in ledger.wrong()[0], said
    job.arrived = FOREVER
    ledger._failures.clear()
    for times in (0, 1):
        ledger.arrive(5, 0, card, words, right, HOST)
        assert len(ledger.wrong()) == times
    assert list(ledger.missing()) == []


def test_every_card_action_is_drawn_often_with_valid_options() -> None:
    seen: Counter[str] = Counter()
    refused = 0
    view = replace(ClusterView(**Machine(2).view(0)), cards=(frozenset({FPGA_CARD}),) * 2)
    for seed in range(SEEDS):
        program = trial.drawn("cards", seed)[0]
        seen.update(act.name for act in program.acts)
        try:
            assert card_channel(Options.from_values(program.options), view) != NO_CARD
        except OptionError:
            refused += 1
    assert {name for name in (*CARD_ACTS, *POWER_ACTS) if seen[name] < LEAST} == set()
    assert seen["go down"] == 0 < seen["send"]
    assert refused < REFUSED_MOST
