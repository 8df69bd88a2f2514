"""How do implementations of VIA compare on one NIC: Berkeley VIA 1 and 2, with and without misses, and FirmVIA?

Strategy (paper 001, Table 3.3 and 3.4): pairs of hosts differ in the preset. Measured are the latency of a message of 4
bytes by polling, and the bandwidth of the longest messages that the implementation supports. Berkeley VIA 2 is measured
with its translations cached; with a separate buffer for each message, whose translation is missed once; and with a
cache of one entry, which every look-up misses.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.steady import tell_steady
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import SMALL, pairs
from tb.studies.via._via_rounds import bandwidth, latency

LAYER = "via"
CLUSTER = "eight_hosts"
SIZE = 4
ENOUGH = 6
"""Number of messages after which the rate of a stream has converged."""
PRESETS: dict[str, dict[str, float | str]] = {
    "firmvia": {"preset": "firmvia"},
    "bvia1": {"preset": "bvia1"},
    "bvia2": {"preset": "bvia2"},
    "bvia2_one_entry": {"preset": "bvia2", "translation_entries": 1},
}
HARDWARE: dict[str, dict[str, float | str]] = {"hwvia": {"preset": "hwvia"}}
"""Pair that replaces the last one on a NIC with hardware doorbells."""
OPTIONS = {
    "rounds": Option(16, "round trips of each preset", 2, 100_000),
    "messages": Option(ENOUGH, "messages of each stream", 3, 200),
    **layer_options(LAYER),
}
QUICK = "rounds=4 messages=4"
VARIANTS = {"400MHz": ("lanai4", "host.clock_mhz=400")}
"""Hosts of Berkeley VIA's second pair of rows."""


async def run(lab: Lab) -> None:
    """Run the study."""
    rounds, messages = lab.option("rounds"), lab.option("messages")
    choices = {**dict(list(PRESETS.items())[:3]), **HARDWARE} if lab.plan.profile.card.has_doorbells else PRESETS
    late = []
    for done, (name, (near, far)) in enumerate((await pairs(lab, choices, SMALL)).items()):
        lab.metric(f"{name}_us", (await latency(near, far, Case(SIZE), rounds)).value)
        if name in ("firmvia", "bvia2"):
            lab.metric(f"{name}_us_fresh_buffers", (await latency(near, far, Case(SIZE, reuse=0), rounds)).value)
        if name != "bvia2_one_entry":
            case = Case.of_stream(name, 1 << 16, window=8)
            count = messages * (1 << 16) // case.size
            found = await bandwidth(near, far, case, min(count, 48))
            lab.metric(f"{name}_MBps", found.value)
            late.append(found.late)
        lab.progress(done + 1, len(choices), "implementations")
    tell_steady(lab, late, messages >= ENOUGH)
