"""Does every MPI receive get the message that the standard says?

Strategy: random operations of all ranks, in all modes, with and without wildcards, in two communicators, are compared
with a sequential matcher that knows nothing of protocols (`_mpi_random.py`). The long run is
`SET="operations=10000"`.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies._mpi_random import due, expected, programs, run_rank

LAYER = "mpi"
CLUSTER = "four_hosts"
OPTIONS = {
    "operations": Option(100, "sends and receives of all ranks together", 1, 1_000_000),
    **stack_options(LAYER),
}
QUICK = "operations=40"


async def run(lab: Lab) -> None:
    """The study."""
    ranks = lab.start_layer(LAYER)
    made = programs(len(ranks), lab.option("operations"), lab.seed)
    counts = due(made)

    async def rank(number: int, mpi: Any) -> Any:
        await mpi.Init()
        result = await run_rank(mpi, made[number], counts[number])
        await mpi.Finalize()
        return result

    found = await lab.all([lab.spawn(rank(number, mpi), f"rank {number}") for number, mpi in enumerate(ranks)])
    wrong = 0
    for number, (got, log) in enumerate(found):
        wanted = expected(number, made, log)
        wrong += sum(one != other for one, other in zip(got, wanted, strict=True))
    lab.check(wrong == 0, f"{wrong} receives got another message than the standard says")
    lab.metric("receives", sum(len(got) for got, _ in found))
    lab.metric("matched", sum(one is not None for got, _ in found for one in got))
    lab.metric("wrong", wrong)
    lab.metric("ended_us", lab.kernel.now / 1e6)
    lab.findings.messages += sum(counts)
