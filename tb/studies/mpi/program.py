"""What does an unmodified MPI program do on the simulated network: any command, one process a host?

Strategy: each process runs on the real machine, and the coroutine of its host makes its MPI calls on the simulated
network (tb/program/mpi). Simulated time stops while a process computes, and all clocks that it reads give simulated
time, so two runs are equal. With `program.cpu_ratio` computing takes time, too. The output of each process is in
`program-0.txt` and so on. A process that fails ends the run, with its rank and its last lines.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from firmware.mpi.host import Mpi
from pymodels.host.confined import refusal
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.program.mpi.command import check_ranks, ready, words_of
from tb.program.mpi.serve import Server, Start

LAYER = "mpi"
HOSTS = 1
"""Smallest number of hosts."""
OPTIONS = {
    "command": Option("ring.c", "the program and its arguments; a C source is compiled"),
    "ranks": Option(0, "programs, one a host from the first host on; 0: on every host", 0, 1024),
    "program.cpu_ratio": Option(0.0, "simulated ns for each ns of CPU that a program uses; 0: equal runs", 0, 1000),
    "program.patience_s": Option(60, "real seconds without a call after which a program hangs", 1, 100_000),
    **stack_options(LAYER),
}
TINY = "command=ring.c"

NETPIPE = 'command="NPmpich2 -u 65536 -n 5 -o /dev/null" ranks=2'
VARIANTS = {"netpipe-lanai9": ("lanai9", NETPIPE), "netpipe-sp": ("sp", f"{NETPIPE} mpi.on=pipes")}
"""NetPIPE, whose table is the output of rank 0 in program-0.txt; without -n it repeats short messages for seconds."""


def check(plan: Plan) -> None:
    """Reject a command that cannot be started, and more ranks than hosts."""
    _words(plan)
    check_ranks(int(plan.options["ranks"]), len(plan.cluster.hosts))


def _words(plan: Plan) -> list[str]:
    return words_of(str(plan.options["command"]), _directory(plan))


def _directory(plan: Plan) -> Path:
    """Return the directory in which the command was typed, where its programs run."""
    return Path(plan.request.directory or ".").absolute()


async def run(lab: Lab) -> None:
    """Run the study."""
    if refused := refusal():
        told = f"program: this kernel gives programs no namespaces ({refused}): they reach the network of this machine"
        print(told, file=sys.stderr, flush=True)
    layers = lab.start_layer(LAYER)
    ranks = lab.option("ranks") or len(layers)
    start = Start(
        ready(_words(lab.plan)),
        ranks,
        Path(lab.plan.request.folder),
        float(lab.plan.options["program.cpu_ratio"]),
        lab.option("program.patience_s"),
        _directory(lab.plan),
    )
    servers = [Server(start, mpi) for mpi in layers[:ranks]]
    tasks: list[Any] = [lab.spawn(one.serve(), f"rank {number}") for number, one in enumerate(servers)]
    tasks += [lab.spawn(_idle(mpi), f"rank {ranks + number}") for number, mpi in enumerate(layers[ranks:])]
    begun = lab.kernel.now
    await lab.all(tasks)
    lab.metric("ranks", ranks)
    lab.metric("calls", sum(one.calls for one in servers))
    lab.metric("program_us", (lab.kernel.now - begun) / 1e6)
    lab.findings.messages = sum(one.sent for one in servers)


async def _idle(mpi: Mpi) -> None:
    """Take part in start and end on a host without a program."""
    await mpi.Init()
    await mpi.Finalize()
