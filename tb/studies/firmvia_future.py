"""What would a message take with doorbells in hardware, tables on the NIC, a faster NIC processor and a wider PCI bus?

Strategy (paper 001, 3.3.4, Figures 3.9 and 3.10): whole descriptors of twelve words are written by the host, and one
word into the doorbell; the kernel is not entered. Pairs of hosts differ in whether stores are combined into bursts. One
run has one NIC clock and one bus, which the metrics name; `make sweep STUDY=firmvia_future AXES="clock.nic_ps=..."`
draws the curve.
"""

from __future__ import annotations

from tb.lab import Lab
from tb.studies import Option, layer_options
from tb.studies._via_case import Case
from tb.studies._via_ends import pairs
from tb.studies._via_rounds import latency

LAYER = "via"
CLUSTER = "four_hosts"
SIZES = (4, 16, 64, 256, 1024)
FUTURE: dict[str, float | str] = {
    "doorbell": "hw",
    "descriptors": "ahead",
    "translation": "at2",
    "inline": 0,
    "outstanding": 16,
}
"""Beside what the paper names: receive descriptors are read when they are posted, as FirmVIA's are translated then; and
so few are outstanding that all have room in the VI's page.
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


async def run(lab: Lab) -> None:
    """The study."""
    profile = lab.plan.profile
    nic, pci = (1_000_000 // profile.integer(f"clock.{name}_ps") for name in ("nic", "pci"))
    where = f"{nic}MHz_pci{profile.integer('pci.width')}_{pci}"
    for done, (combined, (near, far)) in enumerate((await pairs(lab, CHOICES)).items()):
        times = [(await latency(near, far, Case(size), lab.option("rounds"))).value for size in SIZES]
        for size, us in zip(SIZES, times, strict=True):
            lab.metric(f"one_way_us_{size}B_{where}{combined}", us)
        lab.series(f"one_way_{where}{combined}", SIZES, times, "bytes", "us")
        lab.progress(done + 1, len(CHOICES), "kinds of stores")
