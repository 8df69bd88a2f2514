"""Run-time options drawn by the fuzz tests of GRIM and VIA.

Strategy: programs are drawn from the seeds of which the tests run some. Each word of an option, and each further value,
must occur in some programs with valid combinations of options. Nearly all programs must have such combinations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from firmware.grim import options as of_grim
from firmware.via import options as of_via
from tb.fuzz import trial
from tb.fuzz.draw import fit
from tb.fuzz.program import Value
from tb.studies.grim.fuzz.acts import OPTIONS
from tb.studies.via.fuzz.choices import OTHERS
from tests.unit.fuzz.fuzzed import OF

LEAST, REFUSED_MOST = 4, 0.05
DRAWN: Mapping[str, tuple[Any, Mapping[str, tuple[Value, ...]]]] = {"grim": (of_grim, OPTIONS), "via": (of_via, OTHERS)}
"""Options of each layer, and their values in addition to the defaults."""
OF_CARDS = {"card_hold_us", "card_queue_bytes"}
"""Drawn where there are cards alone (`tb/studies/cards/fuzz`)."""


@pytest.mark.parametrize("layer", DRAWN)
def test_every_value_of_every_option_is_drawn_often(layer: str) -> None:
    of_layer, others = DRAWN[layer]
    seen: Counter[tuple[str, Value]] = Counter()
    programs = [trial.drawn(layer, seed)[0] for seed in range(OF[layer])]
    taken = [one for one in programs if fit(layer, one.options, one.nodes, one.nic)]
    for program in taken:
        options = of_layer.Options.from_values(program.options)
        seen.update((name, getattr(options, name)) for name in of_layer.Options.declared())
    wanted = {(name, word) for name, one in of_layer.Options.declared().items() for word in one.choices if word}
    wanted |= {(name, value) for name, values in others.items() for value in values}
    assert {choice for choice in wanted if seen[choice] < LEAST} == set()
    values = Counter(name for name, _ in seen)
    assert {name for name in of_layer.Options.declared() if values[name] < 2} <= OF_CARDS
    assert 0 < len(programs) - len(taken) < REFUSED_MOST * len(programs)
