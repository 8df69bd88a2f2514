"""Does the host process all news when its NIC asserts the interrupt while the host clears it, at every phase of both?

Strategy: `tests/interrupt_rounds.py` on the RTL, without firmware.
"""

from __future__ import annotations

from typing import Any

from pymodels.trace import TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tests.interrupt_rounds import FifoCard, LanaiCard, MaskedLanaiCard, Rounds, SpCard

OPTIONS = {
    "rounds": Option(100, "rounds", 1, 100_000),
    "first_ns": Option(0, "offset of the second assertion in the first round", 0, 100_000),
    "step_ps": Option(2500, "by how much it comes later in each round", 1, 1_000_000),
    "masked": Option(0, "1: the NIC masks the interrupt, instead of the host clearing it", 0, 1),
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    host: Any = lab.running.hosts[0]
    kind = lab.plan.profile.kind
    card: Any
    if kind == "fifo":
        card = FifoCard(host, lab.running.hosts[1], lab.plan.cluster.routes_from(1)[0])
    else:
        made = SpCard if kind == "sp" else MaskedLanaiCard if lab.option("masked") else LanaiCard
        card = made(host, lab.running.nics[0])
    rounds = Rounds(lab.kernel, host, card, lab.option("step_ps"), lab.option("first_ns") * 1000)
    await rounds.run(lab.option("rounds"))
    lab.check(
        "second news",
        not rounds.lost,
        f"the second news are lost when they come {rounds.lost} ps after the store that clears",
    )
    trace = lab.trace()
    levels = trace["argument"][trace["event"] == TraceEvent.INTERRUPT]
    lab.check("interrupt line", len(levels) > 0 and not levels[-1], "the line is held at the end")
    lab.metric("served_without_a_rise", sum(rounds.served) - int(levels.sum()))
    lab.metric("rounds_served_once", rounds.served.count(1))
    lab.metric("rounds_served_twice", rounds.served.count(2))
