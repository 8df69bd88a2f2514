"""Random choice of the fault of a seed: kind, place and time, drawn from the activity of the clean run."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tb.campaign.life import EVERY_US, WORD, Life
from tb.plan.faults import IN_C, IN_PYTHON, KINDS, OF_CARDS, Fault

NS = 1000
US = 1_000_000
SYMBOLS = (0x000, 0x003, 0x00C, 0x00F, 0x100, 0x1FF)
"""Characters that a stuck link shows: IDLE, GO, GAP, STOP, two data characters."""
LIVES_US = 10
"""Maximum time between the change of a word and its fault."""
BEFORE_NS = 200
"""Maximum time between the first character of a packet and the record of its head."""


def drawn(seed: int, life: Life, names: Sequence[str], only: Sequence[str] = (), in_c: bool = False) -> Fault:
    """Return the fault of a seed.

    Args:
        seed: Seed of the random choice.
        life: Activity of the clean run.
        names: Names of the hosts.
        only: Kinds of faults to draw from; empty: all kinds that need no card and apply to the firmware's language.
        in_c: True for firmware in C, False for Python.
    """
    rng = random.Random(f"fault {seed}")
    known = list(only) or [name for name in KINDS if name not in OF_CARDS | (IN_PYTHON if in_c else IN_C)]
    name = known[seed % len(known)]
    kind = KINDS[name]
    span = life.ended_ps - life.begun_ps
    at = life.begun_ps + int(rng.random() * span * 0.95)
    if kind.port:
        return _of_link(name, rng, life, at)
    node = rng.randrange(len(names))
    if name in ("sram", "memory"):
        words = (life.sram if name == "sram" else life.memory)[node]
        address, seen = rng.choice(words) if words else (0, at)
        at = max(seen + rng.randrange(-EVERY_US * US, LIVES_US * US), life.begun_ps)
        return Fault(name, names[node], at, address + rng.randrange(WORD), rng.randrange(8))
    if name in ("variable", "instruction"):
        return Fault(name, names[node], at, rng.randrange(1 << 20), _bit(name, rng))
    return Fault(name, names[node], at, rng.randrange(kind.number) if kind.number else 0)


def _bit(name: str, rng: random.Random) -> int:
    """Return a bit number: mostly a low bit of a variable, any bit of an instruction."""
    return rng.randrange(32) if name == "instruction" else min(int(rng.expovariate(0.2)), 31)


def _of_link(name: str, rng: random.Random, life: Life, at: int) -> Fault:
    port = rng.choice(sorted(life.packets))
    if name == "late":
        return Fault(name, port, at, rng.randrange(1, 51))
    if rng.random() < 0.75:  # while a packet passes, or shortly before
        head, tail = rng.choice(life.packets[port])
        at = max(rng.randrange(head - BEFORE_NS * NS, max(tail, head) + 1), life.begun_ps)
    if name == "flip":
        value = rng.choice([1 << rng.randrange(8), 1 << rng.randrange(8), 0x100, rng.randrange(1, 512)])
        return Fault(name, port, at, value)
    lasts = rng.choice([0, 50 * NS, 1 * US, 5 * US, 20 * US])
    if name == "drop":
        return Fault(name, port, at, for_ps=lasts)
    return Fault(name, port, at, rng.choice(SYMBOLS), for_ps=lasts or 50 * NS)
