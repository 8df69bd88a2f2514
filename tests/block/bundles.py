"""Fields of packed structs, read from the packages that define them; a port of such a type is one vector for cocotb."""

from __future__ import annotations

import functools
import re

from tb.quality.text import HDL, uncommented


@functools.cache
def layout(package: str, bundle: str) -> dict[str, tuple[int, int]]:
    """Return the position of bit 0 and the width of each field of a packed struct of `logic` fields.

    Args:
        package: Package below `hdl`, without its ending: "switch/myri_switch_pkg".
        bundle: Name of the type.
    """
    text = uncommented((HDL / f"{package}.sv").read_text(encoding="utf-8"))
    found = re.search(rf"struct packed \{{([^}}]*)\}} {bundle};", text)
    assert found, f"{package}: no packed struct {bundle}"
    fields = re.findall(r"logic (?:\[(\d+):0\] *)?(\w+);", found[1])
    positions, low = {}, 0
    for high, name in reversed(fields):
        width = int(high or 0) + 1
        positions[name] = (low, width)
        low += width
    return positions


def lanes(value: int, package: str, bundle: str, field: str, number: int) -> list[int]:
    """Return one field of each of `number` structs that a vector contains, the first in its lowest bits."""
    fields = layout(package, bundle)
    size = sum(width for _, width in fields.values())
    low, width = fields[field]
    return [value >> size * lane + low & (1 << width) - 1 for lane in range(number)]
