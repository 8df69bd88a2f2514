"""How much time is saved when frames of EPOS switch a protocol off, at the sender and at the receiver?

Strategy: reliability and active frames are composed in. The first and the last host play ping-pong with two kinds of
frames. Frames of the first kind have reliability act. Frames of the second kind switch it off, so that there are no
acknowledgements and no waits. The number of acknowledgements is read from the NIC. The difference to a composition
without active frames is the cost of the switch itself.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from firmware.epos.nic.protocols.reliability import WORDS
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.epos._epos import LAYER, one_way_us, started

if TYPE_CHECKING:
    from firmware.epos.host import Epos

OPTIONS = {
    "repetitions": Option(5, "round trips of each composition", 1, 100_000),
    "size": Option(64, "bytes of a message", 0, 4096, unit="bytes"),
    **{name: one for name, one in layer_options(LAYER).items() if name != "epos.protocols"},
}
QUICK = "repetitions=2"
TINY = "repetitions=1 size=16"


async def run(lab: Lab) -> None:
    """Run the study."""
    for name, protocols in (("static", "reliability"), ("on", "active+reliability"), ("off", "active+reliability")):
        hosts = await started(lab, {"protocols": protocols})
        near, far = hosts[0], hosts[-1]
        if name == "off":
            near.activate()
            far.activate()
        took = await one_way_us(lab, near, far, bytes(lab.option("size")), lab.option("repetitions"))
        lab.metric(f"one_way_us_{name}", statistics.mean(took))
        lab.metric(f"acknowledged_{name}", await _acknowledged(near, far.me))
        lab.metric(f"header_B_{name}", near.place.header_bytes)
        await lab.change_layers()


async def _acknowledged(host: Epos, node: int) -> int:
    """Return the number of a host's last frame that a node has acknowledged."""
    return await host.host.pio_read(host.host.nic_base + host.place.peer_address("reliability", node, WORDS) + 4)
