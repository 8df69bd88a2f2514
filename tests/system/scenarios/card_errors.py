"""Are errors with cards reported by name, and do they end the run if they break the bus?

Strategy: `calls` makes every invalid call of the library and compares the error texts; the last call addresses an FPGA
without a configuration, which never answers in its status mailbox. `mailbox` writes the control mailbox of a card with
an unconfigured FPGA twice. `outside` sends a remote write to a physical address without a card.
"""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import patch

from firmware.grim.formats import Device
from firmware.grim.host import fpga
from firmware.grim.host.fpga import FpgaCard
from pymodels.card.image import build
from pymodels.card.registers import CardReg, Command, Forward
from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.errors import SanlabError
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, SETTLE_PS, Pair

__all__ = ["CLUSTER", "run"]
OPTIONS = {"kind": Option("calls", "which mistakes", choices=("calls", "mailbox", "outside")), **CARD_OPTIONS}
EMPTY_SLOT = SLOT + 5 * SLOT_BYTES


async def run(lab: Lab) -> None:
    """Run the scenario."""
    pair = Pair(lab)
    await pair.enable([{}, {}], ["loopback"])
    card: FpgaCard = pair.near.card
    if lab.text("kind") == "calls":
        await _calls(lab, pair, card)
    elif lab.text("kind") == "mailbox":
        await card.clear()
        for _ in range(2):
            await card.write(CardReg.CONTROL, Command.PAUSE)
        await lab.kernel.sleep(SETTLE_PS, "the mailbox to be read")
    else:
        source = await pair.near.malloc_pinned(64)
        await pair.near.send_physical_memory(pair.host(1), EMPTY_SLOT, source, 64)
        await lab.kernel.sleep(SETTLE_PS, "the write to arrive")


async def _calls(lab: Lab, pair: Pair, card: FpgaCard) -> None:
    """Make every call that the library must reject."""
    near, target, loopback = pair.near, pair.cards[1], pair.number["loopback"]
    calls: dict[str, Coroutine[Any, Any, None]] = {
        "one send carries at most 16777216": near.send(target, loopback, payload=bytes((1 << 24) + 1)),
        "did you mean 'crc32'": near.forward(target, "crc33", Forward.NOWHERE),
        "is an endpoint of device type 0, which has no circuits": near.forward(pair.host(1), "loopback", Forward.REPLY),
        "target: a device of type NI runs no handlers": near.forward(
            target, "loopback", Forward.ENDPOINT, pair.host(1) | Device.NI << 16, loopback
        ),
        "did you mean 'digests.bit'": card.load("digest.bit"),
        "its slots are 0, 1, 2": card.load("digests.bit", slot=3),
        "'usb' is not a way into the card": card.load("digests.bit", method="usb"),
        "give it with a name of the circuit file": card.load(b"1234", slot=0),
        "the file has 0 bytes; give 1 to 4194304": card.load(b""),
        "no/such.bit cannot be read: No such file or directory": card.load(Path("no/such.bit")),
        "the file does not begin as an image does (after 4 bytes); the circuits stay as they were": card.load(b"text"),
        "the file is truncated (after 1000 bytes); slot that is empty now: 0; give the whole file": card.load(
            _cut(lab)
        ),
        "no requested node has a device": _resource(near),
    }
    for expected, call in calls.items():
        await _refused(lab, expected, call)
    await card.load("digests.bit", slot=0, method="pio")
    lab.check("slots", await card.slots() == ("digests.bit", *["filters.bit"] * 3), f"they are {await card.slots()}")
    await card.clear()
    with patch.object(fpga, "PATIENCE", 20):
        await _refused(lab, "timed out waiting for an answer to PAUSE in the status mailbox", card.pause())
    lab.metric("refused", len(calls) + 1)


def _cut(lab: Lab) -> bytes:
    """Return the first 1,000 bytes of an image of slot 0."""
    return build(lab.plan.cluster.circuits, "digests.bit", 0, 2000).pack()[:1000]


async def _refused(lab: Lab, expected: str, call: Coroutine[Any, Any, None]) -> None:
    try:
        await call
        told = "nothing"
    except SanlabError as error:
        told = str(error)
    lab.check("error text", expected in told, f"the error is {told!r}, expected {expected!r}")


async def _resource(grim: Any) -> None:
    """Request a card of a kind that no node has."""
    grim.get_resource(0, 9)
