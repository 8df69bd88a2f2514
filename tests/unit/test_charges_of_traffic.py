"""Random traffic charges every compiled path, and as often as its packets ask for it.

Strategy: programs of the fuzz run on the machine, and what hosts and NICs charge is counted by path. Every path of a
layer must be charged by some program, but for those of which a list says what the fuzz lacks. Where the network neither
loses nor copies packets, counts at the two ends belong together: each header that is made is looked at once, each
acknowledgement that is sent is seen once. Both sides of such a pair are charged by other files of the firmware.
Programs with NICs that execute firmware in C are left out there: such a NIC charges nothing, its instructions take
their time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

from firmware.layers import has_program
from pymodels.costs import PathTable
from pymodels.machine.host import ModelHost
from pymodels.machine.processor import ModelProcessor
from tb.fuzz import trial

SEEDS = range(1, 401)
"""Programs are taken until they have charged every path."""
NETWORK = frozenset({"loss", "damage", "double", "reorder"})
"""Faults that lose, copy or delay packets."""
VERBS: Sequence[tuple[str, type, str, Callable[..., Iterator[str]]]] = (
    ("nic", ModelProcessor, "work", lambda path, *_: iter([path])),
    ("nic", ModelProcessor, "post", lambda path, *_: iter([path])),
    ("nic", ModelProcessor, "poll_loop", lambda watches: (watch.path for watch in watches)),
    ("host", ModelHost, "spend", lambda path, *_: iter([path])),
    ("host", ModelHost, "copy_memory", lambda path, *_: iter([path])),
    ("host", ModelHost, "poll", lambda watches, path, *_: iter([path])),
)
"""By side what charges paths, or makes a loop that does, and which."""
NOT_IN_THE_FUZZ: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("nic", "grim"): {
        "receive_for_card": "its clusters have no cards",
        "slotted_later_ni": "its retries under slotted queues and per-NI sequencing end before the NI comes again",
    },
    ("host", "grim"): {"filter_sample": "its clusters have no cards"},
    ("nic", "via"): {
        "keep_ahead": "few of its programs have user-level doorbells and read descriptors ahead",
        "take_ahead": "the same",
    },
}
"""Paths that random traffic does not charge, and why; the tours of `test_charges` do."""
LAYERS = [name for name in trial.names() if has_program(name)]
"""What a library alone charges is in the tours of `test_charges`."""
ENDS: Mapping[str, Sequence[tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "via": ((("send_packet", "user_packet", "answer"), ("receive_packet", "user_receive")),),
    "grim": (
        (("send_ack",), ("ack_seen", "slotted_ack", "hybrid_ack")),
        (("send_nack",), ("nack_seen",)),
    ),
}
"""By layer what is charged for what leaves, and for what arrives."""


@cache
def charged(layer: str) -> Mapping[int, Counter[tuple[str, str]]]:
    """By seed how often each side charges each path."""
    missing = {(side, path) for side in ("nic", "host") for path in PathTable.load(side, layer).paths}
    missing -= {(side, path) for side, of in NOT_IN_THE_FUZZ if of == layer for path in NOT_IN_THE_FUZZ[side, of]}
    counts: dict[int, Counter[tuple[str, str]]] = {}
    for seed in SEEDS:
        counts[seed] = charged_by(layer, seed)
        missing -= counts[seed].keys()
        if not missing:
            break
    return counts


def charged_by(layer: str, seed: int) -> Counter[tuple[str, str]]:
    """What one program charges."""
    counts: Counter[tuple[str, str]] = Counter()

    def noting(side: str, verb: Any, paths: Callable[..., Iterator[str]]) -> Any:
        def noted(who: Any, *arguments: Any, **named: Any) -> Any:
            counts.update((side, path) for path in paths(*arguments))
            return verb(who, *arguments, **named)

        return noted

    with ExitStack() as patches:
        for side, owner, verb, paths in VERBS:
            patches.enter_context(patch.object(owner, verb, noting(side, getattr(owner, verb), paths)))
        trial.on_machine(layer, trial.drawn(layer, seed)[0])
    return counts


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("side", ["nic", "host"])
def test_random_traffic_charges_every_path(side: str, layer: str) -> None:
    seen = {path for counts in charged(layer).values() for (where, path) in counts if where == side}
    assert set(PathTable.load(side, layer).paths) - seen <= NOT_IN_THE_FUZZ.get((side, layer), {}).keys()


@pytest.mark.parametrize("layer", LAYERS)
def test_what_leaves_is_charged_as_often_as_what_arrives(layer: str) -> None:
    programs = {seed: trial.drawn(layer, seed)[0] for seed in charged(layer)}
    whole = [
        seed
        for seed, program in programs.items()
        if not NETWORK & program.faults.keys()
        and all(act.name != "go down" for act in program.acts)
        and not program.in_c
    ]
    for out, back in ENDS[layer]:
        left, came = (
            [sum(charged(layer)[seed]["nic", path] for path in paths) for seed in whole] for paths in (out, back)
        )
        assert [(seed, a, b) for seed, a, b in zip(whole, left, came, strict=True) if a != b] == []
        assert sum(left) > 20, "the programs say nothing of it"
