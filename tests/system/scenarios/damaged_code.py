"""A word of the code that a NIC executes turns into none that a LANai knows, while it waits for a message."""

from __future__ import annotations

from firmware.images import image
from pymodels.lanai.image import Image
from tb.lab.lab import Lab

LAYER = "echo"
ILLEGAL = 0xFFFF8000
OPTIONS: dict[str, object] = {}


async def run(lab: Lab) -> None:
    """The study."""
    for host in lab.start_layer(LAYER):
        await host.start()
    program = Image.load(image(LAYER, lab.plan.profile.kind)).program
    main = next(one for one in program.functions if one.name == "main")
    lab.running.nics[0].store_words(main.address, [ILLEGAL] * (main.size // 4))
    await lab.kernel.sleep(10_000_000)
