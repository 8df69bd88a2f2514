"""What do EPOS's credits cost, and what do they save when a reader is slow?

Strategy: the first host sends messages to the last one, which reads slowly, once with flow control and once without.
Without credits, frames wait in the Receive Ring and then in the network. Messages of a third host to the same reader
wait behind them. With credits no frame waits. With a fast reader, only the cost of credits remains.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from firmware.epos.nic.words import Word
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, one_way_us, started

if TYPE_CHECKING:
    from firmware.epos.host import Epos

CLUSTER = "four_hosts"
OPTIONS = {
    "repetitions": Option(5, "round trips", 1, 100_000),
    "messages": Option(24, "messages to the slow reader", 1, 100_000),
    "size": Option(4096, "bytes of each", 1, 1 << 16, unit="bytes"),
    "pause_us": Option(60, "other work of the reader after each message", 0, 1_000_000),
    **{name: one for name, one in layer_options(LAYER).items() if name != "epos.protocols"},
}
QUICK = "repetitions=2 messages=16"
TINY = "repetitions=1 messages=4 size=16 pause_us=4 epos.slots=2"


async def run(lab: Lab) -> None:
    """Run the study."""
    for name, protocols in (("without", ""), ("with", "flow")):
        hosts = await started(lab, {"protocols": protocols})
        near, other, far = hosts[0], hosts[1], hosts[-1]
        took = await one_way_us(lab, near, far, bytes(64), lab.option("repetitions"))
        lab.metric(f"one_way_us_{name}", statistics.mean(took))
        begun = lab.kernel.now
        sends = [lab.spawn(_send(lab, near, far.me), "the sender"), lab.spawn(_late(lab, other, far.me), "the third")]
        taken = await _read(lab, far)
        sent, third = await lab.all(sends)
        lab.metric(f"frames_held_{name}", await far.host.pio_read(far.host.nic_base + Word.HELD))
        lab.metric(f"sending_us_{name}", (sent - begun) / 1e6)
        lab.metric(f"third_hosts_send_us_{name}", third / 1e6)
        lab.metric(f"exactly_once_{name}", int(taken == list(range(lab.option("messages")))))
        lab.check(
            "arrivals", taken == list(range(lab.option("messages"))), "messages were lost, duplicated or reordered"
        )
        lab.findings.messages += lab.option("messages") + 1
        if name == "with":
            lab.metric("waited_for_credits", near.protocols["flow"].waited)
        await lab.change_layers()


async def _send(lab: Lab, host: Epos, node: int) -> int:
    """Send all messages, and return the time at which the last one has left in ps."""
    for number in range(lab.option("messages")):
        await host.send(node, bytes([number & 0xFF]) * lab.option("size"))
    await host.left()
    return lab.kernel.now


async def _late(lab: Lab, host: Epos, node: int) -> int:
    """Send one message of a third host while the reader is behind; return the time until it has left in ps."""
    await lab.kernel.sleep(1_000_000 * lab.option("pause_us") * lab.option("messages") // 3, "the flood")
    begun = lab.kernel.now
    await host.send(node, b"third")
    await host.left()
    return lab.kernel.now - begun


async def _read(lab: Lab, host: Epos) -> list[int]:
    """Receive all messages slowly; return the numbers of those of the first host."""
    taken: list[int] = []
    for _ in range(lab.option("messages") + 1):
        message = await host.receive()
        if message.data != b"third":
            taken.append(message.data[0])
        await lab.kernel.sleep(1_000_000 * lab.option("pause_us"), "other work of the reader")
    return taken
