"""Image of an FPGA card: the file that its configuration port takes, made from a circuit file, and checked as there.

An image configures the whole device, or one slot of it (a partial image). The file has big-endian words: a header of
IMAGE_HEADER_WORDS, the frames, and the CRC-32 of the frames. CRC-32 is that of IEEE 802.3 (`zlib.crc32`).

| word | content |
|---|---|
| 0 | IMAGE_MAGIC |
| 1 | {version 8, FPGA 8, slot 8 or WHOLE_DEVICE, number of the image 8} |
| 2 | identity of the circuit file (`pymodels.card.fabric.identity`) |
| 3 | bytes of the frames, a multiple of 4 |
| 4 | CRC-32 of words 0 to 3 |

Frames stand for the configuration of the FPGA: pseudo-random bytes that follow from name, place and source of the
circuits. `python -m pymodels.card.image FOLDER` writes the images of EXAMPLE.
"""

from __future__ import annotations

import hashlib
import inspect
import struct
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pymodels import roots
from pymodels.card import python
from pymodels.card.fabric import EXAMPLE, Circuit, identity, images
from pymodels.card.registers import (
    IMAGE_HEADER_WORDS,
    IMAGE_MAGIC,
    IMAGE_PART,
    IMAGE_VERSION,
    SLOTS,
    WHOLE_DEVICE,
    Load,
)

DEVICE_BYTES = 765_968
"""Frames of a whole device (ours, from memory: the 6,127,744 bits of an XCV1000)."""
SLOT_BYTES = 89_856
"""Frames of a slot (ours: 12 of the 96 columns of an XCV1000, 48 frames of 156 bytes each)."""
HEADER = struct.Struct(f">{IMAGE_HEADER_WORDS}I")


@dataclass(frozen=True)
class Image:
    """Image before it is packed."""

    number: int
    """Number of the image in the circuit file, from 1."""
    slot: int | None
    """Slot of a partial image; None for the whole device."""
    identity: int
    """Identity of the circuit file."""
    frames: bytes
    """Configuration, a multiple of 4 bytes."""
    version: int = IMAGE_VERSION
    part: int = IMAGE_PART
    magic: int = IMAGE_MAGIC

    def pack(self) -> bytes:
        """Return the bytes of the file."""
        slot = WHOLE_DEVICE if self.slot is None else self.slot
        kind = self.version << 24 | self.part << 16 | slot << 8 | self.number
        head = struct.pack(">4I", self.magic, kind, self.identity, len(self.frames))
        return b"".join((head, struct.pack(">I", zlib.crc32(head)), self.frames, _crc(self.frames)))


def _crc(frames: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(frames))


def build(circuits: Sequence[Circuit], image: str, slot: int | None, size: int) -> Image:
    """Return an image of a circuit file.

    Args:
        circuits: Circuit file.
        image: Name of the image in it.
        slot: Slot of a partial image; None for the whole device.
        size: Bytes of the frames, rounded up to a multiple of 8.
    """
    chosen = tuple(one for one in circuits if one.image == image and slot in (None, one.slot))
    number = images(circuits).index(image) + 1
    return Image(number, slot, identity(circuits), _frames(chosen, -(-size // 8) * 8))


def file_name(image: str, slot: int | None) -> str:
    """Return the name of the file of an image: `filters.bit`, or `filters.2.bit` for slot 2."""
    path = Path(image)
    return path.name if slot is None else f"{path.stem}.{slot}{path.suffix}"


@cache
def _frames(circuits: tuple[Circuit, ...], size: int) -> bytes:
    told = "".join(f"{one.slot} {one.name} {_source(one)}\n" for one in circuits)
    return hashlib.shake_256(told.encode("utf-8")).digest(size)


def _source(circuit: Circuit) -> str:
    """Return the SHA-256 of a circuit's source; of its name, if no file of this name exists."""
    if circuit.python:
        text = inspect.getsource(python.load(circuit.python))
    else:
        name = f"{python.PREFIX}{circuit.name}.sv"
        found = [path for root in roots.roots() for path in sorted((root / "hdl").rglob(name))]
        text = found[0].read_text(encoding="utf-8") if found else name
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Verdict:
    """Result of the check of an image: outcome, slots emptied and loaded, number of the image, bytes up to there."""

    outcome: Load
    emptied: frozenset[int] = frozenset()
    loaded: frozenset[int] = frozenset()
    number: int = 0
    taken: int = 0


def judge(data: bytes, circuits: Sequence[Circuit], configured: bool) -> Verdict:
    """Return what the port of a card does with the bytes of a file between START and END: its reference model.

    Args:
        data: Bytes, filled up to whole words by the driver.
        circuits: Circuit file of the card.
        configured: The whole device has been configured.
    """
    data += bytes(-len(data) % 4)
    if len(data) >= 4 and data[:4] != struct.pack(">I", IMAGE_MAGIC):
        return Verdict(Load.NO_IMAGE, taken=4)
    if len(data) < HEADER.size:
        return Verdict(Load.TRUNCATED, taken=len(data))
    _, kind, made_for, length, crc = HEADER.unpack_from(data)
    version, part, slot, number = kind.to_bytes(4, "big")
    whole = slot == WHOLE_DEVICE
    errors = {
        Load.DAMAGED_HEADER: crc != zlib.crc32(data[: HEADER.size - 4]),
        Load.OTHER_CARD: (version, part) != (IMAGE_VERSION, IMAGE_PART),
        Load.OTHER_CIRCUITS: made_for != identity(circuits),
        Load.NO_PLACE: not 1 <= number <= len(images(circuits))
        or not (whole or slot < SLOTS)
        or not length
        or bool(length % 4),
        Load.NO_SHELL: not whole and not configured,
    }
    for outcome, holds in errors.items():
        if holds:
            return Verdict(outcome, taken=HEADER.size)
    slots = frozenset(range(SLOTS)) if whole else frozenset((slot,))
    end = HEADER.size + length
    if len(data) < end + 4:
        return Verdict(Load.TRUNCATED, slots, taken=len(data))
    if data[end : end + 4] != _crc(data[HEADER.size : end]):
        return Verdict(Load.DAMAGED, slots, taken=end + 4)
    return Verdict(Load.DONE, slots, slots, number, end + 4)


def write(circuits: Sequence[Circuit], folder: Path, device: int = DEVICE_BYTES, slot: int = SLOT_BYTES) -> list[Path]:
    """Write the images of a circuit file, whole and partial ones, and return their paths.

    Args:
        circuits: Circuit file.
        folder: Folder, which exists.
        device: Bytes of the frames of a whole device.
        slot: Bytes of the frames of a slot.
    """
    written = []
    for name in images(circuits):
        for place in (None, *(one.slot for one in circuits if one.image == name)):
            path = folder / file_name(name, place)
            path.write_bytes(build(circuits, name, place, device if place is None else slot).pack())
            written.append(path)
    return written


def main(arguments: list[str]) -> int:
    """Run the command line: write the images of EXAMPLE into a folder, and print their paths."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m pymodels.card.image FOLDER", file=sys.stderr)
        return 2
    for path in write(EXAMPLE, Path(arguments[0])):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
