"""What is MPI's bandwidth over LAPI and natively over Pipes (paper 001, 6.5.1)?

Strategy: the first rank sends messages back to back with `Isend` to posted receives, and the last one is answered;
bandwidth is bytes over the time until the reply. The same program runs over both stacks, one after the other, on the
same hosts. Every message is compared. A stream of the longest messages is followed by one half as long, which shows how
far its rate has converged. The paper's nodes are `PROFILE=sp+ppc604-332`, its longest message is `SET="largest=65536
messages=32"`.
"""

from __future__ import annotations

from typing import Any

from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.steady import tell_steady
from tb.studies.mpi._mpi_ends import OF_BOTH_STACKS, of_both_stacks, stream, tell

LAYER = "mpi"
CLUSTER = "sp_board"
SIZES = (256, 1024, 4095, 4096, 16384, 65536)
OPTIONS = {
    "messages": Option(4, "messages back to back", 1, 1000),
    "largest": Option(1024, "largest message in bytes", SIZES[0], SIZES[-1], unit="bytes"),
    **OF_BOTH_STACKS,
}
QUICK = "messages=4 largest=1024"
VARIANTS = {"ppc604": ("sp+ppc604-332", "messages=32 largest=65536")}
"""The paper's nodes and its longest message."""
ENOUGH = 32
"""Messages after which a stream has converged."""
LONG = 4096
"""Size in bytes from which LAPI is expected to be faster."""


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]

    messages, late = lab.option("messages"), list[float]()

    async def measure(lab: Lab, mpi: Mpi, data: Any) -> float:
        rate = await stream(lab, mpi, data, messages)
        half = await stream(lab, mpi, data, messages // 2) if len(data) == sizes[-1] and messages > 1 else 0.0
        if half:
            late.append(100 * (rate / half - 1))
        return rate

    found = await of_both_stacks(lab, sizes, measure)
    tell(lab, sizes, found, "MBps", "MB/s")
    gains = {
        size: 100 * (lapi / native - 1)
        for size, lapi, native in zip(sizes, found["lapi"], found["native"], strict=True)
    }
    for size, percent in gains.items():
        lab.metric(f"gain_percent_{size}B", percent)
    if late:
        tell_steady(lab, late, messages >= ENOUGH)
    lab.metric("sizes_native_ahead", sum(percent <= 0 for size, percent in gains.items() if size >= LONG))
