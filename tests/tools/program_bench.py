"""C programs as MPI ranks on the machine: a source, compiled against the generated header, on every host."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tb.program.mpi.command import ready
from tb.program.mpi.serve import Server, Start
from tests.unit.layers.memory_use import memory_use
from tests.unit.mpi.mpi_bench import World
from tests.unit.report.madeup_trace import Row

HEAD = """
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define MUST(what) do { if (!(what)) { printf("line %d: not %s\\n", __LINE__, #what); exit(3); } } while (0)
int main(int argc, char **argv) {
    int rank, size;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#line 1
"""
TAIL = "\n    MPI_Finalize();\n    return 0;\n}\n"


@dataclass(frozen=True)
class Ended:
    """Result of finished programs."""

    said: list[str]
    """Output of each rank."""
    calls: list[int]
    now: int
    """Time at the end, ps."""
    held: list[int]
    """Storage of all ranks' servers, in container elements and bytes."""
    records: list[Row] = field(default_factory=list)
    """Trace records, if requested."""


def main(body: str) -> str:
    """Return a program with `body` between MPI_Init and MPI_Finalize."""
    return HEAD + body + TAIL


def run(
    folder: Path, source: str, ranks: int = 2, cpu_ratio: float = 0.0, patience_s: float = 20.0, on: str = "grim"
) -> Ended:
    """Run a C program on `ranks` ranks."""
    path = folder / "program.c"
    path.write_text(source, encoding="utf-8")
    return start(folder, [str(path)], ranks, cpu_ratio, patience_s, on)


def start(
    folder: Path,
    words: list[str],
    ranks: int = 2,
    cpu_ratio: float = 0.0,
    patience_s: float = 20.0,
    on: str = "grim",
    trace: bool = False,
) -> Ended:
    """Run any command on `ranks` ranks."""
    world = World(ranks, on=on, trace=trace)
    how = Start(ready(words), ranks, folder, cpu_ratio, patience_s)
    servers = [Server(how, mpi) for mpi in world.ranks]
    tasks = [mpi.host.spawn(one.serve(), "program") for mpi, one in zip(world.ranks, servers, strict=True)]

    async def ended() -> None:
        for task in tasks:
            await task.finished

    world.machine.finish(ended(), within_us=1e7)
    said = [how.output(rank).read_text(encoding="utf-8") for rank in range(ranks)]
    records: list[Row] = sorted(world.machine.trace.records, key=lambda row: row[0])
    return Ended(
        said, [one.calls for one in servers], world.machine.host(0).now, list(map(memory_use, servers)), records
    )
