"""How much load does a crossbar accept when every input has one queue, and head-of-line blocking rules?

Strategy: 8 ports, uniform random destinations, packets of fixed length. The offered load rises to saturation. The
accepted load per port is compared with the analytic limit of single-queue inputs and with the cycle-level reference
model, run with the same load.
"""

from __future__ import annotations

from pymodels.switch.crossbar import accepted_load, head_of_line_limit
from tb.build.top import switch_design
from tb.lab.lab import Lab
from tb.plan.options import Option

PORTS = 8
OPTIONS = {
    "length": Option(64, "characters of a packet, route byte, CRC and GAP included", 16, 4096),
    "clocks": Option(60_000, "character clocks of each measurement", 1000, 100_000_000),
    "warm_clocks": Option(4_000, "character clocks of warm-up before each measurement", 0, 10_000_000),
    "points": Option(6, "offered loads between 0 and 1", 2, 50),
}
QUICK = "clocks=20000 points=4"
DESIGN = switch_design(PORTS)


async def run(lab: Lab) -> None:
    """Run the study."""
    length, clocks, warm, points = (lab.option(name) for name in ("length", "clocks", "warm_clocks", "points"))
    offered = [(i + 1) / points for i in range(points)]
    accepted = []
    for i, load in enumerate(offered):
        got = await lab.switch.measure(load, length, lab.seed + i, warm, clocks)
        accepted.append(got.load(PORTS))
        lab.findings.messages += got.packets
        lab.metric("wall_chars_per_s", got.chars / got.wall_s)  # the last, at saturation, stays
        lab.progress(i + 1, points, "loads")
    model = accepted_load(PORTS, length, lab.seed, clocks)
    limit = head_of_line_limit(PORTS)
    lab.series("accepted_load", offered, accepted, "offered load", "accepted load")
    lab.metric("accepted_load", accepted[-1])
    lab.metric("model_accepted_load", model)
    lab.metric("analytic_limit", limit)
    lab.metric("accepted_over_model", accepted[-1] / model)
    reached = f"accepted load {accepted[-1]:.3f}"
    lab.check("accepted load", accepted[-1] <= limit * 1.05, f"{reached} is above the head-of-line limit {limit:.3f}")
    near = abs(accepted[-1] / model - 1) < 0.05
    lab.check(
        "accepted load of the model", near, f"{reached} differs from the reference model's {model:.3f} by more than 5 %"
    )
