"""How fast is the transfer of a file from the memory of one host to that of another, and does it arrive unchanged?

Strategy: the file is read into the memory of the first host. GRIM sends it from there to the last host, whose handler
copies it into its own memory. SHA-256 over that memory is compared with SHA-256 of the file; `received.bin` is the
received file. The time counts from the first send to the last handler.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firmware.grim.formats import MAX_SEND
from pymodels.errors import ConfigError
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.plan.request import Plan
from tb.studies.grim._grim import Region, bring_up, of_ends
from tb.tools.paths import ROOT

LAYER = "grim"
KERNEL = (1 << 20) + (64 << 10)
"""Host memory in bytes that is not available to the file: the kernel's, and gaps between buffers."""
OPTIONS = {
    "file": Option(
        "README.md" if (ROOT / "README.md").is_file() else "LICENSE", "path of the file; quote a name with spaces"
    ),
    "send_bytes": Option(MAX_SEND, "maximum bytes of one send", 4, MAX_SEND),
    **layer_options(LAYER),
}
TINY = "file=LICENSE send_bytes=3000"


def file_of(plan: Plan) -> Path:
    """Return the path of the file, relative to the working directory of the command, otherwise to the repository.

    Raises ConfigError if it cannot be read.
    """
    name = str(plan.options["file"])
    places = [Path(plan.request.directory) / name, ROOT / name]
    path = next((place for place in places if place.is_file()), places[0])
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ConfigError(
            "SET",
            0,
            f"no file {name!r}",
            f"{path} {what}",
            "give the path of a file, and quote a name with spaces",
        )
    if not os.access(path, os.R_OK):
        raise ConfigError(
            "SET", 0, f"file {name!r} cannot be read", f"{path}: permission denied", "change its permissions"
        )
    return path


def check(plan: Plan) -> None:
    """Raise ConfigError for a file that is missing or exceeds a host's memory, before anything is built."""
    size, memory = file_of(plan).stat().st_size, plan.profile.integer("memory.bytes")
    free = memory - KERNEL - int(plan.options["grim.host_queue_bytes"]) * int(plan.options["grim.channels"])
    if size > free:
        cause = f"it has {size} bytes, but {memory} bytes of host memory leave {max(free, 0)} for it"
        need = memory - free + size
        remedy = f"set memory.bytes={1 << (need - 1).bit_length()}" if need <= 1 << 31 else "send a smaller file"
        raise ConfigError("SET", 0, f"file {plan.options['file']!r} is larger than host memory", cause, remedy)


async def run(lab: Lab) -> None:
    """Run the study."""
    content = file_of(lab.plan).read_bytes()
    libraries = lab.start_layer(LAYER)
    near, far = libraries[0], libraries[-1]
    transfer = _Transfer(lab, near.host, far.host, content)
    await bring_up(lab, libraries, of_ends(libraries, {}, {"part": transfer.on_part}))
    number, where = await near.resolve_handler("part"), near.get_dest_id(far.get_my_vnn())
    begun = lab.kernel.now
    receiver = lab.spawn(far.wait_for(lambda: transfer.complete), "the receiving host")
    for offset, region in transfer.parts():
        await near.send(where, number, offset, payload=region)
    await lab.all([receiver])
    transfer.hand_in(begun)


class _Transfer:
    """File in the memory of one host, and its received part in that of another."""

    def __init__(self, lab: Lab, sender: Any, receiver: Any, content: bytes) -> None:
        self.lab, self.content = lab, content
        self.out, self.inbox = sender.allocate(len(content) + 4), receiver.allocate(len(content) + 4)
        self.out.view[: len(content)] = content
        self.messages = self.arrived = self.last_at = 0

    def parts(self) -> Iterator[tuple[int, Region | bytes]]:
        """Yield offset and memory of each send. An empty file is one empty message."""
        most = self.lab.option("send_bytes") & ~3
        for offset in range(0, max(len(self.content), 1), most):
            size = min(most, len(self.content) - offset)
            yield (
                offset,
                Region(self.out.address + offset, size, self.out.view[offset : offset + size]) if size else b"",
            )

    @property
    def complete(self) -> bool:
        """True once the whole file has arrived."""
        return self.messages > 0 and self.arrived >= len(self.content)

    def on_part(self, source: int, offset: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a part: copy it into this host's memory."""
        self.lab.check(
            "order of parts", offset == self.arrived, f"a part for offset {offset} arrived instead of {self.arrived}"
        )
        self.inbox.view[offset : offset + len(payload)] = payload
        self.arrived += len(payload)
        self.messages += 1
        self.last_at = self.lab.kernel.now
        self.lab.findings.messages += 1
        self.lab.progress(self.arrived, len(self.content), "bytes")

    def hand_in(self, begun: int) -> None:
        """Record metrics and the comparison, and write the received file."""
        received = self.inbox.view[: self.arrived]
        equal = hashlib.sha256(received).digest() == hashlib.sha256(self.content).digest()
        self.lab.metric("bytes", self.arrived)
        self.lab.metric("messages", self.messages)
        self.lab.metric("sha256_equal", int(equal))
        self.lab.metric("MBps", self.arrived / (self.last_at - begun) * 1e6)
        self.lab.check(
            "content of the file",
            equal,
            f"SHA-256 differs: {self.arrived} bytes arrived, {len(self.content)} were sent",
        )
        place = Path(self.lab.plan.request.folder) / "received.bin"
        scratch = place.with_name(f".{place.name}.{os.getpid()}")
        scratch.write_bytes(received)
        scratch.replace(place)
