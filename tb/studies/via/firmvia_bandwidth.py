"""What bandwidth does VIA reach over the size of a message, at which size half of it, and which side limits it?

Strategy (paper 001, 3.3.3): messages leave one process back to back, and the clock stops when the last one is answered.
Every size has a connection of its own. During the stream of the longest messages, the trace gives the utilisation of
each side's NIC. With 200 messages the rates have converged. Another implementation: `SET="via.preset=bvia2"`.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.kit.statistics import half_bandwidth
from tb.studies.kit.steady import tell_steady
from tb.studies.via._via_busy import limits
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import ends
from tb.studies.via._via_rounds import Link

LAYER = "via"
SIZES = (64, 256, 512, 768, 1024, 1536, 2048, 4096, 16384, 65536)
ENOUGH = 200
"""Number of messages after which the rate of a stream has converged."""
BYTES = 1 << 18
"""Maximum number of bytes of a stream, unless that is fewer than three messages."""
OPTIONS = {
    "messages": Option(ENOUGH, "messages of a stream; fewer for long messages", 3, 1000),
    "largest": Option(65536, "longest message in bytes", 64, 65536, unit="bytes"),
    **layer_options(LAYER),
}
VARIANTS = {"bvia2-lanai4": ("lanai4", "via.preset=bvia2")}
"""Berkeley VIA 2 (paper 001, 3.4)."""
QUICK = "messages=12 largest=16384"


async def run(lab: Lab) -> None:
    """Run the study."""
    near, far = await ends(lab)
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    found, late = [], []
    for done, size in enumerate(sizes):
        messages = max(3, min(lab.option("messages"), BYTES // size))
        link = await Link.make(near, far, Case.of_stream(lab.text("via.preset"), size, Case.window), messages)
        measured = await link.stream(messages)
        found.append(measured.value)
        late.append(measured.late)
        if size == sizes[-1]:
            limits(lab, near.node, far.node, *link.streamed)
        await link.close()
        lab.progress(done + 1, len(sizes), "sizes")
    peak = max(found)
    lab.metric("bandwidth_MBps_peak", peak)
    lab.metric("half_bandwidth_B", half_bandwidth(sizes, found, peak))
    tell_steady(lab, late, lab.option("messages") >= ENOUGH)
    curve(lab, "bandwidth", sizes, found, "B", "MB/s", "bandwidth_MBps_{}B")
