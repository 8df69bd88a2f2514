"""How long does an image of an FPGA card take, by size and method, and what do messages notice, also of bad images?

Strategy: the driver of host 1 loads images into its card, whole ones and those of one slot, by PIO and by DMA.
Meanwhile host 0 sends messages to a circuit in another slot at a constant rate. The longest time between two messages
that this circuit takes is the gap. A message for the slot that is being loaded then shows what it does to those behind
it. Images that are truncated, damaged or made for another place must have the outcome of the reference model, and leave
the slots that it says. All results are compared with the messages in the order of sending.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from firmware.grim.host.card_images import METHODS, LoadError
from firmware.grim.host.fpga import FpgaCard
from pymodels.card.fabric import EXAMPLE
from pymodels.card.image import HEADER, Image, build, file_name, judge
from pymodels.card.registers import SLOTS, Forward, Load
from pymodels.trace import Part, TraceEvent
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.plan.settings import image_ps
from tb.studies.cards._cards import CARD_OPTIONS, CLUSTER, LAYER, NEEDS, PICOSECONDS, SETTLE_PS, Pair, check
from tb.studies.kit.records import times

__all__ = ["CLUSTER", "LAYER", "NEEDS", "check", "run"]
IMAGES = ("digests.bit", "filters.bit")
SLOT, OTHER_SLOT = 1, 0
"""Slots of the partial images; the second one is only damaged."""
WORKING, WAITING = "loopback", ("sha256", "histogram")
"""Circuit of the messages, in another slot of both images; circuit of SLOT in each image."""
UNDER_WAY = 2
"""Most messages without a result while the card works."""
PARTS = (16, 4, 1)
"""Sizes of partial images: fractions of the frames of a slot."""
OPTIONS = {
    "pause_us": Option(50, "time between two messages", 10, 10_000, unit="us"),
    "size": Option(64, "bytes of a message", 4, 4096, unit="bytes"),
    **CARD_OPTIONS,
}
QUICK = "fpga.image_bytes=6400 fpga.slot_bytes=3200 pause_us=20"


async def run(lab: Lab) -> None:
    """Run the study."""
    loads = _Loads(lab)
    await loads.enable()
    traffic = lab.spawn(loads.send(), "messages of host 0")
    for method in METHODS:
        await loads.measure(method)
    await loads.load_beside_a_waiting_message()
    await loads.bad()
    loads.over = True
    await traffic.finished
    loads.report()


class _Loads:
    """Loads of the card of host 1, and messages of host 0 to it."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._pair = lab, Pair(lab)
        self._circuits = lab.plan.cluster.circuits or EXAMPLE
        self._sizes = {
            None: lab.plan.profile.integer("fpga.image_bytes"),
            SLOT: lab.plan.profile.integer("fpga.slot_bytes"),
        }
        self._turn = 0
        """Index of the image to load next; both alternate."""
        self._sent: list[bytes] = []
        self._come: list[bytes] = []
        self._asked = self._answers = 0
        """Messages to SLOT, and their results."""
        self._gaps: dict[str, tuple[int, int]] = {}
        """Intervals whose gap is a metric, by its name."""
        self.over = False
        """True when no further message is sent."""

    @property
    def _card(self) -> FpgaCard:
        card: FpgaCard | None = self._pair.far.card
        if card is None:
            raise LookupError("host 1 has no FPGA card")
        return card

    async def enable(self) -> None:
        """Start both hosts, and let the results return to host 0."""
        pair = self._pair
        await pair.enable([{"result": self._on_result, "answer": self._on_answer}, {}], [WORKING, *WAITING])
        for name, handler in ((WORKING, "result"), *((name, "answer") for name in WAITING)):
            await pair.near.forward(pair.cards[1], name, Forward.ENDPOINT, pair.host(0), pair.number[handler])
        await self._lab.kernel.sleep(SETTLE_PS, "the tables to be set")

    async def send(self) -> None:
        """Send messages until the loads are over, and wait for all results."""
        pair, lab = self._pair, self._lab
        while not self.over:
            payload = len(self._sent).to_bytes(lab.option("size"), "little")
            self._sent.append(payload)
            await pair.near.send(pair.cards[1], pair.number[WORKING], payload=payload)
            lab.findings.messages += 1
            await pair.near.poll()
            await lab.kernel.sleep(lab.option("pause_us") * PICOSECONDS, "the next message")
        await pair.near.wait_for(lambda: len(self._come) == len(self._sent) and self._answers == self._asked)

    def _next(self, slot: int | None, frames: int) -> Image:
        """Return the image whose turn it is, with so many bytes of frames."""
        self._turn ^= 1
        return build(self._circuits, IMAGES[1 - self._turn], slot, frames)

    async def _timed(self, data: bytes | Path, method: str) -> tuple[int, int]:
        """Load an image, and return the times of start and end in ps."""
        begin = self._lab.kernel.now
        await self._card.load(data, method=method)
        return begin, self._lab.kernel.now

    async def measure(self, method: str) -> None:
        """Load images of several sizes, the last one of the whole device, and record their times."""
        lab, points = self._lab, []
        for slot, part in (*((SLOT, part) for part in PARTS), (None, 1)):
            image = self._next(slot, self._sizes[slot] // part)
            path = Path(lab.plan.request.folder, file_name(IMAGES[1 - self._turn], slot))
            path.write_bytes(image.pack())
            begin, end = await self._timed(path, method)
            size, took = path.stat().st_size, end - begin
            points.append((size, took / PICOSECONDS))
            if part == 1:
                kind = "whole" if slot is None else "slot"
                lab.metric(f"load_us_{kind}_{method}", took / PICOSECONDS)
                lab.metric(f"load_MBps_{kind}_{method}", size / took * PICOSECONDS)
                self._gaps[f"gap_us_{kind}_{method}"] = begin, end
            await self._settle()
        lab.series(f"load_{method}", [size for size, _ in points], [took for _, took in points], "B", "us")

    async def load_beside_a_waiting_message(self) -> None:
        """Send a message for a slot while it is being loaded; those behind it wait with it."""
        pair, lab = self._pair, self._lab
        image = self._next(SLOT, self._sizes[SLOT])
        loading = lab.spawn(self._timed(image.pack(), METHODS[0]), "driver of host 1")
        await lab.kernel.sleep(image_ps(lab.plan.profile, whole=False) // 4, "a quarter of the image")
        await pair.near.send(pair.cards[1], pair.number[WAITING[1 - self._turn]], payload=b"for this slot")
        self._asked += 1
        self._gaps["gap_us_slot_waiting"] = await loading.finished
        await self._settle()

    async def _settle(self) -> None:
        """Wait until the messages that waited for a load are answered."""
        await self._lab.kernel.sleep(SETTLE_PS, "the messages that waited")
        while len(self._sent) - len(self._come) > UNDER_WAY:
            await self._lab.kernel.sleep(SETTLE_PS, "the messages that waited")

    async def bad(self) -> None:
        """Load bad images, compare outcome and slots with those of the model, and load a good one at the end."""
        good = self._next(SLOT, self._sizes[SLOT])
        other = build(self._circuits, IMAGES[0], OTHER_SLOT, self._sizes[SLOT])
        whole = self._next(None, self._sizes[None])
        file = good.pack()
        bad = {
            "no_image": b"some text, but no image",
            "damaged_header": _flipped(file, HEADER.size - 8),
            "other_card": replace(good, part=good.part + 1).pack(),
            "other_circuits": replace(good, identity=good.identity ^ 1).pack(),
            "no_place": replace(good, slot=SLOTS).pack(),
            "truncated": file[: len(file) // 2],
            "damaged": _flipped(other.pack(), len(other.frames) // 2),
            "damaged_device": _flipped(whole.pack(), len(whole.frames) // 2),
            "no_shell": file,
        }
        configured = True
        for name, data in bad.items():
            verdict = judge(data, self._circuits, configured)
            before = await self._card.slots()
            outcome = await self._outcome(data)
            expected = tuple(None if slot in verdict.emptied else image for slot, image in enumerate(before))
            slots = await self._card.slots()
            self._lab.check("outcomes of bad images", outcome == verdict.outcome, f"{name} is {outcome!r}")
            self._lab.check("slots after bad images", slots == expected, f"after {name}: {slots}, expected {expected}")
            self._lab.metric(f"outcome_{name}", outcome)
            self._lab.metric(f"emptied_{name}", sum(a != b for a, b in zip(before, slots, strict=True)))
            configured &= len(verdict.emptied) < SLOTS
        await self._card.load(whole.pack())

    async def _outcome(self, data: bytes) -> Load:
        try:
            await self._card.load(data)
        except LoadError as error:
            return error.outcome
        return Load.DONE

    def report(self) -> None:
        """Record the gaps and the losses."""
        lab = self._lab
        taken = times(lab.trace(), 1, Part.FPGA, TraceEvent.CARD_TAKE)
        for name, (begin, end) in self._gaps.items():
            inside = taken[max(0, taken.searchsorted(begin) - 1) : taken.searchsorted(end, "right") + 1]
            lab.metric(name, float((inside[1:] - inside[:-1]).max()) / PICOSECONDS)
        equal = self._come == self._sent
        lab.check(
            "results of the card", equal, f"{len(self._come)} results of {len(self._sent)} messages, or another order"
        )
        lab.metric("lost", len(self._sent) - len(self._come))
        lab.metric("bytes_equal", int(equal))

    def _on_result(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._come.append(bytes(payload))

    def _on_answer(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._answers += 1


def _flipped(data: bytes, at: int) -> bytes:
    """Return data with one bit changed."""
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
