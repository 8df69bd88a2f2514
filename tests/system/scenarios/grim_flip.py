"""Do the bytes of a GRIM message at the destination's handler come from the wire?

Strategy: two messages with known bytes are sent from the first host to the last; the handler's data are compared byte
by byte.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Source, bring_up, serve_until
from tests.system.scenarios import faults

MESSAGES = 2
OPTIONS = {
    "size": Option(200, "bytes of each message", 4, 4096),
    "way": Option("send", "how they go: by an active message, or replicated by the NI", choices=("send", "multicast")),
    **faults.OPTIONS,
}


async def run(lab: Lab) -> None:
    """Run the scenario."""
    libraries = lab.start_layer("grim")
    near, far, size = libraries[0], libraries[-1], lab.option("size")
    arrived: list[bytes] = []

    def on_data(source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        arrived.append(bytes(payload))

    handlers: list[dict[str, Any]] = [{} for _ in libraries]
    handlers[-1]["data"] = on_data
    await bring_up(lab, libraries, handlers)
    faults.inject(lab)
    data = Source(near.host, size, 1)
    number, where = await near.resolve_handler("data"), near.get_dest_id(far.get_my_vnn())
    if lab.text("way") == "multicast":
        where = await near.find_multicast_tree("flips")
        joining = lab.spawn(far.subscribe_multicast_by_name("flips", 1), "far host's subscription")
        await serve_until(lab, [near], lambda: joining.finished.done, also=[joining])
    send = near.send_mc if lab.text("way") == "multicast" else near.send
    loop = lab.spawn(far.wait_for(lambda: len(arrived) == MESSAGES), "far host")
    for i in range(MESSAGES):
        await send(where, number, i, payload=data.region(size))
        lab.findings.messages += 1
    await lab.all([loop])
    flipped = {
        (i, at): a ^ b
        for i, message in enumerate(arrived)
        for at, (a, b) in enumerate(zip(data.bytes, message, strict=True))
        if a != b
    }
    lab.metric("arrived", len(arrived))
    lab.metric("flipped", len(flipped))
    for (i, at), change in flipped.items():
        lab.metric(f"flipped_{i}_{at}", change)
    faults.hand_in_explained(lab)
