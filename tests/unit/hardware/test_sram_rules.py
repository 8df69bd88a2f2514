"""The SRAM checker on hand-written clocks: accesses with waits and conflicts, and a violation of each rule.

Strategy: a small arbiter written here produces the wires of legal clocks from a list of requests. Each rule is broken
by changing the wires of one clock, and that rule must be reported, at that clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pymodels.hardware.sram import PortAccess, SramAccess, SramPorts, SramRules, SramSample

PORTS = SramPorts(("pio", "dma", "receive", "send", "processor"), equal=2)
PIO, DMA, RECEIVE, SEND, PROCESSOR = range(5)
ALL = 0xFF


def read(address: int) -> PortAccess:
    return PortAccess(False, address, 0, 0)


def write(address: int, data: int, enables: int = ALL) -> PortAccess:
    return PortAccess(True, address, enables, data)


@dataclass
class Memory:
    """Memory behind a legal arbiter: `clock` returns the wires of a clock."""

    words: dict[int, int] = field(default_factory=dict)
    _late: list[tuple[int, int, int]] = field(default_factory=list)

    def clock(self, granted: Sequence[tuple[int, PortAccess]], waiting: Sequence[int] = ()) -> SramSample:
        """Return the wires of a clock with up to two granted accesses, port a first, and waiting requesters."""
        ports: list[PortAccess | None] = [*(access for _, access in granted), None, None]
        sets = [*(1 << requester for requester, _ in granted), 0, 0]
        old, self._late = self._late, []
        for port, (requester, access) in enumerate(granted):
            if not access.write:
                self._late.append((requester, port, self.words.get(access.address, 0)))
        for _, access in granted:
            if access.write:
                self.words[access.address] = access.data
        data = [*(value for _, _, value in sorted(old)), 0, 0]
        by_port = {port: value for _, port, value in old}
        return SramSample(
            ports=(ports[0], ports[1]),
            requests=sum(sets) + sum(1 << requester for requester in waiting),
            granted=(sets[0], sets[1]),
            valid=sum(1 << requester for requester, _, _ in old),
            received=(data[0], data[1]),
            read=(by_port.get(0, 0), by_port.get(1, 0)),
        )


def check(
    samples: Sequence[SramSample], accesses: int = 2, exact: bool = True, width: int = 64
) -> tuple[list[SramAccess], list[tuple[int, str]]]:
    """Return the accesses of the clocks from 100 on, and the violations."""
    found: list[tuple[int, str]] = []
    rules = SramRules(PORTS, accesses, width, exact, lambda clock, rule: found.append((clock, rule)))
    done = [one for clock, sample in enumerate(samples, 100) for one in rules.step(clock, sample)]
    return done, found


def test_reads_and_writes_have_requester_port_waits_and_data() -> None:
    memory = Memory()
    clocks = [
        memory.clock([(PIO, write(8, 0x0706050403020100)), (DMA, write(16, 7))], [SEND]),
        memory.clock([(SEND, read(8)), (PROCESSOR, write(8, 0xAA, 1))]),
        memory.clock([]),
    ]
    done, found = check(clocks)
    assert not found
    assert [(one.requester, one.port, one.write, one.address) for one in done] == [
        ("pio", "a", True, 8),
        ("dma", "b", True, 16),
        ("processor", "b", True, 8),
        ("send", "a", False, 8),
    ]
    send, byte = done[3], done[2]
    assert send.data == bytes(range(8)) and (send.start, send.end, send.waits) == (100, 102, 1)
    assert send.conflict and byte.conflict and not done[0].conflict, "both ports access one word, and one writes"
    assert byte.enabled == b"\xaa" and byte.enables == 1


def test_words_of_32_bits_have_four_bytes() -> None:
    done, found = check([Memory().clock([(PIO, write(4, 0x04030201, 0xF))])], width=32)
    assert done[0].data == b"\x01\x02\x03\x04" and not found


def test_a_read_returns_the_value_before_the_writes_of_its_clock_and_port_b_wins() -> None:
    memory = Memory()
    clocks = [memory.clock([(PIO, write(8, 1)), (DMA, write(8, 2))])]
    clocks += [memory.clock([(SEND, read(8)), (PROCESSOR, write(8, 3))]), memory.clock([(SEND, read(8))])]
    done, found = check([*clocks, memory.clock([])])
    assert [int.from_bytes(one.data, "little") for one in done if not one.write] == [2, 3] and not found


def wires(at: int, **changes: Any) -> list[SramSample]:
    """Return legal clocks, of which that with index `at` is changed."""
    memory = Memory()
    clocks = [
        memory.clock([(PIO, write(8, 1)), (RECEIVE, write(16, 2))], [SEND]),
        memory.clock([(SEND, read(8))]),
        memory.clock([]),
    ]
    clocks[at] = clocks[at]._replace(**changes)
    return clocks


BROKEN = [
    (0, {"requests": 1 << PIO | 1 << SEND}, 100, "grant of receive without a request"),
    (1, {"requests": 0, "granted": (0, 0), "ports": (None, None)}, 101, "request of send ends without a grant"),
    (0, {"granted": (0b1, 0), "ports": (write(8, 1), None)}, 100, "receive, send waits while the memory has a free"),
    (0, {"granted": (0b1, 1 << SEND)}, 100, "grant of send before receive"),
    (0, {"granted": (0b101, 0), "ports": (write(8, 1), None)}, 100, "port a serves pio, receive in one clock"),
    (0, {"granted": (0b1, 0)}, 100, "port b serves no requester in one clock"),
    (0, {"ports": (write(8, 1), None)}, 100, "grant on port b without an access"),
    (0, {"ports": (None, None)}, 100, "a grant without an access of its port"),
    (2, {"valid": 0}, 102, "send receives no data in the clock after its read"),
    (2, {"valid": 1 << PIO | 1 << SEND}, 102, "pio receives data without a read in the clock before"),
    (2, {"received": (5, 0)}, 102, "send receives other data than those of its port a"),
    (2, {"received": (5, 0), "read": (5, 0)}, 102, "word 0x8 is read as 0x5, but 0x1 was written"),
]


@pytest.mark.parametrize(("at", "changes", "clock", "rule"), BROKEN, ids=[rule for *_, rule in BROKEN])
def test_a_broken_rule_is_reported_with_its_clock(at: int, changes: dict[str, Any], clock: int, rule: str) -> None:
    assert not check(wires(2))[1]
    _, found = check(wires(at, **changes))
    assert [one for one in found if one[0] == clock and one[1].startswith(rule)], found


def test_a_memory_with_one_access_a_clock_has_one_port() -> None:
    _, found = check([Memory().clock([(PIO, write(8, 1)), (DMA, write(16, 1))])], accesses=1)
    assert found == [(100, "two accesses in a clock, but the memory has one")]


def test_requesters_of_one_rank_take_turns() -> None:
    memory = Memory()
    turns = [(PIO, DMA), (DMA, PIO), (PIO, DMA)]
    legal = [memory.clock([(first, write(8, 1))], [other]) for first, other in turns]
    assert not check(legal, accesses=1)[1]
    assert check([legal[0], legal[0]], accesses=1)[1] == [(101, "pio has two turns while dma waits")]


def test_memory_that_software_changes_is_not_compared_with_what_was_written() -> None:
    clocks = wires(2, received=(5, 0), read=(5, 0))
    assert not check(clocks, exact=False)[1]


def test_an_unknown_word_is_learned_from_a_read() -> None:
    memory = Memory({8: 9})
    clocks = [memory.clock([(SEND, read(8))]), memory.clock([(SEND, read(8))]), memory.clock([])]
    assert not check(clocks)[1]
    clocks[2] = clocks[2]._replace(received=(8, 0), read=(8, 0))
    assert check(clocks)[1] == [(102, "word 0x8 is read as 0x8, but 0x9 was written")]
