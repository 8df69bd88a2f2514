"""Circuits in Python without a simulator: results of the five circuits, clocks, and failures by name.

Strategy: random messages go through each circuit in Python and through its reference model, with the state carried from
message to message. Circuits with one mistake each must fail with their name, the cause, and the line.
"""

from __future__ import annotations

import re
from itertools import starmap
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodels.card import prototypes, slot
from pymodels.card.circuits import CIRCUITS
from pymodels.card.slot import SLOT_WORDS, CircuitError, Slot
from pymodels.card.trial import trial

MESSAGES = st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2, 0xFFFFFFFF]), st.binary(max_size=200)), max_size=12)


@pytest.mark.parametrize("name", CIRCUITS)
@given(messages=MESSAGES)
def test_circuits_in_python_have_the_results_of_their_models(name: str, messages: list[tuple[int, bytes]]) -> None:
    results = [answer.result for answer in trial(getattr(prototypes, name), messages)]
    assert results == list(starmap(CIRCUITS[name]().run, messages))


async def late(slot: Slot) -> None:
    """Charge as many clocks as the first argument says."""
    while True:
        header, words = await slot.receive()
        await slot.clocks(header.arguments[0])
        await slot.send(words)


def test_words_orders_and_charged_clocks_take_clocks() -> None:
    assert [answer.clocks for answer in trial(late, [b"", (7, b"abcd"), (0, bytes(4000))])] == [3, 10, 2001]


def test_words_are_padded_with_zeros_and_the_header_has_the_bytes() -> None:
    seen: list[Any] = []

    async def keep(slot: Slot) -> None:
        while True:
            header, words = await slot.receive()
            seen.append((header.arguments, header.size, header.payload, words.tolist()))
            await slot.send()

    trial(keep, [(5, b"abcde")])
    assert seen == [((5, 0, 0, 0), 5, b"abcde", [0x64636261, 0x65])]


@pytest.mark.parametrize(
    "data",
    [
        b"\x01\0\0\0\x02\0\0\0",
        bytearray(b"\x01\0\0\0\x02\0\0\0"),
        [1, 2],
        np.array([1, 2], "<u4"),
        np.array([1, 2], "<i4"),
    ],
)
def test_a_result_is_bytes_or_an_array_or_words(data: Any) -> None:
    async def give(slot: Slot) -> None:
        while True:
            await slot.receive()
            await slot.send(data)

    assert trial(give, [b""])[0].result == b"\x01\0\0\0\x02\0\0\0"


async def raises(slot: Slot) -> None:
    header, _ = await slot.receive()
    await slot.send([1 // header.size])


async def returns(slot: Slot) -> None:
    await slot.receive()
    await slot.send()


async def silent(slot: Slot) -> None:
    await slot.receive()
    await slot.receive()


async def first(slot: Slot) -> None:
    await slot.send()


async def twice(slot: Slot) -> None:
    await slot.receive()
    await slot.send()
    await slot.send()


async def large(slot: Slot) -> None:
    await slot.receive()
    await slot.send(bytes(101))


async def endless(slot: Slot) -> None:
    await slot.receive()
    while True:
        await slot.clocks(10)


async def negative(slot: Slot) -> None:
    await slot.receive()
    await slot.clocks(-1)


async def beyond(slot: Slot) -> None:
    await slot.receive()
    await slot.read(SLOT_WORDS - 1, 2)


async def early(slot: Slot) -> None:
    await slot.write(0, [1])


async def odd(slot: Slot) -> None:
    await slot.receive()
    await slot.write(0, b"abc")


async def text(slot: Slot) -> None:
    await slot.receive()
    await slot.send("abc")  # type: ignore[arg-type]


async def wide(slot: Slot) -> None:
    await slot.receive()
    await slot.send([1 << 32])


class Never:
    """Awaitable that nothing continues."""

    def __await__(self) -> Any:
        yield self


async def foreign(slot: Slot) -> None:
    await slot.receive()
    await Never()


FAILURES = {
    raises: "raised ZeroDivisionError: integer division or modulo by zero (test_prototypes.py:{line}); correct",
    returns: "has returned, so that no message is answered any more; loop for ever",
    silent: "asks for the next message without a result of message 1 (test_prototypes.py:{line}); a circuit answers",
    first: "sends without a message (test_prototypes.py:{line}); a circuit answers each message with one slot.send()",
    twice: "sends a second result of message 1 (test_prototypes.py:{line}); a circuit answers",
    large: "sends 101 bytes for message 1 (test_prototypes.py:{line}); a result has at most 100 bytes here",
    endless: "has no result of message 1 after 1000 clocks (test_prototypes.py:{line}); end its loop of slot.clocks()",
    negative: "charges -1 clocks (test_prototypes.py:{line}); give a whole number, 0 or more",
    beyond: "uses words 131071 to 131072 of the bank (test_prototypes.py:{line}); use words 0 to 131071",
    early: "uses the bank without a message (test_prototypes.py:{line}); use it after slot.receive()",
    odd: "writes 3 bytes to the bank (test_prototypes.py:{line}); give a multiple of 4",
    text: "sends or writes str: memoryview: a bytes-like object is required, not 'str' (test_prototypes.py:{line})",
    wide: "sends or writes list: ",
    foreign: "awaits Never, which never answers; await the verbs of its slot only",
}


@pytest.mark.parametrize("circuit", FAILURES, ids=lambda circuit: circuit.__name__)
def test_a_failing_circuit_is_named_with_its_line(circuit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "MOST_CLOCKS", 1000)
    with pytest.raises(CircuitError) as failed:
        trial(circuit, [b"", b""], most=100)
    told = re.sub(r"\.py:\d+", ".py:{line}", str(failed.value))
    assert told.startswith(f"circuit {circuit.__name__}: {FAILURES[circuit]}")
    if ".py:" in told:
        begin = circuit.__code__.co_firstlineno
        assert "give bytes, an array, or words from 0 to 0xffffffff" in told or circuit not in (text, wide)
        lines = [int(number) for number in re.findall(r"\.py:(\d+)", str(failed.value))]
        assert all(begin < number <= begin + 4 for number in lines), "a line of the circuit"
