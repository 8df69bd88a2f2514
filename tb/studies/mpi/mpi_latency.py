"""How long does an MPI message take over LAPI, and how long natively over Pipes (paper 001, 6.5.1)?

Strategy: the first and the last rank exchange one message with `Send` and `Recv`. Half of a round trip is the one-way
time, the median over the repetitions of a size. The same program runs over both stacks, one after the other, on the
same hosts. Every message is compared. The paper's nodes are `PROFILE=sp+ppc604-332`.
"""

from __future__ import annotations

from typing import Any

from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.mpi._mpi_ends import OF_BOTH_STACKS, of_both_stacks, round_trips, tell

LAYER = "mpi"
CLUSTER = "sp_board"
SIZES = (4, 64, 128, 256, 512, 1024, 4095, 4096, 16384, 65536)
OPTIONS = {
    "repetitions": Option(1, "round trips of each size", 1, 100_000),
    "largest": Option(256, "largest message in bytes", SIZES[0], SIZES[-1], unit="bytes"),
    **OF_BOTH_STACKS,
}
QUICK = "repetitions=1 largest=256"
VARIANTS = {"ppc604": ("sp+ppc604-332", "repetitions=9 largest=4096")}
"""The paper's nodes, on both sides of the eager limit."""


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]

    async def measure(lab: Lab, mpi: Mpi, data: Any) -> float:
        return await round_trips(lab, mpi, data, lab.option("repetitions"))

    found = await of_both_stacks(lab, sizes, measure)
    tell(lab, sizes, found, "us", "us")
    pairs = list(zip(sizes, found["lapi"], found["native"], strict=True))
    lab.metric(f"native_ahead_percent_{sizes[0]}B", 100 * (1 - found["native"][0] / found["lapi"][0]))
    lab.metric("gain_percent_max", max(100 * (1 - lapi / native) for _, lapi, native in pairs))
    shorter = [size for size, lapi, native in pairs if lapi < native]
    if shorter:
        lab.metric("crossing_B", shorter[0])
