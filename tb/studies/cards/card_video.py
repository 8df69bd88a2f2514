"""How many frames a second does one host show on the display of another, and what does the display show at the end?

Strategy: host 0 sends successive frames of a moving picture, each from its pinned memory by one remote write to a
physical address (RM-P): the frame buffer card of host 1, whose CPU is not involved. A lock follows the last frame; its
value in the memory of host 1 ends the measurement. Then the card's memory is compared with the last frame and written
as `frame.png` to the run's directory. Frames are drawn in advance and cost no time. With `into=ni` the frame buffer is
memory that host 1 has reserved in its NI (paper 003, C.5.3). The NI's host DMA fills it through its own card's window,
like any other place on the bus.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.config.model import CARDS, FRAME_CARD
from pymodels.errors import ConfigError
from pymodels.formats.png import png
from tb.lab.cluster import FRAME_BYTES
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.request import Plan
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, LAYER, NEEDS, PICOSECONDS, SETTLE_PS, check_card
from tb.studies.grim._grim import bring_up

__all__ = ["CLUSTER", "LAYER", "NEEDS", "run"]
PICTURE = "frame.png"
DISPLAY = SLOT + CARDS.index(FRAME_CARD) * SLOT_BYTES
"""PCI address of the frame buffer."""
DEPTHS = {"8": "grey", "16": "RGB 5:6:5, little-endian", "32": "RGB and an unused byte"}
OPTIONS = {
    "frames": Option(4, "frames of the picture", 1, 10_000),
    "width": Option(96, "pixels of a line; a multiple of 4", 4, 4096),
    "height": Option(64, "lines", 1, 4096),
    "into": Option("card", "the frame buffer: a card, or memory reserved in the NI of host 1", choices=("card", "ni")),
    "depth": Option("16", "bits of a pixel", choices=tuple(DEPTHS)),
    **CARD_OPTIONS,
}
QUICK = "frames=2 fpga.image_bytes=3200"


def check(plan: Plan) -> None:
    """Raise ConfigError unless a frame fits into the card and into whole words, and the second host has any needed
    display.
    """
    if plan.options["into"] != "ni":
        check_card(plan, 1, FRAME_CARD)
    width, height, depth = (int(plan.options[name]) for name in ("width", "height", "depth"))
    size = width * height * depth // 8
    if width % 4:
        raise ConfigError("SET", 0, "value out of range", f"width is {width}", "give a multiple of 4")
    if size > FRAME_BYTES >> 2:
        limit = FRAME_BYTES >> 2
        raise ConfigError("SET", 0, "frame too large", f"{size} bytes", f"pinned memory ends at {limit}")


async def run(lab: Lab) -> None:
    """Run the study."""
    shape = lab.option("height"), lab.option("width")
    depth = int(lab.text("depth"))
    frames = [encode(draw(number, *shape), depth) for number in range(lab.option("frames"))]
    begin, end, shown = await _show(lab, frames)
    seconds = (end - begin) / PICOSECONDS / 1e6
    lab.check("last frame", shown == frames[-1], "the display does not show the last frame")
    lab.metric("bytes_equal", int(shown == frames[-1]))
    lab.metric("frames_per_s", len(frames) / seconds)
    lab.metric("MBps", len(frames) * len(frames[0]) / seconds / 1e6)
    Path(lab.plan.request.folder, PICTURE).write_bytes(png(decode(shown, *shape, depth)))


async def _show(lab: Lab, frames: list[bytes]) -> tuple[int, int, bytes]:
    """Send the frames; return begin and end in ps, and the content of the display."""
    libraries = lab.start_layer(LAYER)
    size, in_ni = len(frames[0]), lab.text("into") == "ni"
    if in_ni:
        libraries[1].reserve_ni_memory(size)
    await bring_up(lab, libraries, [{} for _ in libraries])
    near, far = libraries[:2]
    display = far.get_reserved_ni_memory()[1] if in_ni else DISPLAY
    source, lock = await near.malloc_pinned(size), await far.malloc_pinned(4)
    where, last = near.get_dest_id(far.get_my_vnn()), len(frames)
    await lab.kernel.sleep(SETTLE_PS, "all to be quiet")
    begin = lab.kernel.now
    seen = lab.spawn(far.wait_for_lock(lock, last), "host 1, waiting for the last frame")
    for number, frame in enumerate(frames, 1):
        near.store_pinned(source, frame)
        ends = {"lock": lock, "value": last} if number == last else {}
        await near.send_physical_memory(where, display, source, size, **ends)
        lab.findings.messages += 1
        lab.progress(number, last, "frames")
    await seen.finished
    end = lab.kernel.now
    memory, at = (lab.running.nics[1].sram, display - far.host.nic_base) if in_ni else (lab.running.frames[1], 0)
    return begin, end, bytes(memory[at : at + size])


def draw(number: int, height: int, width: int) -> NDArray[np.uint8]:
    """Return frame `number`: a disc that moves over a coloured background; shape (height, width, 3)."""
    y, x = np.mgrid[0:height, 0:width]
    picture = np.stack([x * 255 // width, y * 255 // height, np.full_like(x, 96)], axis=2).astype(np.uint8)
    radius = max(2, height // 5)
    middle = radius + number * radius // 2 % max(1, width - 2 * radius)
    picture[(x - middle) ** 2 + (y - height // 2) ** 2 < radius**2] = (255, 224, 0)
    return picture


def encode(picture: NDArray[np.uint8], depth: int) -> bytes:
    """Return a picture in the card's format, line by line."""
    red, green, blue = (picture[:, :, channel].astype(np.uint32) for channel in range(3))
    if depth == 8:
        return ((red + green + blue) // 3).astype(np.uint8).tobytes()
    if depth == 16:
        return (red >> 3 << 11 | green >> 2 << 5 | blue >> 3).astype("<u2").tobytes()
    return (blue | green << 8 | red << 16).astype("<u4").tobytes()


def decode(data: bytes, height: int, width: int, depth: int) -> NDArray[np.uint8]:
    """Return the card's content as a picture; shape (height, width, 3)."""
    values: NDArray[Any] = np.frombuffer(data, f"<u{depth // 8}").reshape(height, width).astype(np.uint32)
    if depth == 8:
        parts: tuple[NDArray[Any], ...] = values, values, values
    elif depth == 16:
        parts = values >> 11 << 3, (values >> 5 & 63) << 2, (values & 31) << 3
    else:
        parts = values >> 16 & 255, values >> 8 & 255, values & 255
    return np.stack(parts, axis=2).astype(np.uint8)
