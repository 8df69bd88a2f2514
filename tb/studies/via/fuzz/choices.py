"""Random options of a VIA program: values of each option that are valid together on its NICs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from firmware.via import options as of_via
from firmware.via.options import PRESETS
from tb.fuzz.draw import Draw, fit
from tb.fuzz.program import Value

Options = dict[str, Value]
BY_PROCESSES: Mapping[str, tuple[Value, ...]] = MappingProxyType(
    {
        "doorbell": ("d1_word", "d1_ring", "hw"),
        "descriptors": ("pio", "ahead", "dma", "prefetch"),
        "translation": ("at2", "at3", "flat"),
    }
)
BY_KERNEL: Mapping[str, Value] = MappingProxyType({"doorbell": "d2", "descriptors": "pio", "translation": "at1"})
OTHERS: Mapping[str, tuple[Value, ...]] = MappingProxyType(
    {
        "vis": (16, 9),
        "completion": ("cq1", "cq2"),
        "rdma": ("table",),
        "pages": ("vi",),
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
"""Values of each other option besides its default."""
OFTEN, SELDOM = 2, 6
OTHERS_OFTEN = ("vis", "completion", "rdma")
DEFAULTS: Mapping[str, Value] = MappingProxyType({"timeout_us": 100_000})
"""Defaults of a program; it posts more at once than a limit of 5 ms allows."""
TRIES = 20
"""Maximum number of attempts to draw options that are valid together."""
REFUSED: tuple[tuple[str, Value], ...] = (
    *(
        (name, value)
        for name, one in of_via.Options.declared().items()
        if not one.choices
        for value in (int(one.low) - 1, int(one.high) + 1, "many")
    ),
    ("send_words", 100),
    ("packet", 1001),
    ("packet", 1004),
    ("preset", "best"),
    ("speed", 1),
    ("pages", "none"),
    ("translation_ways", 3),
)
"""Invalid combinations of options."""


def options(draw: Draw, nodes: int, nic: str) -> Options:
    """Return random options that are valid on the NICs, occasionally an invalid one."""
    found: Options = dict(DEFAULTS)
    for _ in range(TRIES):
        drawn = _drawn(draw)
        if fit("via", drawn, nodes, nic):
            found = drawn
            break
    if draw.once_in(40):
        name, value = draw.one_of(REFUSED)
        found[name] = value
    return found


def _drawn(draw: Draw) -> Options:
    found: Options = {**DEFAULTS, **_way(draw)}
    for name, values in OTHERS.items():
        if draw.once_in(OFTEN if name in OTHERS_OFTEN else SELDOM):
            found[name] = draw.one_of(values)
    return found


def _way(draw: Draw) -> Options:
    """Return random options of doorbells, descriptors and translation: those of a preset, or others."""
    if draw.once_in(2):
        return {name: draw.one_of(values) for name, values in BY_PROCESSES.items()}
    if draw.once_in(8):
        return dict(BY_KERNEL)
    return {"preset": draw.one_of(tuple(PRESETS))}
