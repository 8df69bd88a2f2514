"""First reads of pages between two processes of TreadMarks, while their holder computes."""

from __future__ import annotations

from typing import Any

from pymodels.host import PAGE
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.tmk._tmk import SUBSTRATES, anew, together

LAYER = "tmk"
CLUSTER = "two_hosts"
OPTIONS = {
    "faults": Option(4, "pages that are read", 1, 64),
    "over": Option("udp", "substrate: udp or bvia", choices=tuple(SUBSTRATES)),
    **stack_options(LAYER),
}


async def run(lab: Lab) -> None:
    """Read the pages in process 1 while process 0 computes for 1 ms per page."""
    count = lab.option("faults")

    async def program(tmk: Any) -> None:
        shared = await tmk.array(count, PAGE // 4, "u4")
        await tmk.barrier(0)
        if tmk.proc_id == 0:
            await tmk.process.compute(count * 1e6)
        for page in range(count if tmk.proc_id else 0):
            await tmk.process.read(shared.address + page * PAGE, 4)
        await tmk.exit()

    processes = await anew(lab, lab.text("over"), pages=count)
    await together(lab, processes, program)
    lab.metric("faults", sum(tmk.process.faults for tmk in processes))
