"""The rules about English and the width of pages that `make lint` reads.

Strategy: each phrase that is not used is found on its line, also where the line is broken within it, beside words that
only look alike. That the tree keeps the rules is in `test_quality_rules`.
"""

from __future__ import annotations

import pytest

from tb.quality import words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\nwho sends counts it up first", 2),
        ("it is asleep until\n# told", 1),
        ("who hears of\nit", 1),
        ("is dearer than", 1),
        ("The host is told of it.", 1),
        ("a\nb\nIn vain.", 3),
        ("STOP is not heeded", 1),
        ("an outlet of the switch", 1),
        ("at the begin of a run", 1),
        ("is reckoned", 1),
    ],
)
def test_a_rejected_phrase_is_reported_with_its_replacement(text: str, line: int) -> None:
    ((found, complaint),) = words.stumbles(text.replace("# ", ""))
    assert found == line and ": write " in complaint


@pytest.mark.parametrize("text", ["dma_dearer_from_B", "a letter, then letters or digits", "told of", "an earlier one"])
def test_similar_phrases_are_accepted(text: str) -> None:
    assert list(words.stumbles(text)) == []


def test_lines_of_pages_may_be_long_in_tables_and_code_only() -> None:
    long = "word " * 30
    assert [line for line, _ in words.too_wide(f"a\n{long}\n| {long} |\n```\n{long}\n```\n{long}\n")] == [2, 7]
    assert list(words.too_wide("x" * 130)) == [], "it cannot be broken"
