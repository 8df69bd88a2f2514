"""The reference model of go-back-N on wires that lose packets.

Strategy: several streams run in random order, with packets lost and time-outs at any time. Every message must be
delivered once and in order, which the model checks itself (`complete`). Then single losses are replayed step by step,
and the model must reject what the protocol forbids.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.grim.loss_model import LossyStream, play
from tests.unit.grim.model import ProtocolError, Verdict

ACCEPT, REFUSE, DROP, DUPLICATE = Verdict.ACCEPT, Verdict.REFUSE, Verdict.DROP, Verdict.DUPLICATE


def sent(count: int, window: int = 127) -> LossyStream:
    """Return a stream whose first messages are in flight."""
    stream = LossyStream("a to b", window, injected=count)
    for _ in range(count):
        stream.send()
    return stream


@settings(max_examples=50)
@given(
    st.integers(0, 1 << 30), st.integers(1, 20), st.integers(1, 3), st.floats(0.2, 1.0), st.sampled_from([0, 0.1, 0.5])
)
def test_everything_is_delivered_under_any_loss(seed: int, window: int, count: int, luck: float, loss: float) -> None:
    rng = random.Random(seed)
    streams = [LossyStream(str(i), window) for i in range(count)]
    play(streams, 40, rng.randrange, lambda: rng.random() < luck, lambda: rng.random() < loss)
    assert all(stream.complete for stream in streams)
    assert all(stream.verdicts[ACCEPT] == 40 for stream in streams)


def test_lost_message_rolls_back_the_sender() -> None:
    stream = sent(3)
    stream.forward.popleft()
    assert [stream.arrive(), stream.arrive()] == [DROP, DROP]
    assert stream.expire() == 0
    assert [stream.send() for _ in range(3)] == [0, 1, 2]
    assert [stream.arrive() for _ in range(3)] == [ACCEPT] * 3


def test_lost_answer_is_repeated_and_only_unanswered_messages_are_retransmitted() -> None:
    stream = sent(3)
    assert [stream.arrive() for _ in range(3)] == [ACCEPT] * 3
    stream.answers.popleft()
    assert [stream.answer(), stream.answer()] == [(ACCEPT, 1), (ACCEPT, 2)]
    assert (stream.base, stream.expire()) == (0, 0)
    assert stream.send() == 0
    assert not stream.may_send()
    assert stream.arrive() is DUPLICATE
    assert stream.answer() == (ACCEPT, 0)
    assert stream.complete


def test_lost_nack_is_repeated_when_the_message_returns() -> None:
    stream = sent(2)
    assert [stream.arrive(False), stream.arrive(True)] == [REFUSE, DROP]
    stream.answers.clear()
    stream.expire()
    stream.send()
    assert stream.arrive(False) is REFUSE
    assert stream.answer() == (REFUSE, 0)
    assert stream.next == 0


def test_late_answer_has_no_effect() -> None:
    stream = sent(1)
    stream.arrive(False)
    stream.expire()
    stream.send()
    stream.arrive(True)
    assert stream.answer((ACCEPT, 0)) == (ACCEPT, 0)
    assert stream.complete
    stream.answers.append((REFUSE, 0))
    stream.answer()
    assert stream.complete


def test_window_counts_from_the_oldest_unanswered_message() -> None:
    stream = LossyStream("a to b", 2, injected=5)
    stream.send()
    stream.send()
    stream.arrive()
    stream.arrive()
    stream.answers.popleft()
    stream.answer()
    with pytest.raises(ProtocolError, match="message 2 was sent, 0 is without an answer, window 2"):
        stream.send()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda s: s.send(3), "message 3 was sent, 2 is next"),
        (lambda s: s.expire(1), "a time-out took the sender back to 1, 0 is the oldest"),
        (lambda s: s.arrive(number=5), "message 5 arrived, and is not on its way"),
        (lambda s: s.arrive(did=DROP), "message 0 met drop, 0 is expected, allowed: accept, refuse"),
        (lambda s: s.arrive(number=1, did=ACCEPT), "message 1 met accept, 0 is expected, allowed: drop"),
        (lambda s: s.answer((ACCEPT, 0)), "is not on its way"),
    ],
)
def test_model_rejects_protocol_violations(wrong: object, said: str) -> None:
    stream = sent(2)
    stream.injected = 4
    with pytest.raises(ProtocolError, match=f"^stream a to b: .*{said}"):
        wrong(stream)  # type: ignore[operator]


def test_timeout_of_a_message_that_waits_for_the_link_has_no_effect() -> None:
    stream = LossyStream("a to b", 2, injected=1)
    assert stream.expire() == stream.next == 0


def test_model_rejects_a_timeout_when_all_is_answered() -> None:
    with pytest.raises(ProtocolError, match="a time-out, and all 0 messages are answered"):
        LossyStream("a to b", 2).expire()
