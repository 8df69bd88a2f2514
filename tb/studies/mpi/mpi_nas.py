"""Which part of the NAS Parallel Benchmarks' time is communication, over MPI on each layer?

Strategy: five codes compute in class S over MPI, all ranks with their own part, and their results must be those that
NPB publishes. Three more (BT, SP, LU), and with `problem=A` all, are streams: the messages of one step or more in class
A, with checked random bytes, and no computation. Computing takes simulated time by NPB's own counts of operations, at
an assumed rate. Communication is the rest of the time from a barrier to the last rank's end, averaged over ranks. With
`stacks=both` all codes run natively over Pipes and then over LAPI. A code's gain is the time that LAPI saves, relative
to the native time (paper 001, Table 6.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from firmware.applications.npb import KERNELS, Node, stream
from firmware.mpi.host import Mpi
from pymodels.errors import ConfigError
from pymodels.npb import ALL_CODES
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.mpi._mpi_ends import on_both_stacks

LAYER = "mpi"
CLUSTER = "four_hosts"
INTEGER = ("EP", "IS")
SLOWER_PERCENT = 0.5
"""Slowdown in percent up to which a code counts as equal (ours)."""
OPTIONS = {
    "codes": Option("EP", f"codes to run, in this order: of {', '.join(sorted(ALL_CODES))}, or all"),
    "problem": Option("S", "class: S computes (BT, LU, SP: streams of A), A streams", choices=("S", "A")),
    "steps": Option(1, "steps of each stream", 1, 1000),
    "mops": Option(40, "operations that a processor does in a microsecond (assumed)", 1, 1_000_000),
    "integer_mops": Option(4, f"the same for {' and '.join(INTEGER)} (assumed)", 1, 1_000_000),
    "stacks": Option("one", "one: what mpi.on says; both: native and LAPI", choices=("one", "both")),
    **stack_options(LAYER),
}
QUICK = "codes=MG problem=S"
VARIANTS = {"ppc604": ("sp+ppc604-332", "codes=CG,EP,LU,SP problem=A stacks=both mpi.on=lapi")}
"""The paper's nodes: one step of four codes, by its messages; all codes take half an hour."""


@dataclass(frozen=True)
class Took:
    """Times of a code."""

    seconds: float
    """Time from the barrier to the last rank's end."""
    computing: float
    """Computing time in it, averaged over ranks."""


async def run(lab: Lab) -> None:
    """Run the study."""
    program = partial(_rank, lab, _codes(lab.text("codes")))
    if lab.text("stacks") == "one":
        ranks = lab.start_layer(LAYER)
        found = await lab.all([lab.spawn(program(mpi), f"rank {number}") for number, mpi in enumerate(ranks)])
        _tell(lab, found[0])
        return
    both = await on_both_stacks(lab, program)
    for name, took in both.items():
        _tell(lab, took, f"_{name}")
    gains = {code: 100 * (1 - both["lapi"][code].seconds / native.seconds) for code, native in both["native"].items()}
    for code, percent in gains.items():
        lab.metric(f"gain_percent_{code}", percent)
    lab.metric("codes_slower", sum(percent < -SLOWER_PERCENT for percent in gains.values()))
    least = gains.get("EP", 0)
    lab.metric("codes_below_EP", sum(percent < least for code, percent in gains.items() if code not in ("MG", "SP")))


def _tell(lab: Lab, found: dict[str, Took], stack: str = "") -> None:
    for code, took in found.items():
        lab.metric(f"ms_{code}{stack}", took.seconds * 1e3)
        lab.metric(f"communication_percent_{code}{stack}", 100 * (1 - took.computing / took.seconds))


def _codes(text: str) -> list[str]:
    codes = sorted(ALL_CODES) if text == "all" else text.split(",")
    for code in codes:
        if code not in ALL_CODES:
            raise ConfigError("SET", 0, "unknown code", f"codes has {code!r}", f"give some of {', '.join(ALL_CODES)}")
    return codes


async def _rank(lab: Lab, codes: list[str], mpi: Mpi) -> dict[str, Took]:
    """Run the program of a rank; the first one returns the times of each code."""
    found = {}
    await mpi.Init()
    for code in codes:
        await mpi.COMM_WORLD.Barrier()
        node = Node(mpi, lab.option("integer_mops" if code in INTEGER else "mops"))
        begun = mpi.Wtime()
        await _run_code(lab, node, code)
        elapsed = mpi.Wtime() - begun
        every = await mpi.COMM_WORLD.gather((elapsed, node.computed_ns * 1e-9))
        if every:
            computing = sum(computed for _, computed in every) / len(every)
            found[code] = Took(max(elapsed for elapsed, _ in every), computing)
    await mpi.Finalize()
    return found


async def _run_code(lab: Lab, node: Node, code: str) -> None:
    """Run one code and return its result."""
    if lab.text("problem") == "S" and code in KERNELS:
        wrong = (await KERNELS[code](node)).wrong
        lab.check(f"result of {code}", not wrong, f"rank {node.rank}: {wrong}")
        if node.rank == 0:
            lab.metric(f"verified_{code}", float(not wrong))
        return
    changed = await stream(node, code, "A", lab.option("steps"), lab.seed)
    lab.check(f"messages of {code}", changed == 0, f"rank {node.rank}: {changed} messages arrived corrupted")
    if node.rank == 0:
        lab.metric(f"changed_{code}", changed)
