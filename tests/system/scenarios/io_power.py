"""What do clients and the host get when an I/O card loses its power in the middle of a request?

Strategy: host 1 reads and writes blocks of the disk that the I/O card of host 0 serves, and sends messages to host 2
meanwhile. The card loses its power `after_us` after the start of a row of requests. The messages must arrive, and later
requests must fail at the client. When the power has returned, a new firmware is started, and then the driver's
`restart`. A request must then succeed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.random import default_rng

from firmware.grim.formats import Device
from firmware.grim.formats.iocard import ANSWER, SERVICE, DiskOp, Status
from firmware.grim.host import GrimError
from firmware.grim.iocard.disk import Disk
from firmware.grim.iocard.endpoint import IoEndpoint
from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.plan.faults import Fault
from tb.plan.options import Option
from tb.studies.cards._cards import CARD_OPTIONS
from tb.studies.grim._grim import bring_up

CLUSTER = "io_card"
OPTIONS = {
    "after_us": Option(30, "time from the start of the requests to the loss of power", 0, 10_000),
    **CARD_OPTIONS,
}
US, SLOT, BLOCK = 1_000_000, 3, 4096
ROW, MESSAGES, WITHOUT_US = 6, 12, 2000
DOWN, SILENT = "the card of VNN 0 has no power", "the card of VNN 0 does not answer"


class Servers:
    """I/O card, its host and one client."""

    def __init__(self, lab: Lab, disk: Disk) -> None:
        self.lab, self.disk = lab, disk
        self.cpu: Any = lab.running.io_cards[0]
        self.begin()
        self.libraries: list[Any] = lab.start_layer("grim")
        self.answers: dict[int, int] = {}
        self.arrived: list[int] = []
        self.errors: list[str] = []
        self.card = self.service = self.buffer = self._tag = 0

    def begin(self) -> None:
        """Start the firmware of the card."""
        self.cpu.spawn(IoEndpoint(self.cpu, self.disk).run(), "the firmware of the I/O card")

    async def enable(self) -> None:
        """Start all hosts."""

        def answer(source: int, tag: int, status: int, count: int, rest: int, payload: memoryview) -> None:
            self.answers[tag] = status

        def message(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            self.arrived.append(a0)

        handlers: list[dict[str, Any]] = [{}, {ANSWER: answer}, {"message": message}, {}]
        await bring_up(self.lab, self.libraries, handlers)
        client = self.libraries[1]
        self.card = client.get_resource(0, Device.CELOXICA)
        self.service = await client.resolve_handler(SERVICE)
        self.buffer = await client.malloc_pinned(BLOCK)

    async def attempt(self, call: Any) -> bool:
        """Make a call of the client; keep its error."""
        try:
            await call
        except GrimError as error:
            self.errors.append(str(error))
            return False
        return True

    async def read(self) -> int:
        """Send a request for a block and return its tag."""
        self._tag += 1
        words = self._tag << 8 | DiskOp.READ, self._tag % 4, 512, self.buffer
        await self.attempt(self.libraries[1].send(self.card, self.service, *words))
        return self._tag

    async def wait(self, us: int, over: Any = lambda: False) -> bool:
        """Poll all hosts for some time, or until a condition holds."""
        for _ in range(us // 2):
            await self.attempt(self.libraries[1].poll())
            await self.libraries[2].poll()
            try:
                await self.libraries[0].poll()
            except GrimError as error:
                self.lab.check("error at the card's host", SILENT in str(error), str(error))
            if over():
                return True
            await self.lab.kernel.sleep(2 * US, "the next poll")
        return False

    async def whole(self, name: str) -> None:
        """Check that a request succeeds."""
        tag = await self.read()
        done = await self.wait(4000, lambda: tag in self.answers)
        found = bytes(self.libraries[1].load_pinned(self.buffer, 512))
        right = done and self.answers[tag] == Status.DONE and found == self.disk.read(tag % 4, 512)
        self.lab.check(name, right, f"{self.answers} {self.errors}")


async def run(lab: Lab) -> None:
    """Run the scenario."""
    path = Path(lab.plan.request.folder) / "disk"
    path.write_bytes(default_rng(lab.seed).bytes(4 * BLOCK))
    here = Servers(lab, Disk(path, BLOCK))
    await here.enable()
    await here.whole("request before the loss")
    lab.check("errors before the loss", not here.errors, str(here.errors))
    cut = lab.kernel.now + lab.option("after_us") * US
    name = lab.plan.cluster.names[0]
    Injector(lab.running).inject([Fault("power", name, cut, SLOT, 0, WITHOUT_US * US)])
    to, number = here.libraries[1].get_dest_id(2), await here.libraries[1].resolve_handler("message")
    for n in range(MESSAGES):
        if n < ROW:
            await here.read()
        while not await here.attempt(here.libraries[1].send(to, number, n)):
            pass
    await here.wait(100 + lab.option("after_us"))
    for _ in range(2):  # the NI may notice with the first one
        await here.read()
        await here.wait(300)
    lab.check("messages to others", here.arrived == list(range(MESSAGES)), str(here.arrived))
    lab.check("error at the client", any(DOWN in error for error in here.errors), str(here.errors))
    lab.metric("answered", len(here.answers))
    lab.metric("errors", len(here.errors))
    await here.wait(WITHOUT_US)
    here.begin()
    restart = lab.spawn(here.libraries[0].card.restart(), "the driver starts the card")
    await here.wait(20_000, lambda: restart.finished.done)
    here.errors.clear()
    await here.whole("request after the restart")
    lab.check("errors after the restart", not here.errors, str(here.errors))
