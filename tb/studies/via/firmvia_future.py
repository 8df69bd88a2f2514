"""What would a message take with doorbells in hardware, tables on the NIC, a faster NIC processor and a wider PCI bus?

Strategy (paper 001, 3.3.4, Figures 3.9 and 3.10): whole descriptors of twelve words are written by the host, and one
word into the doorbell; the kernel is not entered. Pairs of hosts differ in whether stores are combined into bursts. One
run has one NIC clock and one bus, which the metrics name; `make sweep STUDY=firmvia_future AXES="clock.nic_ps=..."`
draws the curve.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.via._via import last_call, stages
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import End, pairs
from tb.studies.via._via_rounds import Link

LAYER = "via"
CLUSTER = "four_hosts"
SIZES = (4, 16, 64, 256, 1024)
STAGED = 16
"""Size in bytes of the message whose stages are recorded (those of Figure 3.4)."""
FUTURE: dict[str, float | str] = {
    "doorbell": "hw",
    "descriptors": "ahead",
    "translation": "at2",
    "inline": 0,
}
"""Options of the future NIC; beyond the paper, receive descriptors are read when posted, as FirmVIA translates them
then.
"""
CHOICES: dict[str, dict[str, float | str]] = {
    "": {**FUTURE, "write_combine": 0},
    "_wc": {**FUTURE, "write_combine": 1},
}
OPTIONS = {
    "rounds": Option(20, "round trips of each size", 2, 100_000),
    **layer_options(LAYER),
}
QUICK = "rounds=4"
VARIANTS = {
    "pci32": ("sp-future", "clock.pci_ps=30000 pci.width=32"),
    "host-2GHz": ("sp-future", "host.clock_mhz=2000"),
}
"""Figure 3.10 on the narrow bus, and a host of 2 GHz."""


async def run(lab: Lab) -> None:
    """Run the study."""
    profile = lab.plan.profile
    nic, pci = (1_000_000 // profile.integer(f"clock.{name}_ps") for name in ("nic", "pci"))
    where = f"{nic}MHz_pci{profile.integer('pci.width')}_{pci}"
    for done, (combined, (near, far)) in enumerate((await pairs(lab, CHOICES)).items()):
        times = [await _time(lab, near, far, size, where + combined) for size in SIZES]
        metric = f"one_way_us_{{}}B_{where}{combined}"
        curve(lab, f"one_way_{where}{combined}", SIZES, times, "bytes", "us", metric)
        lab.progress(done + 1, len(CHOICES), "kinds of stores")


async def _time(lab: Lab, near: End, far: End, size: int, where: str) -> float:
    """Return the one-way time in us."""
    rounds = lab.option("rounds")
    link = await Link.make(near, far, Case(size), rounds + 4)
    measured = await link.round_trips(rounds)
    if size == STAGED:
        trace = lab.trace()
        begun = last_call(trace, near.node)  # all earlier descriptors have been read
        for number, (name, us) in enumerate(stages(trace, near.node, far.node, begun).items()):
            lab.metric(f"stage_us_{where}_{number}_{name}", us)
    await link.close()
    return measured.value
