"""Inlined functions of a program, from its debugging sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pymodels.lanai.dwarf import Entry, Key, Reader, Tag, entries
from pymodels.lanai.lines import files_of
from pymodels.lanai.program import Inlined

LAST, BASE = 0, 0xFFFFFFFF
"""Marks in a list of ranges: end of the list, and change of the base address."""


def inlined_of(sections: Mapping[str, bytes]) -> Iterator[Inlined]:
    """Yield each inlined copy of each function, outer before inner. `sections` are relocated, by name."""
    if ".debug_info" not in sections:
        return
    unit, around = Entry(0, Tag.UNIT, 0, {}), list[int]()
    files, found = [""], list(entries(sections[".debug_info"], sections[".debug_abbrev"]))
    names = {one.at: one.values[Key.NAME] for one in found if Key.NAME in one.values}
    for one in found:
        if one.tag == Tag.UNIT:
            unit, files = one, files_of(sections[".debug_line"], one.values[Key.LINES])
        around = [level for level in around if level < one.level]
        if one.tag == Tag.INLINED:
            around.append(one.level)
            name = Reader(sections[".debug_str"], names[one.values[Key.ORIGIN]]).text()
            ranges = tuple(sorted(_ranges(one, unit, sections)))
            file = files[one.values.get(Key.CALL_FILE, 0)]
            yield Inlined(name, file, one.values.get(Key.CALL_LINE, 0), len(around), ranges)


def _ranges(one: Entry, unit: Entry, sections: Mapping[str, bytes]) -> Iterator[tuple[int, int]]:
    """Yield address and size of each piece of an inlined function's code."""
    if Key.RANGES not in one.values:
        yield one.values[Key.LOW], one.values[Key.HIGH]
        return
    reader, base = Reader(sections[".debug_ranges"], one.values[Key.RANGES]), unit.values[Key.LOW]
    while (pair := (reader.number(4), reader.number(4))) != (LAST, LAST):
        if pair[0] == BASE:
            base = pair[1]
        elif pair[0] < pair[1]:
            yield base + pair[0], pair[1] - pair[0]
