"""Machinery of the fuzz tests.

Strategy: programs of an invented layer are drawn and shrunk. The reference models of GRIM's mailboxes, errors and
memory get histories with one mistake each, which they must report, and the same histories without it.
"""

from __future__ import annotations

import itertools
from math import inf

import numpy as np
import pytest

from firmware.grim.host import GrimError
from pymodels.errors import ConfigError
from pymodels.kernel import Kernel
from tb.fuzz import trial
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program
from tb.fuzz.shrink import shrink, shrink_awaiting
from tb.studies.grim.fuzz.errors import Ledger
from tb.studies.grim.fuzz.mail import Mail, Message
from tb.studies.grim.fuzz.memory import Block, Effect, Memory, Order, gaps, nothing


def made_up(draw: Draw) -> Program:
    """Draw a program of numbers."""
    acts = draw.items(lambda one: Act(0, "count", {"number": one.whole(0, 1000)}), 12, 25)
    return Program(draw.whole(2, 6), "lanai9", {}, {}, tuple(acts))


def test_a_seed_is_one_program() -> None:
    first, again, other = (trial.drawn("grim", seed)[0] for seed in (5, 5, 6))
    assert str(first) == str(again) != str(other)


def test_a_seed_is_the_same_program_on_every_machine() -> None:
    """Rely on `random` for a text, which is equal in every version of Python; hashes of texts are not."""
    assert Draw("grim 1").whole(0, 1 << 30) == 428_352_177


def test_a_program_whose_option_is_no_number_is_drawn() -> None:
    drawn = (trial.drawn("grim", seed)[0] for seed in itertools.count())
    program = next(program for program in drawn if program.options.get("segment_bytes") == "many")
    assert not trial.on_machine("grim", program).failures


def test_handlers_of_a_restarted_node_write_only_after_it_has_memory() -> None:
    message: dict[str, int | str] = {
        "to": 2,
        "at": 0,
        "channel": 0,
        "handler": "write",
        "bytes": 1,
        "extra": 0,
        "memory": 0,
    }
    acts = (Act(2, "go down", {"us": 10}), *[Act(1, "send", message), Act(1, "stop", {"us": 10})] * 60)
    program = Program(3, "lanai9", {"timeout_us": 300, "timeout_tries": 4, "poll_thread": 0}, {}, acts)
    assert not trial.on_machine("grim", program).failures


def test_a_lock_at_a_restarted_node_without_memory_may_be_rejected() -> None:
    """Let the NI accept the transfer while its host waits for node 0, which reads nothing."""
    write: dict[str, int | str] = {"to": 1, "channel": 0, "block": 1, "offset": 1009, "bytes": 64, "lock": 1}
    acts = (Act(0, "stop", {"us": 400}), Act(0, "write physical", write), Act(1, "go down", {"us": 20}))
    options: dict[str, int | str] = {"timeout_us": 100, "timeout_tries": 4, "poll_thread": 0, "poll_first": 0}
    assert not trial.on_machine("grim", Program(2, "lanai9", options, {}, acts)).failures


@pytest.mark.parametrize("fault", ["lock", "beyond"])
def test_a_bad_write_to_a_block_that_is_freed_under_way_may_be_an_error_about_its_address(fault: str) -> None:
    acts = (
        Act(2, "allocate", {"kind": "contiguous", "size": 6227}),
        Act(2, "count", {"index": 7}),
        Act(2, "free", {"block": 1}),
        Act(2, "use NI memory", {"size": 355, "offset": 1840}),
        Act(0, "bad write", {"to": 2, "channel": 0, "block": 1, "bytes": 12293, "fault": fault}),
    )
    assert not trial.on_machine("grim", Program(4, "lanai9", {}, {}, acts)).failures


def test_failing_program_is_shrunk_to_its_failing_actions() -> None:
    draw = Draw("shrink 3")
    program = made_up(draw)

    def fails(tried: Program) -> bool:
        return sum(act.whole("number") >= 100 for act in tried.acts) >= 2

    assert fails(program)
    small = shrink(made_up, draw.numbers, fails, inf)
    assert small is not None
    assert [act.whole("number") for act in small.acts] == [100, 100]
    assert small.nodes == 2


def test_a_program_that_must_be_awaited_is_shrunk_to_the_same() -> None:
    draw, kernel = Draw("shrink 3"), Kernel()
    program = made_up(draw)
    small: list[Program | None] = []

    async def fails(tried: Program) -> bool:
        await kernel.sleep(1)
        return len(tried.acts) >= 2

    async def whole() -> None:
        small.append(await shrink_awaiting(made_up, draw.numbers, fails, inf))

    assert len(program.acts) > 2
    kernel.spawn(whole(), "the fuzz")
    kernel.run()
    assert small == [shrink(made_up, draw.numbers, lambda tried: len(tried.acts) >= 2, inf)]


def test_passing_program_is_not_shrunk() -> None:
    draw = Draw("shrink 4")
    made_up(draw)
    assert shrink(made_up, draw.numbers, lambda program: False, inf) is None


def test_an_unknown_layer_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match="did you mean 'grim'"):
        trial.layer("grimm")


# ---- mailboxes


def message(mail: Mail, size: int = 8) -> Message:
    """Return a message from node 0 to node 1 whose call has returned."""
    sent = mail.begin((0, 0), "take", size)
    sent.must.add((1, 0))
    mail.end(sent)
    return sent


def arrive(mail: Mail, sent: Message, data: bytes | None = None, handler: str = "take") -> None:
    """Deliver a message to its handler."""
    mail.arrive((1, 0), sent.number, sent.source, handler, sent.payload if data is None else data)


def test_messages_delivered_once_and_in_order_are_accepted() -> None:
    mail = Mail()
    first, second = message(mail), message(mail)
    arrive(mail, first)
    arrive(mail, second)
    assert [*mail.wrong, *mail.missing(), *mail.disorder()] == []


def test_lost_doubled_changed_and_misdirected_mail_is_named() -> None:
    mail = Mail()
    lost, twice, changed, other = (message(mail) for _ in range(4))
    arrive(mail, twice)
    arrive(mail, twice)
    arrive(mail, changed, b"........")
    arrive(mail, other, handler="slow")
    assert mail.missing()[0] == f"{lost} has not arrived at node 1, channel 0"
    for sent, said in ((twice, "twice"), (changed, "other bytes from 0 on"), (other, "and handler slow")):
        assert any(str(sent) in line and said in line for line in mail.wrong), said
    mail.arrive((1, 0), 99, (0, 0), "take", b"")
    assert "which no message has" in mail.wrong[-1]


def test_overtaking_is_named_only_of_messages_sent_one_after_the_other() -> None:
    mail = Mail()
    first, second = message(mail), message(mail)
    arrive(mail, second)
    arrive(mail, first)
    assert mail.disorder() == [f"{second} overtook {first}"]
    together = Mail()
    one, other = (together.begin((0, 0), "take", 8) for _ in range(2))
    for sent in (other, one):
        sent.must.add((1, 0))
        arrive(together, sent)
    assert together.disorder() == []


def test_a_tree_has_one_order_everywhere() -> None:
    mail = Mail()
    one, other = mail.begin((0, 0), "take", 8, tree=1), mail.begin((3, 0), "take", 8, tree=1)
    for sent in (one, other):
        sent.must |= {(1, 0), (2, 0)}
    for node, order in ((1, (one, other)), (2, (other, one))):
        for sent in order:
            mail.arrive((node, 0), sent.number, sent.source, "take", sent.payload)
    assert mail.disorder() == ["tree 1: nodes 1 and 2 have its messages in different orders"]


# ---- errors


def test_expected_error_is_accepted_once() -> None:
    ledger, error = Ledger(), GrimError("address", "0x40 is not in pinned memory of VNN 2", "give another")
    assert not ledger.take(error)
    ledger.owe("a bad write", "address", "VNN 2")
    assert ledger.missing() == ["a bad write: no error about its address"]
    assert ledger.take(error)
    assert ledger.missing() == []
    assert not ledger.take(error)


# ---- memory


def test_read_may_return_data_of_a_later_block_at_its_addresses_but_not_of_an_earlier_one() -> None:
    order, memory = Order("to", 1, 0, 0, 0), Memory([block(), block(), block(4)])
    earlier, later, shorter = memory.blocks
    for number, one in enumerate(memory.blocks):
        one.before = np.full(one.size, number, np.uint8)
    earlier.freed, later.born, shorter.born = 3, 5, 6
    for begun, brought in ((2, {0, 1}), (4, {1})):
        seen = memory.seen_at(order, begun, 0, earlier.va + 4, 8)
        assert {value for mask, data in seen for value in data[mask].tolist()} == brought


def test_parts_of_a_message_may_stay_only_where_it_is_for_a_tree_and_its_rest_may_be_lost() -> None:
    mail = Mail()
    lost, sure = (mail.begin((source, 0), "take", 5000, tree=0) for source in (1, 2))
    lost.may, sure.must = {(3, 0)}, {(3, 0)}
    assert [mail.may_lack(message.source, 0, (3, 0)) for message in (lost, sure)] == [True, False]
    lost.arrived[3, 0] = mail.event()
    assert not mail.may_lack(lost.source, 0, (3, 0))


def block(size: int = 16) -> Block:
    """Return a block of zeros at 0x100."""
    return Block(0, 0x100, size, ((0x1000, size),), np.zeros(size, np.uint8), "store", True, 0)


def effect(begun: int, va: int, data: bytes, order: int = 0, certain: bool = True) -> Effect:
    """Return a write."""
    image = np.frombuffer(data, np.uint8)
    return Effect("a write", 0, va, len(data), Order("to", 1, order, 0, 0), begun, lambda: [(None, image)], certain)


@pytest.mark.parametrize(
    ("effects", "actual", "wrong"),
    [
        ([], bytes(16), None),
        ([], bytes(15) + b"\1", 15),
        ([effect(1, 0x104, b"aaaa")], bytes(4) + b"aaaa" + bytes(8), None),
        ([effect(1, 0x104, b"aaaa")], bytes(16), 4),
        ([effect(1, 0x104, b"aaaa", certain=False)], bytes(16), None),
        ([effect(1, 0x104, b"aaaa"), effect(2, 0x104, b"bbbb")], bytes(4) + b"aaaa" + bytes(8), 4),
        ([effect(1, 0x104, b"aaaa"), effect(2, 0x104, b"bbbb", 1)], bytes(4) + b"aabb" + bytes(8), None),
        ([effect(1, 0xFE, b"aaaa")], b"aa" + bytes(14), None),
        ([effect(1, 0x10E, b"aaaa")], bytes(14) + b"aa", None),
    ],
)
def test_block_may_hold_only_data_of_writes(effects: list[Effect], actual: bytes, wrong: int | None) -> None:
    memory = Memory([block()], effects)
    assert memory.wrong_bytes(memory.blocks[0], np.frombuffer(actual, np.uint8)) == wrong


def test_read_sees_earlier_writes_of_its_own_and_of_others() -> None:
    memory = Memory([block(4)], [effect(1, 0x100, b"a"), effect(5, 0x100, b"later"), effect(1, 0x101, b"b", 7)])
    brought = memory.seen_through(Order("to", 1, 0, 0, 0), 3, memory.blocks[0], 0, 2)
    first = {int(image[0]) for mask, image in brought if mask[0]}
    second = {int(image[1]) for mask, image in brought if mask[1]}
    assert first == {ord("a")}
    assert second == {ord("b"), 0}


def test_read_with_a_source_freed_in_flight_returns_its_bytes_or_an_error() -> None:
    source, other, ledger = block(), block(), Ledger()
    read = Effect("a read", 1, 0x200, 4, Order("read", 1, 0, 0, 0), 1, list, source=source)
    read.due = due = ledger.owe("a read", "", "VNN 0", least=0, most=0)
    memory = Memory([source, other], [read])
    found = []
    for number, freed in enumerate((other, source), 2):
        memory.freeing(freed, number)
        found.append((read.certain, due.least, due.most))
    assert found == [(True, 0, 0), (False, 0, 1)]
    assert due.arguments == {"address"}


def test_read_with_a_target_freed_in_flight_returns_its_bytes_or_an_error_about_the_target() -> None:
    target, ledger = block(), Ledger()
    read = Effect("a read", 0, target.va, 4, Order("read", 0, 0, 0, 1), 1, list, source=block())
    read.due = ledger.owe("a read", "", "VNN 1", least=0, most=0)
    Memory([target], [read]).freeing(target, 2)
    wrong = GrimError("address", "0x200 is not in pinned memory of VNN 1", "")
    late = GrimError("target", "the data from 0x200 of VNN 1 came too late", "")
    assert [ledger.take(error) for error in (wrong, late, late)] == [False, True, False]


def test_bad_transfer_with_a_block_freed_in_flight_is_one_error() -> None:
    target, ledger = block(), Ledger()
    due = ledger.owe("a bad write", "lock", "VNN 0")
    write = Effect("a bad write", 0, target.va, 4, Order("to", 1, 0, 0, 0), 1, nothing, False, due)
    Memory([target], [write]).freeing(target, 2)
    assert ledger.missing()
    gone = GrimError("address", f"{target.va:#x} is not in pinned memory of VNN 0", "")
    assert [ledger.take(error) for error in (gone, gone)] == [True, False]
    assert not ledger.missing()


def test_freed_memory_must_not_change_until_its_next_allocation() -> None:
    memory, stored = Memory([block()]), {0x1000: bytes(16)}
    memory.freed(memory.blocks[0], 1, lambda pa, size: stored[pa])
    assert memory.check_frozen(lambda node, pa, size: stored[pa]) == []
    stored[0x1000] = b"x" * 16
    assert len(memory.check_frozen(lambda node, pa, size: stored[pa])) == 1
    assert len(memory.check_frozen(lambda node, pa, size: stored[pa], 0, [(0x1008, 64)])) == 1
    assert memory.frozen == []


def test_gaps_are_the_unused_remainder() -> None:
    assert list(gaps(100, [(10, 20), (40, 60)])) == [(0, 10), (30, 40)]
    assert list(gaps(8, [])) == [(0, 8)]


def test_gaps_are_in_none_of_ranges_that_overlap() -> None:
    """Memory that was freed is granted again in part: what was granted once is no gap."""
    assert list(gaps(100, [(10, 50), (10, 5), (20, 10)])) == [(0, 10), (60, 100)]
