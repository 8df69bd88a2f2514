"""Do the bytes of a VIA message in the destination's memory come from the wire?

Strategy: a message with known bytes is sent from the first host to the last, by a send or an RDMA write; the target's
memory is compared byte by byte.
"""

from __future__ import annotations

from firmware.via.formats import Reliability
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.via._via import connect, user
from tests.system.scenarios import faults

LAYER = "via"
OPTIONS = {
    "size": Option(1000, "bytes of the message", 9, 1024),
    "way": Option("send", "how it goes", choices=("send", "write")),
    **layer_options(LAYER),
    **faults.OPTIONS,
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    vias = lab.start_layer(LAYER)
    await lab.all([lab.spawn(via.start(), "the driver") for via in vias])
    size, last = lab.option("size"), len(vias) - 1
    near, far = await user(vias[0]), await user(vias[last], rdma_write=True)
    mine, yours = await connect(near, far, last, reliability=Reliability.RECEPTION)
    faults.inject(lab)
    data = bytes((11 * i + (i >> 8)) & 0xFF for i in range(size))
    near.write(0, data)
    if lab.text("way") == "send":
        await yours.post_receive(far.descriptor(0).receive([far.part(8, size)]))
        await mine.post_send(near.descriptor(0).send([near.part(0, size)]))
        await yours.poll_receive()
    else:
        await mine.post_send(near.descriptor(0).rdma_write([near.part(0, size)], far.base + 8, far.handle))
    await mine.poll_send()
    lab.findings.messages += 1
    flipped = {at: a ^ b for at, (a, b) in enumerate(zip(data, far.read(8, size), strict=True)) if a != b}
    lab.metric("flipped", len(flipped))
    for at, change in flipped.items():
        lab.metric(f"flipped_{at}", change)
    faults.hand_in_explained(lab)
