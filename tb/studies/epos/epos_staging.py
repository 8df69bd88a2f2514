"""Do messages of EPOS wait or get overwritten if their reader is slow, and is any message mixed with another one?

Strategy: the first host sends messages as fast as it may; the last one does other work after each message. With
`epos.staging=hold` frames wait in the Receive Ring, then in the network, and the sender is blocked. With
`epos.staging=overwrite` staging slots are overwritten, and the reader detects it. Each message is filled with its own
number, so that a mixed one is detected. With `SET="epos.protocols=flow"` the sender waits instead.
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
    """Run the study."""
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
    lab.check("bytes of delivered messages", not mixed, f"{mixed} delivered messages mix the bytes of several")
    numbers = [data[0] for data in taken]
    lab.check("order of messages", numbers == sorted(set(numbers)), "messages were duplicated or reordered")
    lab.check(
        "number of messages", len(taken) + far.incoming.overwritten == lab.option("messages"), "messages are missing"
    )


async def _send(lab: Lab, host: Epos, node: int) -> int:
    """Send all messages, and return the time at which the last one has left in ps."""
    for number in range(lab.option("messages")):
        await host.send(node, bytes([number + 1]) * lab.option("size"))
    await host.left()
    return lab.kernel.now


async def _read(lab: Lab, host: Epos) -> list[bytes]:
    """Receive messages slowly, and return those that are delivered."""
    taken: list[bytes] = []
    while len(taken) + host.incoming.overwritten < lab.option("messages"):
        message = await host.poll()
        if message is None:
            await lab.kernel.sleep(1_000_000, "the next look")
            continue
        taken.append(message.data)
        await lab.kernel.sleep(1_000_000 * lab.option("pause_us"), "other work of the reader")
    return taken
