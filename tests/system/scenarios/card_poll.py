"""When does a process that polls a word of its NIC's card see the word change, over the RTL's bus?

Strategy: a process of host 0 polls a word of the NIC's SRAM, by `poll_card` or, with `single=1`, by single reads in a
loop. The NIC's processor changes the word repeatedly, each time a little later in a turn of the loop. With `busy=1` the
NIC also moves bytes into host memory over the same bus and interrupts the host, and a signal handler computes. With
`program=1` the NIC's processor polls a word that the host stores after each change. With `others=1` a second process of
host 0 and one of host 1 alternately poll and sleep.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from firmware.verbs import Watch
from pymodels.cards import SLOT, SLOT_BYTES, slot
from pymodels.errors import SanlabError
from pymodels.host import PAGE, Sig
from pymodels.registers import Isr, Reg
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.engines import LanaiEngines

OPTIONS = {
    "single": Option(0, "by single reads", 0, 1),
    "changes": Option(64, "how often the word changes", 1, 10_000),
    "busy": Option(0, "DMA, interrupts and signals beside it", 0, 1),
    "program": Option(0, "the NIC's processor polls a word, too", 0, 1),
    "others": Option(0, "others poll too", 0, 1),
}
LAYER = "echo"
"""Layer whose path for polling a word is charged."""
WORD, DMA_BYTES, GAP_PS, LATER_PS = 0x9000, 256, 2_000_000, 3_777
"""Offset of the word in the card's memory; bytes of each DMA; time between changes; increment of that time."""
HANDLED_PS = 8_000_000
"""Time within which the handler of a signal has finished, ps."""
EMPTY = SLOT + 5 * SLOT_BYTES
"""Bus address without a card."""
ASKED = WORD + 8
"""The first word that the NIC's program polls; it stays 0 behind it."""
OTHERS_PS = 3_300_000
"""Time for which the other processes sleep; they poll for a third of it, ps."""


class Poller:
    """Process that polls a word of its host's card."""

    def __init__(self, lab: Lab, node: int, word: int) -> None:
        self.lab, self.word = lab, word
        host: Any = lab.running.hosts[node]
        self.process = host.process(f"polls {word:#x}")
        self.va = self.process.map_nic(word // PAGE) + word % PAGE

    async def look(self, old: int, limit_ps: int = 0) -> int:
        """Poll until the word differs from `old`, or the time is over."""
        app, kernel = self.process, self.lab.kernel
        if not self.lab.option("single"):
            return int(await app.poll_card(self.va, old, "look_flag", timeout_ns=limit_ps / 1000))
        last = kernel.now + limit_ps
        while True:
            word: int = await app.pio_read(self.va)
            await app.spend("look_flag")
            if word != old or (limit_ps and kernel.now >= last):
                return word
            await app.give_way()

    async def again_and_again(self) -> None:
        """Alternately poll and sleep."""
        while True:
            await self.lab.kernel.sleep(OTHERS_PS)
            await self.look(0, OTHERS_PS // 3)


class Polling:
    """Process and the polled word."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.nic: Any = lab.running.nics[0]
        self.engines = LanaiEngines(lab)
        self.poller = Poller(lab, 0, WORD)
        self.changed: list[int] = []
        self.seen: list[int] = []
        self.interrupts = 0
        self.poller.process.on_signal(Sig.USR1, self._signalled)
        self.host.on_interrupt(self._interrupted)

    async def _signalled(self, sig: Sig) -> None:
        await self.poller.process.compute(100)

    async def _interrupted(self) -> None:
        self.interrupts += 1
        card = self.host.card
        await self.host.pio_write(card.register(Reg.ISR), card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))

    async def poll(self) -> None:
        """Wait for every change."""
        for number in range(self.lab.option("changes")):
            seen = await self.poller.look(number)
            self.lab.check("seen changes", seen == number + 1, f"change {number} was not seen as it is")
            self.seen.append(self.lab.kernel.now)
            if self.lab.option("program"):
                await self.poller.process.pio_write(self.poller.va + ASKED - WORD, (number + 1).to_bytes(4, "big"))

    async def program(self) -> None:
        """Poll, on the NIC, for the word that the host stores after each change."""
        loop = self.nic.poll_loop([Watch(ASKED, 0, "look_inbox"), Watch(ASKED + 4, 0, "look_slot")])
        for number in range(self.lab.option("changes")):
            loop.expect(0, number)
            await loop.run()
            self.lab.metric(f"asked_ps_{number}", self.lab.kernel.now)

    async def change(self) -> None:
        """Change the word, each time a little later in a turn."""
        buffer = self.host.allocate(PAGE)
        for number in range(self.lab.option("changes")):
            await self.lab.kernel.sleep(GAP_PS + LATER_PS * number)
            if self.lab.option("busy"):
                self.host.signal(self.poller.process.number, Sig.USR1)
                self.engines.interrupt()
                await self.lab.kernel.sleep(HANDLED_PS)
                self.lab.spawn(self.engines.transfer(DMA_BYTES, buffer.address, False), "DMA")
                await self.lab.kernel.sleep(GAP_PS // 2)
            self.nic.store(WORD, number + 1)
            self.changed.append(self.lab.kernel.now)


async def refuses(polling: Polling) -> None:
    """Check reads without an answer: of a slot without a card, and of a slot of a missing card."""
    host, process = polling.host, polling.poller.process
    beyond = process.map_device(EMPTY)
    await refused(polling.lab, process.poll_card(beyond, 0, "look_flag"), f"poll_card({beyond:#x})")
    host.slots |= {slot(EMPTY)}
    await refused(polling.lab, process.poll_card(beyond, 0, "look_flag"), f"poll_card({beyond:#x})")
    await refused(polling.lab, process.pio_read(beyond), f"pio_read({EMPTY:#x})")
    await refused(polling.lab, host.pio_read(EMPTY), f"{host.who}: pio_read({EMPTY:#x})")


async def refused(lab: Lab, call: Coroutine[Any, Any, Any], said: str) -> None:
    """Check that a call fails with this text."""
    told = "no error"
    try:
        await call
    except SanlabError as error:
        told = str(error)
    lab.check("rejected accesses", f"{said}: no card answers at {EMPTY:#x} of the bus" in told, f"{said}: {told}")


async def run(lab: Lab) -> None:
    """Run the scenario."""
    polling = Polling(lab)
    lab.running.use_layer(LAYER)
    await refuses(polling)
    if lab.option("others"):
        for node in (0, 1):
            lab.spawn(Poller(lab, node, WORD + PAGE).again_and_again(), f"another poller on host {node}")
    if lab.option("program"):
        lab.spawn(polling.program(), "program")
    await lab.all([lab.spawn(polling.poll(), "polls"), lab.spawn(polling.change(), "changes")])
    if lab.option("busy"):
        lab.check("interrupts", polling.interrupts > 0, "no interrupt was taken")
    lab.metric("interrupts", polling.interrupts)
    delays = sorted(seen - changed for seen, changed in zip(polling.seen, polling.changed, strict=True))
    for index, delay in enumerate(delays):
        lab.metric(f"delay_ps_{index}", delay)
