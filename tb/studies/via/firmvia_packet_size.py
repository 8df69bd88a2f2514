"""Which payload of a packet gives the most bandwidth, when no packet crosses a page?

Strategy (paper 001, 3.3.3): pairs of hosts on one switch differ only in the packet payload. One after the other, each
streams long page-aligned messages. Then one message of 5,000 bytes is cut into packets, which are counted on the wire.
"""

from __future__ import annotations

from pymodels.host.pages import PAGE
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.kit.findings import curve
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import NETFINITY, End, pairs, stock
from tb.studies.via._via_rounds import Link, latency

LAYER = "via"
CLUSTER = "eight_hosts"
PAYLOADS = (512, 1000, 1024, 2032)
"""Packet payload of each pair of hosts, bytes."""
COUNTED = 5000
OPTIONS = {
    "messages": Option(6, "messages of a stream", 3, 200),
    "size": Option(65536, "bytes of a message", 4096, 65536, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "messages=3"


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = await pairs(lab, {str(payload): {"packet": payload} for payload in PAYLOADS})
    found = []
    for done, (payload, (near, far)) in enumerate(ends.items()):
        link = await Link.make(near, far, Case(lab.option("size"), window=4), lab.option("messages"))
        found.append((await link.stream(lab.option("messages"))).value)
        await link.close()
        lab.metric(f"packets_of_{COUNTED}B_payload_{payload}", await _packets(lab, near, far))
        lab.progress(done + 1, len(ends), "payloads")
    metric = "bandwidth_MBps_payload_{}"
    curve(lab, "bandwidth_by_payload", PAYLOADS, found, "bytes of payload", "MB/s", metric)
    rates = dict(zip(PAYLOADS, found, strict=True))
    lab.metric("gain_percent_1024_over_1000", 100 * (rates[1024] / rates[1000] - 1))
    lab.metric("gain_percent_2032_over_1024", 100 * (rates[2032] / rates[1024] - 1))
    _check(lab, rates)


def _check(lab: Lab, rates: dict[int, float]) -> None:
    """Check that each piece of a page is one packet and, on the paper's system, the ranking of the payloads."""
    for payload in PAYLOADS:
        pieces = sum(-(-part // payload) for part in (PAGE, COUNTED - PAGE))
        counted = lab.findings.metrics[f"packets_of_{COUNTED}B_payload_{payload}"]
        lab.check(
            "number of packets",
            counted == pieces,
            f"{COUNTED} bytes became {counted:g} packets of {payload} bytes, but {pieces} are expected",
        )
    if stock(lab, NETFINITY):
        lab.check(
            "rate of packets of 1000 bytes",
            rates[1024] > rates[1000],
            "packets of 1000 bytes, which do not divide a page, are not slower",
        )
        lab.check(
            "rate of packets of 2032 bytes",
            rates[1024] >= rates[2032],
            "packets of 2032 bytes are faster, but the paper did not choose them",
        )


async def _packets(lab: Lab, near: End, far: End) -> float:
    """Return the number of packets of a 5,000-byte message, as the increase over one more round trip."""
    counts = []
    for rounds in (1, 2):
        before = _sent(lab, near.node)
        await latency(near, far, Case(COUNTED), rounds)
        counts.append(_sent(lab, near.node) - before)
    return counts[1] - counts[0]


def _sent(lab: Lab, node: int) -> int:
    """Return the number of packets that a node has sent."""
    trace = lab.trace()
    return int(((trace["event"] == TraceEvent.TX_TAIL) & (trace["unit"] == unit(node, Part.NET_SEND))).sum())
