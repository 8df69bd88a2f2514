"""What is drawn for VIA: options, faults, connections, and what happens on each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from firmware.nic.via.options import RANGES
from tb.fuzz.draw import Draw
from tb.fuzz.program import Act, Program, Value

OPTIONS: Mapping[str, tuple[Value, ...]] = MappingProxyType(
    {
        "preset": ("bvia1", "bvia2", "hwvia"),
        "doorbell": ("d1_word", "d1_ring", "hw", "d2"),
        "descriptors": ("ahead", "dma", "prefetch", "pio"),
        "translation": ("at2", "at3", "flat", "at1"),
        "completion": ("cq1", "cq2"),
        "pages": ("vi",),
        "rdma": ("table",),
        "vis": (16, 9),
        "processes": (4, 2),
        "packet": (64, 256, 4096, 1000),
        "inline": (0, 64, 4),
        "outstanding": (2, 8),
        "transfer": (20_000, 4096),
        "send_words": (64, 256),
        "receive_words": (64, 512),
        "low_water": (0, 1, 16),
        "regions": (32,),
        "translation_entries": (1, 4, 64),
        "translation_ways": (2, 4),
        "table_words": (1024, 256),
        "write_combine": (1,),
        "queues": (16, 6),
        "timeout_us": (0, 20_000),
        "connect_us": (50, 1000),
        "page_seed": (2,),
    }
)
"""What each option is set to beside its default."""
OFTEN = ("preset", "completion", "rdma")
DEFAULTS: Mapping[str, Value] = {"timeout_us": 100_000}
"""A program posts more at once than a limit of 5 ms allows for."""
LEVELS = ("unreliable", "delivery", "reception")
LINKS = 4
KINDS: Mapping[str, tuple[str, ...]] = {
    "message": ("side", "bytes", "pieces", "parts", "extra", "immediate"),
    "message too": ("side", "bytes", "pieces", "parts", "extra", "immediate"),
    "messages": ("side", "bytes", "times"),
    "burst": ("side", "bytes", "many"),
    "long message": ("side", "kilobytes", "cuts"),
    "write": ("side", "bytes", "pieces", "immediate"),
    "read": ("side", "bytes", "pieces"),
    "wrong": ("side", "what"),
    "take": ("side", "how"),
    "receive nothing": ("side", "bytes"),
    "too long": ("side", "bytes"),
    "forbidden": ("side", "bytes", "operation", "memory"),
    "renew": ("side", "role", "load"),
    "remake": ("side", "role", "load"),
    "register": ("side", "bytes"),
    "misuse": ("side", "misuse"),
    "garbage": ("side", "seed", "times"),
    "garbage too": ("side", "seed", "times"),
    "stop": ("us",),
}
"""What an act draws, by its name."""
WRONGS = ("no handle", "beyond", "before", "around", "flags", "no target", "segments", "too much", "foreign handle")
MISUSES = (
    "nowhere",
    "itself",
    "other tag",
    "connecting twice",
    "destroying too early",
    "no memory",
    "foreign memory",
    "memory in use",
    "no queue",
    "queue in use",
    "nothing posted",
    "misaligned",
    "nobody asks",
)
WORDS: Mapping[str, tuple[str, ...]] = {
    "what": WRONGS,
    "misuse": MISUSES,
    "how": ("done", "poll", "wait"),
    "operation": ("write", "read"),
    "memory": ("closed", "beyond", "foreign", "nothing"),
    "role": ("client", "server", "peer"),
}
NUMBERS: Mapping[str, tuple[int, int]] = {
    "side": (0, 1),
    "pieces": (1, 4),
    "parts": (1, 4),
    "extra": (0, 100),
    "immediate": (0, 1),
    "times": (2, 12),
    "many": (8, 40),
    "kilobytes": (10, 60),
    "cuts": (1, 12),
    "load": (0, 3),
    "us": (1, 300),
    "seed": (0, 9999),
}


def program(draw: Draw) -> Program:
    """A program for VIA. Its first acts say which connections there are; the node of a later act is its connection."""
    nodes = draw.whole(2, 4)
    nic = draw.one_of(("lanai9", "lanai9", "lanai9", "lanai9", "lanai4", "sp"))
    options = dict(DEFAULTS)
    for name, values in OPTIONS.items():
        if draw.once_in(3 if name in OFTEN else 9):
            options[name] = draw.one_of(values)
    if draw.once_in(40):
        name = draw.one_of(tuple(RANGES))
        wrong: tuple[Value, ...] = (RANGES[name][0] - 1, RANGES[name][1] + 1, "many")
        options[name] = draw.one_of(wrong)
    faults = _faults(draw)
    hostile = draw.once_in(4)
    links = [_link(draw, nodes, number, hostile) for number in range(draw.whole(1, LINKS))]
    acts = draw.items(partial(_act, links=len(links)), 12, 25)
    return Program(nodes, nic, options, faults, (*links, *acts))


def _faults(draw: Draw) -> dict[str, int]:
    if not draw.once_in(4):
        return {}
    faults = {"seed": draw.whole(0, 999)}
    for name in ("loss", "damage", "reorder", "double"):
        if draw.once_in(2):
            faults[name] = draw.whole(1, 60)
    return faults


def _link(draw: Draw, nodes: int, number: int, hostile: bool) -> Act:
    """A connection: its two nodes, their processes, its level, who is client, and what has completion queues. Where
    some are hostile, those are of the second processes, and the others of the first.
    """
    bad = int(hostile and (number == 0 or draw.once_in(3)))
    first = draw.whole(0, nodes - 1)
    values: dict[str, Value] = {
        "first": first,
        "second": (first + draw.whole(1, nodes - 1)) % nodes,
        "process": bad if hostile else draw.whole(0, 1),
        "hostile": bad,
        "level": draw.one_of(LEVELS),
        "role": draw.one_of(WORDS["role"]),
        "queues": draw.whole(0, 15),
        "most": draw.one_of((0, 4096)),
    }
    return Act(number, "connection", values, who="link")


def _act(draw: Draw, links: int) -> Act:
    link = draw.whole(0, links - 1)
    name = draw.one_of(tuple(KINDS))
    return Act(link, name, {value: _value(draw, value) for value in KINDS[name]}, who="link")


def _value(draw: Draw, name: str) -> Value:
    if name in WORDS:
        return draw.one_of(WORDS[name])
    if name == "bytes":
        return draw.one_of((64, 0, 1, 4, 8, 9, 1000, 4096, 5000, draw.whole(0, 9000)))
    low, high = NUMBERS[name]
    return draw.whole(low, high)
