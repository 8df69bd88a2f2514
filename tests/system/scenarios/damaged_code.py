"""The code that a NIC executes is overwritten by words that halt its processor, while it waits for a message."""

from __future__ import annotations

from firmware.images import image
from pymodels.lanai.faults import Fault
from pymodels.lanai.image import Image
from tb.lab.lab import Lab
from tb.plan.options import Option
from tests.unit.lanai.lanai_words import wild

LAYER = "echo"
OPTIONS = {"fault": Option(int(Fault.ILLEGAL), "what the words are, as a number of `Fault`", 1, max(Fault))}


async def run(lab: Lab) -> None:
    """Run the study."""
    for host in lab.start_layer(LAYER):
        await host.start()
    program = Image.load(image(LAYER, lab.plan.profile.kind)).program
    main = next(one for one in program.functions if one.name == "main")
    word = wild(main.address)[Fault(lab.option("fault"))]
    nic = lab.running.nics[0]
    nic.store_words(main.address, [word] * (main.size // 4))
    lab.running.doorway.lib.dw_touch(nic.unit)
    await lab.kernel.sleep(10_000_000)
