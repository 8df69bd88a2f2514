"""Random programs for GRIM: options, faults, and the actions of each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from firmware.grim.options import Options
from tb.fuzz.draw import Draw, fit, nics
from tb.fuzz.program import Act, Program, Value
from tb.studies.grim.fuzz.foreign import SORTS
from tb.studies.grim.fuzz.in_c import with_c
from tb.studies.grim.fuzz.mail import LONGEST
from tb.studies.grim.fuzz.misplaced import KINDS as MISPLACED
from tb.studies.grim.fuzz.misuse import MISUSES

OPTIONS: Mapping[str, tuple[Value, ...]] = MappingProxyType(
    {
        "channels": (2, 3, 4, 8, 16, 32),
        "queue_bytes": (16384, 4096, 1024, 32768, 1 << 20),
        "segment_bytes": (256, 1024, 600, 64, 16384, 8),
        "window": (1, 2, 5, 30),
        "sequencing": ("per-ni",),
        "queue_style": ("slotted", "hybrid"),
        "buffering": ("both",),
        "hybrid_wait": (1,),
        "control_queue": (0,),
        "retry_delay_us": (0, 1, 100),
        "timeout_us": (300, 100, 1000, 30),
        "timeout_tries": (0, 30, 1000),
        "host_queue_bytes": (16384, 3000, 1024, 70000),
        "write_combine": (0,),
        "poll_first": (0,),
        "cut_through_bytes": (0, 64, 512, 1024),
        "cut_through_least": (64, 8, 2048),
        "sync_period_us": (10, 500),
        "pause_turns": (50, 5000),
        "sram_bytes": (1 << 20, 1 << 19, 1 << 18),
        "dma_inject": (1,),
        "doorbell_notify": (1,),
        "multicast_trees": (1, 2, 0, 8, 24),
        "search_timer": (1,),
        "translation_static": (1, 2),
        "translation_runtime": (1, 2),
        "reply_bytes": (0, 1024, 4096),
        "page_seed": (2,),
        "poll_thread": (1,),
        "poll_period_us": (10, 200),
        "overflow": (0,),
        "synchronisation": ("tree", "all"),
    }
)
"""Values of each option other than its default."""
TIGHT: tuple[Mapping[str, Value], ...] = (
    {"host_queue_bytes": 1024, "segment_bytes": 256},
    {"host_queue_bytes": 1024, "segment_bytes": 256, "buffering": "both"},
    {"queue_bytes": 1024, "segment_bytes": 256, "channels": 4},
    {"channels": 32, "sequencing": "per-ni"},
    {"reply_bytes": 0, "queue_bytes": 4096, "segment_bytes": 600},
    {"host_queue_bytes": 3000, "segment_bytes": 256, "poll_first": 0},
)
"""Options with little room for one resource."""
REFUSED: tuple[Mapping[str, Value], ...] = (
    {"channels": 32, "multicast_trees": 24, "queue_style": "slotted"},
    {"channels": 8, "segment_bytes": 8, "queue_bytes": 1 << 20, "doorbell_notify": 1},
    {"cut_through_least": 12},
    {"sram_bytes": 1 << 22},
)
"""Invalid options, or combinations."""
TRIES = 20
"""Number of attempts to draw compatible options."""
ASKED = (("MYRI", (4096, 20_000, 1 << 22, 16)), ("HOST", (4096, 70_000, 1 << 20, 16)))
"""Queue sizes that a configuration requests."""
SEGMENT = 4096
MOST_SEGMENTS = 12
LOSSY: Mapping[str, Value] = {"timeout_us": 300, "timeout_tries": 1000}
"""Options for networks with faults, which only the time-out extension repairs."""
CHECKED: dict[str, Value] = {"crc32": 1}
DOWN_OPTIONS: Mapping[str, Value] = {"timeout_us": 300, "timeout_tries": 4, "poll_thread": 0}
"""Options for programs in which a node goes down, which the time-out extension detects."""
NAMES = ("north", "south", "west")
"""Names of multicast trees."""
IN_C = 400
"""Number of programs of which one, on average, has NICs that execute the firmware in C, which takes a hundred times as
long.
"""
HANDLERS = ("take", "take", "answer", "pass", "slow", "write")


def program(draw: Draw) -> Program:
    """Draw a program for GRIM."""
    drawn = _program(draw)
    return with_c(draw, drawn) if draw.once_in(IN_C) else drawn


def program_in_c(draw: Draw) -> Program:
    """Draw a program in which some or all NICs execute the firmware in C."""
    return with_c(draw, _program(draw))


def _program(draw: Draw) -> Program:
    nodes = draw.whole(2, 6)
    nic = draw.one_of(nics("grim", 7))
    down = draw.once_in(8)
    disturbed = {} if down else faults(draw)
    chosen = options(draw, nodes, nic, LOSSY if disturbed else {}, DOWN_OPTIONS if down else {})
    asked = _asked(draw, nodes) if draw.once_in(20) else {}
    acts = draw.items(partial(act, nodes=nodes, options=chosen), 12, 25)
    if down:
        acts = _with_down(draw, acts, nodes)
    if draw.once_in(8) and fit("grim", chosen | CHECKED, nodes, nic):
        chosen |= CHECKED  # drawn last, so that the rest of the program does not depend on it
    return Program(nodes, nic, chosen, disturbed, tuple(acts), asked)


def options(
    draw: Draw, nodes: int, nic: str, under: Mapping[str, Value] = {}, over: Mapping[str, Value] = {}
) -> dict[str, Value]:
    """Draw options that are compatible on a kind of NIC, occasionally invalid ones.

    Args:
        draw: Source of random choices.
        nodes: Number of nodes.
        nic: Kind of NIC.
        under: Values of options that are not drawn.
        over: Values that replace drawn ones.
    """
    found: dict[str, Value] = {**under, **over}
    for _ in range(TRIES):
        drawn = {**under, **_drawn(draw), **over}
        if fit("grim", drawn, nodes, nic):
            found = drawn
            break
    if draw.once_in(40):
        found |= _out_of_range(draw)
    return found


def _drawn(draw: Draw) -> dict[str, Value]:
    seldom = draw.one_of((7, 7, 7, 7, 3))
    found = {name: draw.one_of(values) for name, values in OPTIONS.items() if draw.once_in(seldom)}
    if draw.once_in(5):
        found |= draw.one_of(TIGHT)
    return found


def _asked(draw: Draw, nodes: int) -> dict[str, Value]:
    """Draw the size of a queue that one node's configuration requests."""
    resource, sizes = draw.one_of(ASKED)
    return {"node": draw.whole(0, nodes - 1), "resource": resource, "bytes": draw.one_of(sizes)}


def _with_down(draw: Draw, acts: list[Act], nodes: int) -> list[Act]:
    """Let a node other than node 0, which keeps the names, go down between two actions and restart.

    Its tasks end with it, and it forgets its trees. So it has one task, and only the tree of all hosts is used.
    """
    down, at = draw.whole(1, nodes - 1), draw.whole(0, len(acts))
    before = Act(down, "go down", {"us": draw.whole(1, 3000), "forgets": int(draw.once_in(3))})
    kept = [act for act in [*acts[:at], before, *acts[at:]] if "name" not in act.values]
    return [replace(act, task=0) if act.node == down else act for act in kept]


def _out_of_range(draw: Draw) -> Mapping[str, Value]:
    if draw.once_in(5):
        return draw.one_of(REFUSED)
    known = Options.declared()
    name = draw.one_of(tuple(known))
    low, high = (1, 1) if known[name].choices else (int(known[name].low), int(known[name].high))
    wrong: tuple[Value, ...] = (low - 1, high + 1, "many")
    return {draw.one_of((name, name, "chanels")): draw.one_of(wrong)}


def faults(draw: Draw) -> dict[str, int]:
    """Draw the faults of the network."""
    if not draw.once_in(4):
        return {}
    found = {"seed": draw.whole(0, 999)}
    for name, most in (("loss", 100), ("damage", 100), ("reorder", 100), ("double", 100)):
        if draw.once_in(2):
            found[name] = draw.whole(1, most)
    return found


def act(draw: Draw, nodes: int, options: Mapping[str, Value]) -> Act:
    """Draw one action."""
    node = draw.whole(0, nodes - 1)
    name = draw.one_of(tuple(KINDS))
    kinds = KINDS[name]
    values: dict[str, Value] = {}
    for one in kinds:
        values[one] = value(draw, one, nodes, options)
    return Act(node, name, values, int(draw.once_in(6)))


def value(draw: Draw, name: str, nodes: int, options: Mapping[str, Value]) -> Value:
    """Draw a parameter of an action."""
    channels = _number(options, "channels", 1)
    if name == "to":
        return draw.whole(0, nodes - 1)
    if name in ("channel", "at"):
        return draw.whole(0, max(channels - 1, 0))
    if name == "mask":
        return draw.whole(1, (1 << max(min(channels, 8), 1)) - 1)
    if name in WORDS:
        return draw.one_of(WORDS[name])
    if name == "bytes":
        return _size(draw, _number(options, "segment_bytes", SEGMENT))
    low, high = NUMBERS[name]
    return draw.whole(low, high)


def _number(options: Mapping[str, Value], name: str, default: int) -> int:
    """Return the value of an option, or its default if the value is not a number."""
    value = options.get(name, default)
    return value if isinstance(value, int) else default


def _size(draw: Draw, segment: int) -> int:
    """Draw a size near the boundaries of segments and words."""
    size = draw.one_of((0, 4, 1, 7, 64, 300, segment, segment + 1, 3 * segment + 5, draw.whole(0, 9000)))
    return min(size, LONGEST, MOST_SEGMENTS * segment)


WORDS: Mapping[str, tuple[str, ...]] = {
    "handler": HANDLERS,
    "name": NAMES,
    "kind": ("contiguous", "scattered"),
    "what": tuple(MISUSES),
    "fault": ("nowhere", "beyond", "lock", "freed", "free", "free lock"),
    "sort": (*SORTS, *MISPLACED),
}
NUMBERS: Mapping[str, tuple[int, int]] = {
    "block": (0, 3),
    "offset": (0, 2500),
    "extra": (0, 300),
    "lock": (0, 1),
    "memory": (0, 1),
    "us": (1, 2000),
    "size": (1, 9000),
    "index": (0, 40),
    "rare": (0, 9),
}
_SEND = ("to", "at", "channel", "handler", "bytes", "extra", "memory")
_MOVE = ("to", "channel", "block", "offset", "bytes", "lock")
KINDS: Mapping[str, tuple[str, ...]] = {
    "send": _SEND,
    "send again": _SEND,
    "send more": _SEND,
    "burst": ("to", "at", "channel", "bytes"),
    "flood": ("to", "at", "channel", "rare"),
    "broadcast": ("handler", "bytes"),
    "broadcast many": ("bytes",),
    "find": ("name",),
    "subscribe": ("name", "mask"),
    "unsubscribe": ("name", "mask"),
    "send to tree": ("name", "handler", "bytes", "channel"),
    "send to absent": ("to", "channel", "bytes"),
    "allocate": ("kind", "size"),
    "free": ("block",),
    "write": _MOVE,
    "write more": _MOVE,
    "read": (*_MOVE, "index"),
    "read more": (*_MOVE, "index"),
    "write physical": _MOVE,
    "bad write": ("to", "channel", "block", "bytes", "fault"),
    "bad read": ("to", "channel", "block", "bytes", "fault"),
    "bad writes": ("to", "channel", "rare"),
    "read and free": _MOVE,
    "store": ("block", "offset", "bytes"),
    "await lock": ("index",),
    "misuse": ("what",),
    "stop": ("us",),
    "stand still": ("us",),
    "insert": ("to", "sort", "bytes"),
    "poll": (),
    "poll channel": ("channel",),
    "use NI memory": ("size", "offset"),
    "count": ("index",),
    "time search": ("index",),
}
"""Parameters of each action."""
