"""When does a process that spins on a word of its NIC's card see the word change, over the RTL's bus?

Strategy: a process of host 0 polls a word of the NIC's SRAM, by `poll_card` or, with `single=1`, by single reads in a
loop. The NIC's processor changes the word again and again, each time a little later in a turn of the loop. With
`busy=1` the NIC moves bytes into host memory over the same bus, and a signal's handler computes.
"""

from __future__ import annotations

from typing import Any

from pymodels.cards import SLOT, SLOT_BYTES
from pymodels.errors import SanlabError
from pymodels.host import PAGE, Sig
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies._engines import LanaiEngines

OPTIONS = {
    "single": Option(0, "by single reads", 0, 1),
    "changes": Option(64, "how often the word changes", 1, 10_000),
    "busy": Option(0, "DMA and signals beside it", 0, 1),
}
LAYER = "echo"
"""Its path of looking at a word is charged."""
WORD, DMA_BYTES, GAP_PS, LATER_PS = 0x9000, 256, 1_000_000, 3_777
"""Of the card's memory; of each DMA; from one change to the next, and so much more each time."""
HANDLED_PS = 8_000_000
"""Within it the handler of a signal is done."""


class Polling:
    """The process, and the word."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.nic: Any = lab.running.nics[0]
        self.engines = LanaiEngines(lab)
        self.process = self.host.process("app")
        self.va = self.process.map_nic(WORD // PAGE) + WORD % PAGE
        self.changed: list[int] = []
        self.seen: list[int] = []
        self.process.on_signal(Sig.USR1, self._signalled)

    async def _signalled(self, sig: Sig) -> None:
        await self.process.compute(100)

    async def look(self, old: int) -> int:
        """Poll until the word is another than it was."""
        app = self.process
        if not self.lab.option("single"):
            return int(await app.poll_card(self.va, old, "look_flag"))
        while True:
            word: int = await app.pio_read(self.va)
            await app.spend("look_flag")
            if word != old:
                return word
            await app.give_way()

    async def poll(self) -> None:
        """See every change."""
        for number in range(self.lab.option("changes")):
            self.lab.check(await self.look(number) == number + 1, f"change {number} was not seen as it is")
            self.seen.append(self.lab.kernel.now)

    async def change(self) -> None:
        """Change the word, each time a little later in a turn."""
        buffer = self.host.allocate(PAGE)
        for number in range(self.lab.option("changes")):
            await self.lab.kernel.sleep(GAP_PS + LATER_PS * number)
            if self.lab.option("busy"):
                self.host.signal(self.process.number, Sig.USR1)
                await self.lab.kernel.sleep(HANDLED_PS)
                self.lab.spawn(self.engines.transfer(DMA_BYTES, buffer.address, False), "DMA")
                await self.lab.kernel.sleep(GAP_PS // 2)
            self.nic.store(WORD, number + 1)
            self.changed.append(self.lab.kernel.now)


async def run(lab: Lab) -> None:
    """The scenario."""
    polling = Polling(lab)
    lab.running.use_layer(LAYER)
    beyond = polling.process.map_device(SLOT + 5 * SLOT_BYTES)
    try:
        await polling.process.poll_card(beyond, 0, "look_flag")
    except SanlabError as error:
        lab.check("no card answers at 0xe5000000 of the bus" in str(error), f"told: {error}")
    else:
        lab.check(False, "a read that no card answers was not refused")
    await lab.all([lab.spawn(polling.poll(), "polls"), lab.spawn(polling.change(), "changes")])
    delays = sorted(seen - changed for seen, changed in zip(polling.seen, polling.changed, strict=True))
    for index, delay in enumerate(delays):
        lab.metric(f"delay_ps_{index}", delay)
