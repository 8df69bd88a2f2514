"""What do messages that interrupt a computation gain, and what do they cost?

Strategy: AM (paper 002: the handler "interrupts computation") with `receive=interrupt`. The last host computes for a
fixed time while the first host does as many GETs from it as it can, one after the other. Three modes are compared. In
the first, the computation neither polls nor is interrupted, so the first GET waits for its end. In the second it is
divided into slices, with a poll after each. In the third, messages interrupt it. Measured are the mean time of a GET
and the delay of the computation per GET.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am._am import NearFar
from tb.studies.kit.hosts import start_in_turn

if TYPE_CHECKING:
    from firmware.am.host import Am

LAYER = "am"
OPTIONS = {
    "compute_us": Option(1000, "computing time of the last host, microseconds", 50, 1_000_000),
    "slice_us": Option(20, "computing time between two polls, microseconds", 1, 1_000_000),
    "size": Option(1024, "bytes of a GET", 0, 65536, unit="bytes"),
    **layer_options(LAYER),
}
QUICK = "compute_us=200 size=64"
TINY = "compute_us=50 size=64"
WAYS = ("deaf", "polling", "interrupted")


class Program(NearFar):
    """Process on the first host and process on the last host."""

    def __init__(self, lab: Lab, layers: list[Am]) -> None:
        super().__init__(lab, layers)
        self.size = lab.option("size")
        self.source = self.far.host.allocate(max(self.size, 4)).address
        self.target, self.flag = (self.near.host.allocate(max(self.size, 4)).address for _ in range(2))
        self.data = bytes(at % 251 for at in range(self.size))
        self.far.host.store_bytes(self.source, self.data)
        self.gets = 0
        self.took_us = 0.0
        """Duration of the last computation."""

    async def compute(self, way: str) -> None:
        """Compute on the last host in one of the modes."""
        begun = self.lab.kernel.now
        total, piece = 1000 * self.lab.option("compute_us"), 1000 * self.lab.option("slice_us")
        if way == "interrupted":
            await self.far.compute(total)
        elif way == "deaf":
            await self.far.process.compute(total)
        else:
            for at in range(0, total, piece):
                await self.far.process.compute(min(piece, total - at))
                await self.far.poll()
        self.took_us = (self.lab.kernel.now - begun) / 1e6
        await self.far.until(lambda: self.over, "the end of a part")

    async def get(self, until: int) -> list[float]:
        """Do GETs until the given time. Return the duration of each in microseconds."""
        took = []
        while self.lab.kernel.now < until:
            begun, self.gets = self.lab.kernel.now, self.gets + 1
            await self.near.get(self.far.me, self.source, self.target, self.size, self.flag)
            await self.near.flag(self.flag, self.gets)
            took.append((self.lab.kernel.now - begun) / 1e6)
        came = self.near.host.load_bytes(self.target, self.size) if self.size else b""
        self.lab.check("received bytes", came == self.data, "the received bytes differ")
        await self.stop()
        return took


async def run(lab: Lab) -> None:
    """Run the study."""
    layers: list[Any] = lab.start_layer(LAYER, {"receive": "interrupt"})
    await start_in_turn(layers)
    program = Program(lab, layers)
    compute_us = lab.option("compute_us")
    for done, way in enumerate(WAYS):
        program.over = False
        computing = lab.spawn(program.compute(way), f"the last host, {way}")
        took = await program.get(lab.kernel.now + compute_us * 1_000_000)
        await lab.all([computing])
        lab.findings.messages += len(took)
        lab.metric(f"gets_{way}", len(took))
        lab.metric(f"get_us_{way}", sum(took) / len(took))
        lab.metric(f"cost_us_per_get_{way}", (program.took_us - compute_us) / len(took))
        lab.progress(done + 1, len(WAYS), "ways")
    lab.metric("interrupts", program.far.interrupted)
