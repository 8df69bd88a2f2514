"""Critical paths of nextpnr's report in words: instances and signals of the sources, levels, where the time goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MADE = re.compile(r"(?:_(?:LUT4|CCU2C|TRELLIS_FF|PFUMX|L6MUX21|TRELLIS_DPR16X4|DP16KD|MULT18X18D)(?![A-Za-z0-9])|\$).*")
"""Rest of a name that Yosys or nextpnr has appended to that of the sources."""
CARRY_NS = 0.1
"""Logic delay in ns below which a step is one of a carry chain."""


@dataclass(frozen=True)
class Path:
    """Critical path within one clock."""

    clock: str
    signals: tuple[str, ...]
    """Signals on the way, first and last one a register."""
    luts: int
    carries: int
    logic_ns: float
    routing_ns: float

    @property
    def said(self) -> str:
        """The path in a sentence."""
        carries = f" and {self.carries} steps of carry" if self.carries else ""
        return (
            f"{' -> '.join(self.signals)}: {self.luts} LUTs{carries}, {self.logic_ns:.1f} ns of logic and"
            f" {self.routing_ns:.1f} ns of routing"
        )


def paths(report: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the critical path of each clock whose two ends have that clock."""
    for one in report["critical_paths"]:
        start, end = (clock_name(str(one[end])) for end in ("from", "to"))
        if start == end and start != "<async>":
            yield _path(start, one["path"])


def clock_name(net: str) -> str:
    """Return the clock of a net as the wrapper names it."""
    return re.sub(r"^(?:posedge |negedge )?(?:\$glbnet\$)?|\$TRELLIS_IO_IN$", "", net)


def _path(clock: str, steps: list[Mapping[str, Any]]) -> Path:
    logic = [step for step in steps if step["type"] != "routing"]
    between = [step for step in steps if step["type"] == "logic"]
    names = [_signal(str(step["net"])) for step in steps if step["type"] == "routing"]
    names.append(_signal(str(steps[-1]["to"]["cell"])))
    carries = sum(float(step["delay"]) < CARRY_NS for step in between)
    return Path(
        clock,
        tuple(dict.fromkeys(name for name in names if name)),
        len(between) - carries,
        carries,
        sum(float(step["delay"]) for step in logic),
        sum(float(step["delay"]) for step in steps if step["type"] == "routing"),
    )


def _signal(name: str) -> str:
    """Return the signal of the sources that a name was made from, without the wrapper's instance."""
    return MADE.sub("", name).removeprefix("u_block.")
