"""Clocks of the compiled paths on the LANai core, for comparison with their charges: `executed.toml` of a layer.

Every path is compiled at three levels of optimisation. Its counted instructions are passed to the clock model of the
core (`pymodels.lanai.clocks`). Their addresses are those in the compiler's output without the frame of the C function.
They therefore stall for loads, and for fetches after jumps and SRAM accesses. The SRAM has no other master. Execution
enters a path from code before it; a path that ends with a jump back is measured in its fourth turn. It is measured at
both halves of a 64-bit word, and the least and the most clocks are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pymodels import generated
from pymodels.costs.assembly import CostError, Function, Instruction, Mark
from pymodels.costs.compositions import key
from pymodels.costs.sources import check
from pymodels.costs.targets import LANAI, Target
from pymodels.costs.walk import HAND_OVER, Passed, PathCost, Walk
from pymodels.errors import nearest
from pymodels.lanai.chips import LANAI4, LANAI9
from pymodels.lanai.clocks import Clocks, Executed, Pace
from pymodels.roots import place

TABLE = "executed.toml"
"""Name of the table; its text is in `generated.bz2`."""
LEVELS = ("-O1", "-O2", "-Os")
PACES = {chip.name.replace(" ", "").lower(): Pace(chip.load_delay, chip.word_bytes) for chip in (LANAI4, LANAI9)}
"""Timing parameters by chip, equal to those of its profile."""
BASE = 0x1000
"""Start address of a path; the second one is 4 bytes higher."""
AHEAD, TURNS = 8, 4
"""Number of instructions before a path, and number of turns of a loop."""


@dataclass(frozen=True)
class Taken:
    """Count of a path, and its least and most clocks by chip."""

    cost: PathCost
    by_verb: int
    """Number of instructions that belong to verbs, which charge their clocks."""
    clocks: dict[str, tuple[int, int]]


def at_level(target: Target, level: str) -> Target:
    """Return the processor with another level of optimisation."""
    flags = tuple(level if flag.startswith("-O") else flag for flag in target.flags)
    return replace(target, flags=flags)


def taken(function: Function, where: str, target: Target) -> Taken:
    """Return count and clocks of a path. Raises CostError for a path that cannot be counted."""
    walker = Walk(function, where)
    cost = walker.run(target.delays)
    stream, loops = _stream(function, walker.path)
    clocks = {chip: _range(stream, loops, pace) for chip, pace in PACES.items()}
    by_verb = sum(one.by_verb for one in walker.path)
    return Taken(cost, by_verb, clocks)


def _sizes(function: Function) -> Iterator[int]:
    """Yield the size in bytes of each item of an inlined path: the frame is removed, except in a delay slot."""
    slots = 0
    for item in function.items:
        if isinstance(item, Instruction):
            yield 0 if item.frame and not slots else 4
            slots = slots - 1 if slots else 0 if item.frame else item.delay_slots
        else:
            again = isinstance(item, Mark) and item.word == "again"
            yield 8 if again else 4 if isinstance(item, Mark) and item.word in HAND_OVER else 0


def _stream(function: Function, path: Sequence[Passed]) -> tuple[list[Executed], bool]:
    """Return the instructions of a path at their addresses, and True if it jumps back at its end.

    An instruction is a jump if the instruction after its delay slot is not the next in memory.
    """
    places, at = [], 0
    for size in _sizes(function):
        places.append(at)
        at += size
    loops = any(isinstance(function.items[one.item], Mark) and not one.by_verb for one in path)
    addresses = [places[one.item] for one in path]
    for number in range(1, len(path)):
        if path[number].item == path[number - 1].item:  # delay slot of a jump back
            addresses[number] += 4
    goes_on = [*addresses, *([addresses[0]] if loops else []), None, None]
    stream = []
    for number, (one, pc) in enumerate(zip(path, addresses, strict=True)):
        slot, then = goes_on[number + 1], goes_on[number + 2]
        target = then if then is not None and slot is not None and then != slot + 4 else None
        stream.append(Executed(pc, one.uses, one.brings or None, one.way, target))
    return stream, loops


def _range(stream: Sequence[Executed], loops: bool, pace: Pace) -> tuple[int, int]:
    """Return the least and the most clocks over the alignments of the path."""
    found = [_clocks(stream, loops, pace, BASE + offset) for offset in range(0, pace.word_bytes, 4)]
    return min(found), max(found)


def _clocks(stream: Sequence[Executed], loops: bool, pace: Pace, base: int) -> int:
    """Return the clocks of a path at a start address."""
    before = [Executed(base + stream[0].pc - 4 * ahead) for ahead in range(AHEAD, 0, -1)]
    turn = [_moved(one, base) for one in stream]
    clocks = Clocks(pace, before[0].pc)
    for one in (*before, *(turn * (TURNS - 1) if loops else [])):
        clocks.execute(one)
    begun = clocks.now
    for one in turn:
        clocks.execute(one)
    return clocks.now - begun


def _moved(one: Executed, by: int) -> Executed:
    """Return an instruction moved by an offset."""
    return one._replace(pc=one.pc + by, target=None if one.target is None else one.target + by)


def load(layer: str, composition: Iterable[str] = ()) -> dict[str, dict[str, Taken]]:
    """Return count and clocks of a layer's paths by level and path; paths that cannot be counted at a level are left
    out.

    Args:
        layer: Name of the layer.
        composition: Parts of the composition; empty for the bare one.

    Raises:
        CostError: The composition is not compiled.
        StaleError: The table does not match the C sources.
    """
    file = place(f"firmware/{layer}/nic") / TABLE
    check(file, generated.table(file).get("compiled", {}), LANAI)
    return read(file, composition)


def read(file: Path, composition: Iterable[str] = ()) -> dict[str, dict[str, Taken]]:
    """Return count and clocks of paths by level and path from a file, like `load`, without a check of the sources."""
    data = generated.table(file)
    chosen, others = key(composition), data.get("composition", {})
    if chosen and chosen not in others:
        raise CostError(f"composition {chosen!r}", f"is not compiled in {file}", nearest(chosen, others))
    other = others.get(chosen, {})
    found = {}
    for level in LEVELS:
        paths = {path: one for path, one in data[level].items() if path not in other.get("lacks", ())}
        paths |= other.get(level, {})
        found[level] = {path: _taken(dict(one)) for path, one in paths.items() if "refused" not in one}
    return found


def _taken(fields: dict[str, Any]) -> Taken:
    clocks = {chip: (low, high) for chip in PACES for low, high in [fields.pop(chip)]}
    by_verb, stalls = fields.pop("by_verb"), tuple(fields.pop("stalls"))
    return Taken(PathCost(**fields, stalls=stalls), by_verb, clocks)


def entries(functions: Sequence[Function], where: str, target: Target) -> dict[str, str]:
    """Return the entries of `executed.toml` at a level by path; a path with calls or loops left has the reason
    instead.
    """
    return {one.name: _entry(one, where, target) for one in functions}


def _entry(one: Function, where: str, target: Target) -> str:
    try:
        found = taken(one, where, target)
    except CostError as error:
        return f'refused = "{error.cause}"'
    counts = {**vars(found.cost), "by_verb": found.by_verb, **found.clocks}
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in counts.items()}
    return ", ".join(f"{name} = {value}" for name, value in lists.items())


def rows(paths: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a level in `executed.toml`."""
    width = max(map(len, paths), default=0)
    yield from (f"{name:<{width}} = {{ {fields} }}" for name, fields in paths.items())
