"""What happens to echo messages on a faulty cable?

Strategy: the first host sends numbered messages of 64 bytes to the last, which receives them after a pause; then
everything is idle. Metrics give how many arrived, how many of them changed, and how; errors detected by the hardware
are counted.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tests.system.scenarios import faults

SIZE = 64
OPTIONS = {
    "count": Option(3, "messages", 1, 1000),
    "gap_us": Option(10, "between two sends", 0, 10_000),
    "pause_us": Option(0, "the receiver first looks so long after the start", 0, 100_000),
    "rest_us": Option(40, "after the last send", 0, 100_000),
    **faults.OPTIONS,
}


def payload(number: int) -> bytes:
    """Return the bytes of a message."""
    return bytes((37 * number + 5 * i) & 0xFF for i in range(SIZE))


async def run(lab: Lab) -> None:
    """Run the scenario."""
    hosts = lab.start_layer("echo")
    for host in hosts:
        await host.start()
    faults.inject(lab)
    near, far, arrived = hosts[0], hosts[-1], list[bytes]()
    lab.spawn(_receive(lab, far, arrived), "receiver")
    for number in range(lab.option("count")):
        await near.send(len(hosts) - 1, payload(number))
        lab.findings.messages += 1
        await lab.kernel.sleep(lab.option("gap_us") * 1_000_000, "the next send")
    await lab.kernel.sleep(lab.option("rest_us") * 1_000_000, "rest")
    sent = [payload(number) for number in range(lab.option("count"))]
    changed = [data for data in arrived if data not in sent]
    lab.metric("arrived", len(arrived))
    lab.metric("changed", len(changed))
    lab.metric(
        "in_order",
        int(
            [sent.index(data) for data in arrived if data in sent]
            == sorted(sent.index(data) for data in arrived if data in sent)
        ),
    )
    for data in changed:
        original = min(sent, key=lambda one: sum(a != b for a, b in zip(one, data, strict=True)))
        for i, (a, b) in enumerate(zip(original, data, strict=True)):
            if a != b:
                lab.metric(f"flipped_{sent.index(original)}_{i}", a ^ b)
    faults.hand_in_explained(lab)


async def _receive(lab: Lab, host: Any, arrived: list[bytes]) -> None:
    await lab.kernel.sleep(lab.option("pause_us") * 1_000_000, "its pause")
    while True:
        _, data = await host.receive()
        arrived.append(data)
