"""What becomes of messages of EPOS whose reader is slow: do they wait, or are they overwritten, and is any mixed?

Strategy: the first host sends messages as fast as it may; the last one does other work after each one that it takes.
With `epos.staging=hold` frames wait in the Receive Ring, then in the network, and the sender is held up; with
`epos.staging=overwrite` staging slots are written again, and the reader finds out. Each message is filled with its own
number, so that one that is mixed of two would be seen. `SET="epos.protocols=flow"` has the sender wait instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.epos.nic.words import Word
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, started

if TYPE_CHECKING:
    from firmware.epos.host import Epos

OPTIONS = {
    "messages": Option(40, "messages of the sender", 2, 255),
    "size": Option(6000, "bytes of a message", 1, 1 << 16, unit="bytes"),
    "pause_us": Option(100, "other work of the reader after each message", 0, 1_000_000),
    **layer_options(LAYER),
}
QUICK = "messages=24"
VARIANTS = {"overwrite": ("", "epos.staging=overwrite"), "flow": ("", "epos.protocols=flow")}


async def run(lab: Lab) -> None:
    """The study."""
    hosts = await started(lab)
    near, far, begun = hosts[0], hosts[-1], lab.kernel.now
    sending = lab.spawn(_send(lab, near, far.me), "the sender")
    taken = await _read(lab, far)
    (sent,) = await lab.all([sending])
    lab.findings.messages += lab.option("messages")
    lab.metric("sending_us", (sent - begun) / 1e6)
    lab.metric("delivered", len(taken))
    lab.metric("overwritten", far.incoming.overwritten)
    lab.metric("frames_held", await far.host.pio_read(far.host.nic_base + Word.HELD))
    mixed = sum(len(set(data)) != 1 or len(data) != lab.option("size") for data in taken)
    lab.metric("mixed_delivered", mixed)
    lab.check(not mixed, f"{mixed} messages were mixed of others")
    numbers = [data[0] for data in taken]
    lab.check(numbers == sorted(set(numbers)), "messages came twice, or overtook each other")
    lab.check(len(taken) + far.incoming.overwritten == lab.option("messages"), "messages are missing")


async def _send(lab: Lab, host: Epos, node: int) -> int:
    """All messages; when the last one has left, ps."""
    for number in range(lab.option("messages")):
        await host.send(node, bytes([number + 1]) * lab.option("size"))
    await host.left()
    return lab.kernel.now


async def _read(lab: Lab, host: Epos) -> list[bytes]:
    """What is delivered, slowly."""
    taken: list[bytes] = []
    while len(taken) + host.incoming.overwritten < lab.option("messages"):
        message = await host.poll()
        if message is None:
            await lab.kernel.sleep(1_000_000, "the next look")
            continue
        taken.append(message.data)
        await lab.kernel.sleep(1_000_000 * lab.option("pause_us"), "other work of the reader")
    return taken
