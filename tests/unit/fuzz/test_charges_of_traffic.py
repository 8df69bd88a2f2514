"""Charges of random traffic: every compiled path is charged, as often as its packets require.

Strategy: the first programs of the fuzz tests run on the machine, and charges of hosts and NICs are counted by path.
Some program must charge every path of a layer, except for a list of features that the fuzz test lacks. In a network
without losses and copies, counts at both ends match. Each created header is read once, and each sent ACK is processed
once, or found to belong to no message in flight. Different files of the firmware charge the two sides of such a pair.
Programs with firmware in C are left out, since its instructions take their own time. The same runs check the programs'
reference models; `test_fuzz_programs` runs the further seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest

from firmware.layers import has_program
from pymodels.costs import PathTable
from pymodels.machine.host import ModelHost
from pymodels.machine.processor import ModelProcessor
from tb.fuzz import trial
from tb.fuzz.program import Program
from tests.unit.fuzz.fuzzed import COUNTED, wrong

NETWORK = frozenset({"loss", "damage", "double", "reorder"})
"""Faults that lose, copy or delay packets."""
WAITS = frozenset({"control_queue", "hybrid_wait"})
"""Options of GRIM with which NIs may wait for each other for ever, whatever is on its way then."""
VERBS: Sequence[tuple[str, type, str, Callable[..., Iterator[str]]]] = (
    ("nic", ModelProcessor, "work", lambda path, *_: iter([path])),
    ("nic", ModelProcessor, "post", lambda path, *_: iter([path])),
    ("nic", ModelProcessor, "poll_loop", lambda watches: (watch.path for watch in watches)),
    ("host", ModelHost, "spend", lambda path, *_: iter([path])),
    ("host", ModelHost, "copy_memory", lambda path, *_: iter([path])),
    ("host", ModelHost, "poll", lambda watches, path, *_: iter([path])),
)
"""Functions of each side that charge paths or create a loop that does."""
NOT_IN_THE_FUZZ: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("nic", "am"): {"am_bad": "its networks damage nothing, which AM does not repair"},
    ("nic", "epos"): {"epos_foreign": "its nodes are of one composition", "epos_greeting": "its nodes do not meet"},
    ("host", "am2"): {"am2_lookup": "it asks no names"},
    ("host", "epos"): {
        "epos_dispatch": "it has no communicators",
        "epos_link_take": "the same",
        "epos_port_header": "the same",
        "epos_port_take": "the same",
        "epos_stream_part": "the same",
        "epos_stream_read": "the same",
        "epos_greet": "its nodes do not meet",
        "epos_greeted": "the same",
    },
    ("nic", "grim"): {
        "receive_for_card": "its clusters have no cards",
        "card_segment": "the same",
        "card_held": "the same",
        "card_look": "the same",
        "card_lost": "the same",
        "remote_card": "the same",
        "translate_window": "the same",
        "slotted_later_ni": "its retries under slotted queues and per-NI sequencing end before the NI comes again",
    },
    ("nic", "hal"): {"hal_bad": "its networks damage nothing"},
    ("nic", "udp"): {"udp_full": "its hosts take frames before a NIC has no buffer; see its tour of charged paths"},
    ("host", "grim"): {"filter_sample": "its clusters have no cards", "write_window": "the same"},
    ("nic", "via"): {
        "keep_ahead": "few of its programs have user-level doorbells and read descriptors ahead",
        "take_ahead": "the same",
    },
}
"""Paths that random traffic does not charge, and why; the tours of `test_charges` do."""
LAYERS = [name for name in trial.names() if has_program(name)]
"""Layers with firmware; charges of a library alone are in the tours of `test_charges`."""
ENDS: Mapping[str, Sequence[tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "am": ((("am_launch",), ("am_arrived",)), (("am_launch_payload",), ("am_payload",))),
    "via": ((("send_packet", "user_packet", "answer"), ("receive_packet", "user_receive")),),
    "grim": (
        (("send_ack",), ("ack_seen", "slotted_ack", "hybrid_ack")),
        (("send_nack",), ("nack_seen",)),
    ),
}
"""Paths of each layer for sent and for received packets. The last packets of HAL may be in flight at the end."""
UNASKED = "answer_strange"
"""Paths that GRIM charges for the ACK of an acknowledged message, such as a copy sent after a time-out."""


Charges = Counter[tuple[str, str]]
"""Number of charges of each path by each side."""


def charged_by(layer: str, seed: int, program: Program) -> tuple[str, Charges]:
    """Return the failure of a program, and its charges."""
    counts: Charges = Counter()

    def noting(side: str, verb: Any, paths: Callable[..., Iterator[str]]) -> Any:
        def noted(who: Any, *arguments: Any, **named: Any) -> Any:
            counts.update((side, path) for path in paths(*arguments))
            return verb(who, *arguments, **named)

        return noted

    with ExitStack() as patches:
        for side, owner, verb, paths in VERBS:
            patches.enter_context(patch.object(owner, verb, noting(side, getattr(owner, verb), paths)))
        return wrong(layer, seed, program), counts


def uncharged(layer: str, side: str, charges: Sequence[Charges]) -> set[str]:
    """Paths of a side that no program charges."""
    seen = {path for counts in charges for (where, path) in counts if where == side}
    return set(PathTable.load(side, layer).paths) - seen


def is_whole(program: Program) -> bool:
    """Return True if all packets arrive, and the NICs charge paths."""
    stays = all(act.name != "go down" for act in program.acts)
    ends = stays and not WAITS & program.options.keys()
    return ends and not NETWORK & program.faults.keys() and not program.in_c


def passed(counts: Charges, paths: tuple[str, ...]) -> int:
    """Return the number of charges of these paths by a program's NICs."""
    return sum(counts["nic", path] for path in paths)


@pytest.mark.parametrize("layer", LAYERS)
def test_random_traffic_charges_every_path_and_departures_as_often_as_arrivals(layer: str) -> None:
    programs = [trial.drawn(layer, seed)[0] for seed in range(COUNTED[layer])]
    ran = [charged_by(layer, seed, program) for seed, program in enumerate(programs)]
    told = "\n\n".join(words for words, _ in ran if words)
    assert not told, told
    charges = [counts for _, counts in ran]
    for side in ("nic", "host"):
        assert uncharged(layer, side, charges) <= NOT_IN_THE_FUZZ.get((side, layer), {}).keys()
    whole = [counts for program, counts in zip(programs, charges, strict=True) if is_whole(program)]
    for counts in whole:
        gone = [passed(counts, out) - passed(counts, back) for out, back in ENDS.get(layer, ())]
        assert all(one >= 0 for one in gone) and sum(gone) <= counts["nic", UNASKED], (gone, counts)
    for out, _ in ENDS.get(layer, ()):
        assert sum(passed(counts, out) for counts in whole) > 20, "absent from the programs"
