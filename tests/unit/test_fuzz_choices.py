"""The fuzz of VIA draws every run-time option.

Strategy: over some hundred seeds, each word of an option, and each value that is asked for beside a default, must come
in a good part of the programs, and nearly all options must go together.
"""

from __future__ import annotations

from collections import Counter

from firmware.nic.via.options import OPTION_NAMES, WORDS, OptionError, Options
from tb.fuzz import trial
from tb.fuzz.layers.via.choices import OTHERS
from tb.fuzz.program import Value

SEEDS, LEAST, REFUSED_MOST = 300, 4, 30


def test_every_value_of_every_option_is_drawn_often() -> None:
    seen: Counter[tuple[str, Value]] = Counter()
    refused = 0
    for seed in range(SEEDS):
        program, _ = trial.drawn("via", seed)
        try:
            options = Options.of(program.options)
        except OptionError:
            refused += 1
            continue
        seen.update((name, getattr(options, name)) for name in OPTION_NAMES)
    wanted: set[tuple[str, Value]] = {(name, word) for name, words in WORDS.items() for word in words if word}
    wanted |= {(name, value) for name, values in OTHERS.items() for value in values}
    assert {choice for choice in wanted if seen[choice] < LEAST} == set()
    assert {name for name in OPTION_NAMES if len([value for at, value in seen if at == name]) < 2} == set()
    assert 0 < refused < REFUSED_MOST
