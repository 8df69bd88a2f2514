"""Reads and writes the folder of a run: its trace, and the legend that explains the trace's numbers.

The run writes `legend.json` beside `trace.npy`. Tools that examine a run read both files with this module. They get an
error if a file is missing, truncated, or of another version.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import EXIT_CONFIGURATION, SanlabError
from pymodels.lanai.program import NOWHERE, Place
from pymodels.profiles import DEFAULT_KIND
from pymodels.results import ResultsError, write_atomically
from pymodels.topology import Topology
from pymodels.trace import RECORD, SWITCH_BASE, in_time_order

LEGEND, TRACE = "legend.json", "trace.npy"
LEGEND_SCHEMA = 5
BOARD = "board"
"""Place of a run on a board, where hosts are programs of the PC."""
End = tuple[str, int]
"""Port of a cable: name of the host or switch, number of the port."""


class TraceError(SanlabError):
    """Trace that cannot be read."""

    exit_code = EXIT_CONFIGURATION


@dataclass(frozen=True)
class Legend:
    """Meaning of the numbers in a trace."""

    hosts: tuple[str, ...]
    """Host names by node number (VNN)."""
    switches: tuple[tuple[str, int], ...]
    """Name and ports, by switch number."""
    links: tuple[tuple[str, int, str, int], ...]
    """Cables: both ends."""
    paths: tuple[str, ...]
    """Instruction paths by number, `<side>/<layer>:<path>`."""
    clocks_ps: dict[str, int]
    """Periods of the clocks `nic`, `link`, `pci`."""
    lost: int = 0
    """Records for which the trace had no room."""
    nic: str = DEFAULT_KIND
    """Kind of the hosts' NICs."""
    layers: tuple[str, ...] = ()
    """Message layers, the lowest first."""
    places: tuple[tuple[Place, ...], ...] = ()
    """Functions of NICs that execute firmware, by number: the function, then the functions inlined there."""
    executing: tuple[int, ...] = ()
    """Nodes whose NICs execute firmware in C, which leaves no records of messages."""
    place: str = ""
    """BOARD for a run on a board, whose hosts' times are those of the PC; empty for a simulation."""

    @cached_property
    def peers(self) -> dict[End, End]:
        """Other end of each cabled port."""
        pairs = [((a, i), (b, j)) for a, i, b, j in self.links]
        return {x: y for a, b in pairs for x, y in ((a, b), (b, a))}

    def path(self, number: int) -> str:
        """Return the name of an instruction path, without its side and layer."""
        return self.paths[number].rpartition(":")[2] if number < len(self.paths) else f"path {number}"

    def function(self, number: int) -> tuple[Place, ...]:
        """Return the function that a NIC executes, then the functions inlined there, the innermost last."""
        return self.places[number] if number < len(self.places) else (NOWHERE,)


def legend_of(
    topology: Topology,
    paths: list[str],
    clocks_ps: dict[str, int],
    lost: int,
    nic: str,
    layers: tuple[str, ...],
    places: Iterable[tuple[Place, ...]],
    executing: Iterable[int],
) -> Legend:
    """Describe a run on a topology, by the kind of its NICs and its message layers."""
    return Legend(
        topology.hosts,
        tuple((s.name, s.ports) for s in topology.switches),
        tuple((link.a.node, link.a.port, link.b.node, link.b.port) for link in topology.links),
        tuple(paths),
        clocks_ps,
        lost,
        nic,
        layers,
        tuple(places),
        tuple(executing),
    )


def write_legend(legend: Legend, path: Path) -> None:
    """Write `legend.json` atomically. Raises ResultsError when the disk rejects it."""
    write_atomically(path, json.dumps({"schema": LEGEND_SCHEMA, **asdict(legend)}) + "\n")


def write_trace(records: NDArray[np.void], path: Path) -> None:
    """Write `trace.npy` atomically. Raises ResultsError when the disk rejects it."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with scratch.open("wb") as file:
            np.save(file, records)
        scratch.replace(path)
    except OSError as error:
        cause, remedy = f"{path}: {error.strerror or error}", "free space or correct the rights, and run again"
        raise ResultsError("trace not written", cause, remedy) from None
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink()


@dataclass(frozen=True)
class Recorded:
    """Run that has ended."""

    folder: Path
    legend: Legend
    trace: NDArray[np.void]
    """Records in time order, shape (n,), dtype `pymodels.trace.RECORD`."""


def read_recorded(folder: Path) -> Recorded:
    """Read the trace and the legend of a run. Raises TraceError with the fault and the remedy."""
    return Recorded(folder, read_legend(folder / LEGEND), read_trace(folder / TRACE))


def read_legend(path: Path) -> Legend:
    """Read the legend of a trace. Raises TraceError when it is missing, cut off, or of another version."""
    plain = _json(path)
    version = plain.pop("schema", None) if isinstance(plain, dict) else None
    if version != LEGEND_SCHEMA:
        cause = f"{path} has schema {version!r}, this sanlab reads {LEGEND_SCHEMA}"
        raise TraceError("trace of another version", cause, "run the study again")
    try:
        tuples = {name: tuple(plain[name]) for name in ("hosts", "paths", "layers", "executing")}
        pairs = {name: tuple(tuple(row) for row in plain[name]) for name in ("switches", "links")}
        places = tuple(tuple(Place(*one) for one in several) for several in plain["places"])
        return Legend(**{**plain, **tuples, **pairs, "places": places})
    except (KeyError, TypeError) as error:
        raise TraceError("trace unreadable", f"{path} is incomplete ({error})", "run the study again") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TraceError("no trace", f"{path}: {error.strerror}", "run the study first") from None
    except ValueError as error:
        raise TraceError("trace unreadable", f"{path} is cut off or no JSON ({error})", "run the study again") from None


def read_trace(path: Path) -> NDArray[np.void]:
    """Read the records of a trace file, in time order. Raises TraceError when it is missing, cut off, or no trace."""
    try:
        records: NDArray[np.void] = np.load(path, allow_pickle=False)
    except OSError as error:
        raise TraceError("no trace", f"{path}: {error.strerror or error}", "run the study first") from None
    except (ValueError, EOFError) as error:
        cause = f"{path} is cut off or no trace ({error})"
        raise TraceError("trace unreadable", cause, "run the study again") from None
    if records.dtype != RECORD or records.ndim != 1:
        cause = f"{path} holds {records.dtype} in shape {records.shape}"
        raise TraceError("trace of another version", cause, "run the study again")
    if len(records) and np.any(np.diff(records["time"]) < 0):
        return in_time_order(records)
    return records


def is_switch(unit: int) -> bool:
    """Return whether a unit number belongs to a switch port."""
    return SWITCH_BASE <= unit < 2 * SWITCH_BASE
