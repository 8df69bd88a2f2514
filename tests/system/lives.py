"""Checks of the lives of all messages of a run.

Strategy: at the end of any study each message of the trace must have arrived, and its stages must add up to its
latency. Every packet must have a name: it carries a message, or answers one.
"""

from __future__ import annotations

from collections import Counter

from tb.report.life import Life
from tb.report.lives import lives_of
from tb.report.recorded import read_recorded
from tb.report.stages import stages_of
from tests.system.runs import Run


def whole_lives(done: Run, nameless: int = 0) -> list[Life]:
    """Check and return the lives of a run. `nameless`: number of packets without a message, such as NI notices at
    enable.
    """
    told = lives_of(read_recorded(done.folder))
    for life in told.lives:
        assert sum(stage.duration for stage in stages_of(life)) == life.latency, f"message {life.number}"
    answers = sum(len(piece.answers) for life in told.lives for piece in life.pieces)
    assert len(told.wire.packets) - len(told.piece_of) - answers == nameless
    return told.lives


def kinds(lives: list[Life]) -> Counter[str]:
    """Return the number of messages of each kind."""
    return Counter(life.kind for life in lives)
