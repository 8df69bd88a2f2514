"""The reference model of go-back-N.

Strategy: streams run in random order, with a receiver that has room at random. They must deliver everything once and in
order, which the model checks itself (`complete`). Then the paper's example, Figure 4.3(c), is replayed step by step.
The model must reject what the protocol forbids.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.grim.model import ProtocolError, Stream, Verdict, play


@settings(max_examples=50)
@given(st.integers(0, 1 << 30), st.integers(1, 20), st.integers(1, 3), st.floats(0.2, 1.0))
def test_everything_is_delivered_in_any_schedule(seed: int, window: int, count: int, luck: float) -> None:
    rng = random.Random(seed)
    streams = [Stream(str(i), window) for i in range(count)]
    play(streams, 40, rng.randrange, lambda: rng.random() < luck)
    assert all(stream.complete for stream in streams)


def test_example_of_figure_4_3_c() -> None:
    stream = Stream("a to b", 127)
    for _ in range(3):
        stream.inject()
        stream.send()
    verdicts = [stream.arrive(True), stream.arrive(False), stream.arrive(False)]
    assert verdicts == [Verdict.ACCEPT, Verdict.REFUSE, Verdict.DROP]
    assert [stream.answer(), stream.answer()] == [(Verdict.ACCEPT, 0), (Verdict.REFUSE, 1)]
    assert not stream.answers
    assert [stream.send(), stream.send()] == [1, 2]


def test_model_rejects_a_message_out_of_order() -> None:
    stream = Stream("a to b", 2, injected=5)
    with pytest.raises(ProtocolError, match="^stream a to b: message 1 was sent, 0 is next$"):
        stream.send(1)


def test_model_rejects_more_messages_than_the_window() -> None:
    stream = Stream("a to b", 2, injected=5)
    stream.send()
    stream.send()
    with pytest.raises(ProtocolError, match="with 2 in flight"):
        stream.send()


def test_model_rejects_a_second_nack() -> None:
    stream = Stream("a to b", 9, injected=5)
    stream.send()
    stream.send()
    stream.arrive(False)
    with pytest.raises(ProtocolError, match="message 1 met refuse, allowed: drop"):
        stream.arrive(did=Verdict.REFUSE)


def test_model_rejects_a_duplicate() -> None:
    stream = Stream("a to b", 9, injected=5)
    stream.send()
    stream.arrive(True)
    stream.forward.append(0)
    with pytest.raises(ProtocolError, match="message 0 arrived, 1 is expected"):
        stream.arrive(did=Verdict.DROP)
