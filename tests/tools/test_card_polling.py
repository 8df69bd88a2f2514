"""Polling a word of a card on each binding of the host's verbs: detection of a change, interruptions, and rejected
calls.

Strategy: as `test_computing`, the same programs run on all bindings with equal times. Without a simulator, a read
occupies the CPU for as long as one of the machine and returns a word that the test changes. The machine's bus is tested
here, the RTL's in the system tests. The loop must end like one of single reads, wherever the change, interrupts and
signals occur.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.host import CardPollError, Process, ProtectionFault, Sig
from pymodels.machine import Machine, Timing
from tests.tools.hosts import BINDINGS, ENTRY, PATH, SIGNAL, SWITCH, Bound

READ = Timing().pio_read
STEP = READ + PATH
"""Duration of one turn of the loop, ps."""
PLACE, FULL = 0x100, 0x80000007
"""Address of the word on the card, and its new value."""


class Card:
    """Word polled by a process."""

    def __init__(self, binding: str, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bound = Bound(binding, library, monkeypatch)
        self.host, self.kernel = self.bound.host, self.bound.kernel
        self.start = self.kernel.now
        self.word = 0
        self.app: Process = self.host.process("app")
        self.va = self.app.map_nic(0) + PLACE
        self.host.pio_read = self._read

    async def _read(self, address: int) -> int:
        assert address == self.host.nic_base + PLACE
        if hasattr(self.host.cpu, "run"):
            await self.host.cpu.run(READ)
        else:
            await self.host._use(READ, "a PIO read")
        return self.word

    def becomes(self, at: int, word: int = FULL) -> None:
        """Change the word on the card, `at` ps after the start."""
        self.kernel.at(self.start + at, lambda: setattr(self, "word", word))

    def signal(self, at: int) -> None:
        """Send the process USR1 from the kernel, `at` ps after the start."""
        self.kernel.at(self.start + at, lambda: self.host.signal(self.app.number, Sig.USR1))

    async def single_reads(self) -> int:
        """Poll by a loop of single verbs."""
        return await single_reads(self.app, self.va, 0)


async def single_reads(app: Process, va: int, expect: int) -> int:
    """Poll by single verbs until the word differs from `expect`."""
    while True:
        word = await app.pio_read(va)
        await app.spend("look_flag")
        if word != expect:
            return word
        await app.give_way()


@pytest.fixture(name="card", params=BINDINGS)
def fixture_card(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Card:
    """Return a card in a host on each binding."""
    return Card(request.param, library, monkeypatch)


def test_a_change_is_seen_by_the_next_read_wherever_it_falls_in_a_turn(card: Card) -> None:
    delays = []

    async def program() -> None:
        for phase in range(1, STEP, STEP // 71):
            card.start, card.word = card.kernel.now, 0
            card.becomes(3 * STEP + phase)
            await card.app.poll_card(card.va, 0, "look_flag")
            ended = card.kernel.now - card.start
            assert ended == (4 if phase < READ else 5) * STEP
            delays.append(ended - (3 * STEP + phase))

    card.bound.ends(program())
    assert min(delays) > PATH and max(delays) <= STEP + PATH
    gaps = {b - a for a, b in zip(sorted(delays), sorted(delays)[1:], strict=False)}
    assert gaps == {STEP // 71}, "uniform over one turn"


def test_only_the_bits_of_the_mask_are_compared(card: Card) -> None:
    card.word = 0x5
    card.becomes(2 * STEP, 0x4)
    card.becomes(5 * STEP, 0x80000005)
    seen = []

    async def program() -> None:
        seen.append(await card.app.poll_card(card.va, 0x4, "look_flag", mask=0x80000004))

    assert card.bound.ends(program()) == [card.start + 6 * STEP]
    assert seen == [0x80000005]


def test_a_limit_ends_the_loop_at_the_end_of_a_turn(card: Card) -> None:
    seen = []

    async def program() -> None:
        seen.append(await card.app.poll_card(card.va, 0, "look_flag", timeout_ns=1 + 3 * STEP / 1000))
        seen.append(await card.app.poll_card(card.va, 7, "look_flag", timeout_ns=1))

    assert card.bound.ends(program()) == [card.start + 5 * STEP]
    assert seen == [0, 0]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    change=st.integers(0, 8 * STEP),
    routines=st.lists(st.tuples(st.integers(0, 8 * STEP), st.integers(1, 3)), max_size=4),
    signal=st.integers(0, 8 * STEP),
    beside=st.booleans(),
)
def test_poll_card_equals_single_reads_in_a_loop_on_all_bindings(
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: int,
    routines: list[tuple[int, int]],
    signal: int,
    beside: bool,
) -> None:
    found = []
    for binding in BINDINGS:
        for single in (False, True):
            card = Card(binding, library, monkeypatch)
            handled: list[int] = []

            async def handler(sig: Sig, card: Card = card, handled: list[int] = handled) -> None:
                await card.app.compute(3)
                handled.append(card.kernel.now - card.start)

            card.app.on_signal(Sig.USR1, handler)
            card.becomes(2 * change)
            for at, calls in routines:
                card.bound.routine(card.start + 2 * at, calls)
            card.signal(2 * signal)
            program = card.single_reads() if single else card.app.poll_card(card.va, 0, "look_flag")
            other = card.host.process("other").compute(2000)
            ends = card.bound.ends(program, other) if beside else (other.close(), card.bound.ends(program))[1]
            stretches = [(begin - card.start, end - card.start) for begin, end in card.bound.stretches()]
            found.append(([end - card.start for end in ends], handled, stretches, card.host.cpu_ps))
    assert all(one == found[0] for one in found)


class Quiet:
    """Hardware that sleeps between the reads, without other activity."""

    executes = False
    grid_ps = pattern = 1

    def __init__(self, card: Card) -> None:
        self._host, self._kernel = card.host, card.kernel
        self.computed = 0

    def quiet_until(self) -> int:
        return 0 if self._host.cpu.in_use else int(self._kernel.quiet_until())

    def mark(self) -> tuple[int, ...]:
        return ()

    def again(self, mark: tuple[int, ...], period_ps: int, times: int) -> int:
        self.computed += times
        return times


@pytest.mark.parametrize("binding", [name for name in BINDINGS if name != "machine"])
@pytest.mark.parametrize("change", [20 * STEP + 5, 31 * STEP - 1])
def test_computed_turns_end_as_executed_ones_do_beside_interrupts_and_signals(
    library: Path, monkeypatch: pytest.MonkeyPatch, binding: str, change: int
) -> None:
    found = []
    for computes in (False, True):
        card = Card(binding, library, monkeypatch)
        card.host.around = quiet = Quiet(card) if computes else None
        told: list[int] = []

        async def handler(sig: Sig, card: Card = card, told: list[int] = told) -> None:
            told.append(card.kernel.now - card.start)

        card.app.on_signal(Sig.USR1, handler)
        card.bound.routine(card.start + 7 * STEP + 301, 2)
        card.signal(12 * STEP + 77)
        card.becomes(change)
        ends = card.bound.ends(card.app.poll_card(card.va, 0, "look_flag"))
        found.append((ends[0] - card.start, told, card.host.cpu_ps))
        assert quiet is None or quiet.computed > 8
    assert found[0] == found[1]


@pytest.mark.parametrize("binding", [name for name in BINDINGS if name != "machine"])
def test_a_poll_that_cannot_end_reports_what_it_waits_for(
    library: Path, monkeypatch: pytest.MonkeyPatch, binding: str
) -> None:
    card = Card(binding, library, monkeypatch)
    card.host.around = Quiet(card)
    assert card.bound.ends(card.app.poll_card(card.va, 0, "look_flag")) == [0]
    word = f"waits for the word at {card.va:#x}, which it polls, to change from 0x0"
    assert any(word in line for line in card.kernel.waiting())


def test_interrupts_and_signals_are_served_between_two_reads(card: Card) -> None:
    told: list[int] = []

    async def handler(sig: Sig) -> None:
        told.append(card.kernel.now - card.start)

    card.app.on_signal(Sig.USR1, handler)
    card.bound.routine(card.start + 2 * STEP + 100)
    card.signal(3 * STEP + ENTRY + READ + 10)
    card.becomes(4 * STEP + ENTRY + SIGNAL + 10)
    assert card.bound.ends(card.app.poll_card(card.va, 0, "look_flag")) == [card.start + 5 * STEP + ENTRY + SIGNAL]
    assert told == [4 * STEP + ENTRY + SIGNAL]


def test_a_loop_gives_way_to_a_thread_that_is_ready(card: Card) -> None:
    card.becomes(10 * STEP)
    other = card.host.process("other")

    async def late() -> None:
        await card.host.sleep(STEP + 100)
        await other.compute(2000)

    assert card.bound.ends(card.app.poll_card(card.va, 0, "look_flag"), late())[1] == (
        card.start + 2 * STEP + SWITCH + 2_000_000
    )


def test_unpollable_addresses_are_rejected_by_process_page_and_call(card: Card) -> None:
    def refuses(error: type[Exception], said: str, va: int, **more: Any) -> None:
        with pytest.raises(error, match=f"^h: process app: {re.escape(said)}"):
            card.bound.ends(card.app.poll_card(va, 0, "look_flag", **more))

    nobody, memory = card.va + 4096, card.app.allocate(4096)
    call = f"poll_card({nobody:#x})"
    refuses(ProtectionFault, f"protection fault: {call} at {nobody:#x}: nothing is mapped there", nobody)
    call = f"poll_card({memory:#x})"
    refuses(ProtectionFault, f"protection fault: {call} at {memory:#x}: memory, not a device", memory)
    empty = SLOT + 5 * SLOT_BYTES
    beyond = card.app.map_device(empty)
    refuses(CardPollError, f"poll_card({beyond:#x}): no card answers at {empty:#x} of the bus", beyond)
    refuses(CardPollError, f"poll_card({card.va + 2:#x}): a card is read in whole words", card.va + 2)
    refuses(CardPollError, f"poll_card({card.va:#x}): mask 0x0 has no bit", card.va, mask=0)
    refuses(CardPollError, f"poll_card({card.va:#x}): a limit of -1 ns is negative", card.va, timeout_ns=-1)


def test_a_host_that_polls_without_an_answer_is_reported_with_address_and_call(card: Card) -> None:
    memory = re.escape("poll_card(0x4000): no card answers at 0x4000 of the bus")
    with pytest.raises(CardPollError, match=f"^host h: {memory}"):
        card.bound.ends(card.host.poll_card(0x4000, 0, "look_flag"))


def over_the_machines_bus(single: bool, busy: bool) -> list[int]:
    """Return the times at which a process of a machine detects the changes of a word of its NIC's memory."""
    machine = Machine(2, cost=lambda side, path: PATH)
    kernel, host, nic = machine.kernel, machine.host(0), machine.nic(0)
    app = host.process("app")
    va, seen = app.map_nic(0) + PLACE, list[int]()

    async def polls() -> None:
        for old in range(5):
            polling = single_reads(app, va, old) if single else app.poll_card(va, old, "look_flag")
            assert await polling == old + 1
            seen.append(kernel.now)

    def store() -> None:
        host.spawn(host.pio_write(host.nic_base + 2 * PLACE, bytes(32)), "stores")

    for number in range(1, 6):
        at = number * (5 * STEP + STEP // 5)
        kernel.at(at, partial(nic.store, PLACE, number))
        if busy:
            kernel.at(at - STEP // 2, store)
    machine.finish(polls())
    return seen


@pytest.mark.parametrize("busy", [False, True])
def test_poll_card_equals_single_reads_over_the_machines_bus(busy: bool) -> None:
    assert over_the_machines_bus(False, busy) == over_the_machines_bus(True, busy)
