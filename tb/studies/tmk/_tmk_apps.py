"""Programs of shared memory for studies: run on a substrate and a number of processes, checked and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from firmware.applications.shared_memory import PROGRAMS, Program, Size
from firmware.tmk.host.account import Share
from pymodels.errors import ConfigError, nearest
from pymodels.formats.png import png
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.tmk._tmk import anew, check, together

TOLERANCE = 1e-10
"""Tolerance of FFT relative to its largest value, compared with a library; the others are exact."""
POINTS = 200
"""Points of a curve."""
WIDTH, HEIGHT = 1024, 1024
"""Largest width of a picture in pixels."""
COLOURS = (
    (230, 60, 60),
    (60, 160, 60),
    (70, 90, 230),
    (220, 160, 0),
    (150, 60, 200),
    (0, 170, 190),
    (220, 80, 160),
    (120, 120, 60),
)
"""Colour of each process."""
OF_ALL = "barriers", "collections"
"""Counts of all processes together; the others are sums over the processes."""
OPTIONS: Mapping[str, Option] = {
    "programs": Option("sor,tsp,jacobi,fft", "which programs, with commas"),
    "scale": Option(16, "rows and iterations are divided by it, the time of a point multiplied; 1: the paper's", 1, 64),
}


@dataclass(frozen=True)
class Ran:
    """Result of a program's run."""

    seconds: float
    shares: Mapping[str, float]
    """Mean seconds of a process in each share of its time."""
    counts: Mapping[str, int]
    """Messages, bytes, faults, twins and diffs of all processes; barriers of one."""
    faults: Sequence[tuple[int, int, int, bool]]
    """Page faults in order: time in ps since the first process started, process, page, True for a write."""
    pages: int


def check_programs(plan: Plan) -> None:
    """Reject an unknown program, and more processes than hosts. Raises ConfigError."""
    for name in filter(None, str(plan.options["programs"]).split(",")):
        if name not in PROGRAMS:
            known = ", ".join(PROGRAMS)
            raise ConfigError("SET", 0, f"program {name!r}", f"the programs are {known}", nearest(name, PROGRAMS))
    check(plan)


def chosen(lab: Lab) -> list[str]:
    """Return the selected programs."""
    return [name for name in lab.text("programs").split(",") if name]


def size_of(lab: Lab, name: str, place: int | None = None) -> Size:
    """Return the size of a program: that of Table 5.1, or another of its sizes, scaled."""
    program = PROGRAMS[name]
    return program.scaled(program.sizes[program.usual if place is None else place], lab.option("scale"))


async def ran(lab: Lab, name: str, size: Size, substrate: str, processes: int, **options: float | str) -> Ran:
    """Run a program and compare its result with a sequential one."""
    program = PROGRAMS[name]
    all_of = await anew(lab, substrate, processes=processes, pages=program.pages(size), **options)
    window = Window(all_of)

    async def run(tmk: Any) -> Any:
        part = await program.run(tmk, size)
        await tmk.exit()
        return part

    parts = await together(lab, all_of, run)
    lab.check(
        f"result of {name}",
        _right(program, size, parts),
        f"wrong over {substrate} on {processes} processes",
    )
    lab.findings.messages += sum(tmk.sent for tmk in all_of)
    return window.ran()


def _right(program: Program, size: Size, parts: list[Any]) -> bool:
    got, right = program.joined(parts), program.alone(size)
    return got.shape == right.shape and bool(np.abs(got - right).max() <= TOLERANCE * np.abs(right).max())


class Window:
    """Measured time: from the first account opened to the last one closed.

    A process counts while its own account is open, so messages of the barriers before and after are not counted.
    """

    def __init__(self, all_of: list[Any]) -> None:
        self._all = all_of
        self._before: list[Mapping[str, int]] = [{}] * len(all_of)
        self._after: list[Mapping[str, int]] = [{}] * len(all_of)
        for number, tmk in enumerate(all_of):
            tmk.account.watch = partial(self._told, number)

    def _told(self, number: int, opened: bool) -> None:
        """Record that the account of a process opens or closes."""
        (self._before if opened else self._after)[number] = _counted(self._all[number])

    def ran(self) -> Ran:
        """Return the measurements."""
        all_of = self._all
        begun = min(tmk.account.intervals[0][0] for tmk in all_of)
        ended = max(tmk.account.intervals[-1][1] for tmk in all_of)
        shares = {share.value: sum(tmk.account.total(share) for tmk in all_of) / len(all_of) / 1e12 for share in Share}
        pairs = list(zip(self._before, self._after, strict=True))
        counts = {
            name: (min if name in OF_ALL else sum)(after[name] - before[name] for before, after in pairs)
            for name in self._after[0]
        }
        faults = sorted(
            (time - begun, tmk.proc_id, page, write)
            for tmk in all_of
            for time, page, write in tmk.faults
            if begun <= time < ended
        )
        return Ran((ended - begun) / 1e12, shares, counts, faults, len(all_of[0].memory.pages))


def _counted(tmk: Any) -> dict[str, int]:
    """Return the counts of a process so far."""
    return {
        "messages": tmk.sent,
        "bytes": tmk.sent_bytes,
        "barriers": tmk.barriers.passed,
        "locks": tmk.locks.acquired,
        "collections": tmk.barriers.collections,
        "faults": tmk.process.faults,
        "twins": tmk.memory.twins,
        "diffs": tmk.memory.diffs,
    }


def show(lab: Lab, name: str, found: Ran) -> None:
    """Draw page faults over time as a curve, and as `<name>.png` with time to the right and pages downward.

    A fault is a pixel in the colour of its process, dark for a read and bright for a write.
    """
    step = max(1, len(found.faults) // POINTS)
    times = [time / 1e9 for time, *_ in found.faults[::step]]
    lab.series(f"{name}_faults", times, [float(1 + step * index) for index in range(len(times))], "ms", "faults")
    picture = np.full((min(found.pages, HEIGHT), WIDTH, 3), 255, np.uint8)
    for time, process, page, write in found.faults:
        across = min(int(time / 1e12 / found.seconds * (WIDTH - 1)), WIDTH - 1)
        colour = np.array(COLOURS[process % len(COLOURS)])
        picture[page * len(picture) // found.pages, across] = colour if write else colour // 2
    Path(lab.plan.request.folder, f"{name}.png").write_bytes(png(picture))
