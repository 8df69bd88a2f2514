"""How much of the NAS Parallel Benchmarks' time is communication, over MPI on each layer?

Strategy: five codes compute in class S over MPI, all ranks with their own part, and their results must be those that
NPB publishes; three more (BT, SP, LU), and with `problem=A` all, are streams: the messages of one step or more in
class A, with bytes by seed that are checked, and nothing computed. Computing takes simulated time by NPB's own counts
of operations, at a rate that is assumed. Communication is what is left of the time from a barrier to the last rank's
end, on average over ranks.
"""

from __future__ import annotations

from firmware.applications.npb import KERNELS, Node, stream
from firmware.host.mpi import Mpi
from pymodels.errors import ConfigError
from pymodels.npb import ALL_CODES
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options

LAYER = "mpi"
CLUSTER = "four_hosts"
INTEGER = ("EP", "IS")
OPTIONS = {
    "codes": Option("EP", f"codes to run, in this order: of {', '.join(sorted(ALL_CODES))}, or all"),
    "problem": Option("S", "class: S computes (BT, LU, SP: streams of A), A streams", choices=("S", "A")),
    "steps": Option(1, "steps of each stream", 1, 1000),
    "mops": Option(40, "operations that a processor does in a microsecond (assumed)", 1, 1_000_000),
    "integer_mops": Option(4, f"the same for {' and '.join(INTEGER)} (assumed)", 1, 1_000_000),
    **stack_options(LAYER),
}
QUICK = "codes=MG"


async def run(lab: Lab) -> None:
    """The study."""
    codes = _codes(lab.text("codes"))
    ranks = lab.start_layer(LAYER)
    await lab.all([lab.spawn(_rank(lab, mpi, codes), f"rank {number}") for number, mpi in enumerate(ranks)])


def _codes(text: str) -> list[str]:
    codes = sorted(ALL_CODES) if text == "all" else text.split(",")
    for code in codes:
        if code not in ALL_CODES:
            raise ConfigError("SET", 0, "unknown code", f"codes has {code!r}", f"give some of {', '.join(ALL_CODES)}")
    return codes


async def _rank(lab: Lab, mpi: Mpi, codes: list[str]) -> None:
    """The program of every rank."""
    await mpi.Init()
    for code in codes:
        await mpi.COMM_WORLD.Barrier()
        node = Node(mpi, lab.option("integer_mops" if code in INTEGER else "mops"))
        begun = mpi.Wtime()
        await _run_code(lab, node, code)
        elapsed = mpi.Wtime() - begun
        every = await mpi.COMM_WORLD.gather((elapsed, node.computed_ns * 1e-9))
        if every:
            last = max(elapsed for elapsed, _ in every)
            computing = sum(computed for _, computed in every) / len(every)
            lab.metric(f"ms_{code}", last * 1e3)
            lab.metric(f"communication_percent_{code}", 100 * (1 - computing / last))
    await mpi.Finalize()


async def _run_code(lab: Lab, node: Node, code: str) -> None:
    """One code, and what it says of itself."""
    if lab.text("problem") == "S" and code in KERNELS:
        wrong = (await KERNELS[code](node)).wrong
        lab.check(not wrong, f"rank {node.rank}, {code}: {wrong}")
        if node.rank == 0:
            lab.metric(f"verified_{code}", float(not wrong))
        return
    changed = await stream(node, code, "A", lab.option("steps"), lab.seed)
    lab.check(changed == 0, f"rank {node.rank}, {code}: {changed} messages arrived changed")
    if node.rank == 0:
        lab.metric(f"changed_{code}", changed)
