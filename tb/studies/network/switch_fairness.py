"""How fairly does a crossbar share one output among its inputs when all hosts send to one?

Strategy: every other host sends messages of echo to the first host, each as fast as its slot empties. So packets of all
inputs wait for one output. The trace of the switch gives the wait of each packet, from its decoded route byte to the
connection. It also gives each input's share of the grants while all inputs had packets. Jain's index of these shares is
1 if they are equal, and 1/n if one of n inputs gets all grants.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from numpy.typing import NDArray

from pymodels.errors import ConfigError
from pymodels.trace import TraceEvent, switch_port
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.kit.hosts import start_in_turn

LAYER = "echo"
CLUSTER = "four_hosts"
OPTIONS = {
    "messages": Option(24, "messages of each sender", 8, 100_000),
    "size": Option(64, "payload of a message", 0, 64, unit="bytes"),
}
TINY = "messages=8"
LEAST = 3
"""Minimum number of hosts: two senders and a receiver."""


def check(plan: Plan) -> None:
    """Raise ConfigError without a trace, or with fewer hosts than two senders and a receiver."""
    if not plan.options["run.trace"]:
        raise ConfigError(
            "SET", 0, "no trace", "run.trace is 0, but the study reads waits from the trace", "leave it out"
        )
    if len(plan.cluster.hosts) < LEAST:
        cause = f"{len(plan.cluster.hosts)} hosts, but two senders and a receiver are needed"
        raise ConfigError("CLUSTER", 0, "too few hosts", cause, f"give {LEAST} hosts or more")


async def run(lab: Lab) -> None:
    """Run the study."""
    hosts = lab.start_layer(LAYER)
    await start_in_turn(hosts)
    each, payload = lab.option("messages"), bytes(lab.option("size"))
    arrived = defaultdict[int, int](int)

    async def send(host: Any) -> None:
        for _ in range(each):
            await host.send(0, payload)

    begun = lab.kernel.now
    senders = [lab.spawn(send(host), f"sender {vnn}") for vnn, host in enumerate(hosts) if vnn]
    for done in range(each * len(senders)):
        source, data = await hosts[0].receive()
        arrived[source] += 1
        lab.check("received bytes", data == payload, f"a message of host {source} arrived corrupted")
        lab.progress(done + 1, each * len(senders), "messages")
    await lab.all(senders)
    lab.findings.messages += sum(arrived.values())
    lab.check(
        "number of arrivals",
        [arrived[vnn] for vnn in range(1, len(hosts))] == [each] * len(senders),
        f"arrived: {dict(arrived)}",
    )
    _report(lab, lab.trace()[lab.trace()["time"] >= begun])


def _report(lab: Lab, trace: NDArray[Any]) -> None:
    """Record the waits and shares of the inputs of the switch to which the first host is connected."""
    legend = lab.legend()
    (name, output), inputs = _output(legend)
    number = [switch for switch, _ in legend.switches].index(name)
    waits: dict[str, list[float]] = {}
    grants: dict[str, list[int]] = {}
    for port, far in inputs.items():
        mine = trace[(trace["unit"] == switch_port(number, port)) & (trace["argument"] == output)]
        heads, granted = (
            mine["time"][mine["event"] == event].tolist() for event in (TraceEvent.SWITCH_HEAD, TraceEvent.SWITCH_GRANT)
        )
        if granted:
            waits[far] = [(grant - head) / 1e6 for head, grant in zip(heads, granted, strict=True)]
            grants[far] = granted
    since, until = max(times[0] for times in grants.values()), min(times[-1] for times in grants.values())
    counts = [sum(since <= time <= until for time in times) for times in grants.values()]
    means = [sum(one) / len(one) for one in waits.values()]
    for far, mean, count in zip(grants, means, counts, strict=True):
        lab.metric(f"wait_us_{far}", mean)
        lab.metric(f"share_percent_{far}", 100 * count / sum(counts))
    lab.metric("wait_us", sum(map(sum, waits.values())) / sum(map(len, waits.values())))
    lab.metric("longest_wait_us", max(map(max, waits.values())))
    lab.metric("jain_index", sum(counts) ** 2 / (len(counts) * sum(count**2 for count in counts)))
    places, unit = list(range(len(grants))), f"input: {' '.join(grants)}"
    lab.series("wait_by_input", places, means, unit, "us")
    lab.series("share_by_input", places, [100 * count / sum(counts) for count in counts], unit, "%")


def _output(legend: Any) -> tuple[tuple[str, int], dict[int, str]]:
    """Return switch and port to the first host, and what is connected to the other ports of that switch."""
    names = {name for name, _ in legend.switches}
    place = next(end for end, far in legend.peers.items() if far[0] == legend.hosts[0] and end[0] in names)
    others = {port: far[0] for (name, port), far in legend.peers.items() if name == place[0] and port != place[1]}
    return place, others
