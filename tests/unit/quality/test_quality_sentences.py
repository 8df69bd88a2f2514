"""Rules about docstrings and comments: each violation is reported on its line, and similar correct text is accepted.

Strategy: one small source for each rule. `test_quality_rules` applies the rules to the tree.
"""

from __future__ import annotations

import pytest

from tb.quality import sentences


def _found(source: str) -> list[tuple[int, str]]:
    return list(sentences.violations(source))


@pytest.mark.parametrize(
    ("source", "line", "complaint"),
    [
        ('"""What is wrong."""', 1, "begins with 'What'"),
        ('class A:\n    """Its own state."""', 2, "begins with 'Its'"),
        ('X = 1\n"""Whether it is set."""', 2, "begins with 'Whether'"),
        ('def f():\n    """The bytes of a packet."""', 2, "docstring of a function begins with 'The'"),
        ('async def f():\n    """All the bytes."""', 2, "docstring of a function begins with 'All'"),
        ('"""Packets that nobody reads."""', 1, "'nobody'"),
        ('"""A host is told."""', 1, "'told'"),
        ('"""What is sent (paper 001, 6.5.1). Is it?"""', 1, "begins with 'What'"),
        ("x = 1  # whoever waits", 1, "'whoever'"),
        ("# the buffer stands behind", 1, "'stands'"),
        ("# where it stands.", 1, "'stands'"),
        (f'"""Send {"a word and " * 9}stop."""', 1, "sentence of 29 words"),
    ],
)
def test_violation_is_reported_on_its_line(source: str, line: int, complaint: str) -> None:
    ((at, text),) = _found(source)
    assert at == line and complaint in text


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Return the bytes of a packet."""',
        'class A:\n    """The buffers of a NIC."""',
        'class A:\n    @property\n    def f(self):\n        """The bytes of a packet."""',
        '"""GRIM stands for general-purpose reliable in-order messages."""',
        '"""Standard understanding."""',
        '"""Stand-in for a protocol."""',
        f'"""Send a message.\n\n    Args:\n        x: {"a word and " * 9}.\n"""',
        f'"""Send.\n\n- {"a word and " * 9}\n"""',
        'x = "nobody told it"',
        '"""What is the latency over LAPI (paper 001, 6.5.1)?"""',
        '"""Answer of `tb.ask.compare`, with the flag `ASKED`."""',
        'def f():\n    """Send a message.\n\n    Args:\n        tell: Function called at the end.\n    """',
    ],
)
def test_correct_text_is_accepted(source: str) -> None:
    assert _found(source) == []


def test_sentences_end_at_full_stops_and_colons() -> None:
    assert list(sentences.sentences("One. Two: three.\n\nFour; five!")) == ["One.", "Two:", "three.", "Four;", "five!"]
