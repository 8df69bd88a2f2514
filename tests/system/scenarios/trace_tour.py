"""What does the trace record when a layer starts, and then sends messages of several sizes one by one, both ways?

Strategy: the calls are fixed and each message has ended before the next begins. The machine and the RTL therefore
execute the same calls in the same order, and `tests/system/test_trace_arguments.py` compares their records.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.layers import open_mail, with_mail
from firmware.mail import Mail
from pymodels.kernel import Kernel
from tb.lab.lab import Lab
from tb.plan.options import Option

OPTIONS = {
    "layer": Option("echo", "the layer that is started", choices=tuple(with_mail())),
    "largest": Option(3000, "bytes of the longest message", 4, 3000),
}
SIZES = (4, 48, 700, 3000)
"""Sizes of the messages in bytes; limited to the layer's maximum."""
PAUSE_PS = 100_000_000
"""Time between two messages, after which all effects of the first have ended, ps."""


async def run(lab: Lab) -> None:
    """Run the scenario."""
    layer = lab.text("layer")
    mails = [open_mail(layer, library) for library in lab.start_layer(layer)]
    await lab.all([lab.spawn(mail.start(), f"start of {node}") for node, mail in enumerate(mails)])
    await tour(lab.kernel, mails, lab.option("largest"))
    lab.findings.messages = 2 * len(SIZES)


async def tour(kernel: Kernel, mails: Sequence[Mail], largest: int) -> None:
    """Send each size, up to `largest`, from the first host to the last and back."""
    ends = (0, len(mails) - 1)
    for source, target in (ends, ends[::-1]):
        for size in SIZES:
            await kernel.sleep(PAUSE_PS, "the next message")
            data = bytes((source + at) % 251 for at in range(min(size, largest, mails[source].most)))
            received = kernel.spawn(mails[target].receive(), "the receiver")
            await mails[source].send(target, data)
            assert await received.finished == (source, data)
    await kernel.sleep(PAUSE_PS, "everything that the last message causes")
