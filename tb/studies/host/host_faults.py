"""What do a page fault, a protected store and a signal cost a process, with handlers that wait and that do not?

Strategy: one process runs alone on one host. Each operation is repeated, and its time is that of the process from
before to after. A fault handler either grants access at once, or waits for a time as for a message, or loads the page
by the NIC's DMA.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from firmware.verbs import Signal
from pymodels.host import PAGE, Fault, Rights, Sig
from pymodels.kernel import Task
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.engines import engines

OPTIONS = {
    "repetitions": Option(8, "faults of each kind", 1, 10_000),
    "wait_us": Option(100, "wait of a handler", 1, 1_000_000),
}
TINY = "repetitions=8 wait_us=5"
PS, SETTLE_PS, LOOK_PS = 1_000_000, 5_000_000, 100_000
OLD = b"\xa5"
"""Bytes of a frame before a page is loaded into it."""


class Faults:
    """The process and its handlers."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.process = self.host.process("app")
        self.page = self.process.allocate(PAGE)
        (self.frame,) = self.process.pin(self.page, PAGE)
        self.process.unpin(self.page, PAGE)
        self.nic = engines(lab)
        self.transfers: list[Task] = []
        self.process.on_signal(Sig.USR1, self._signalled)

    async def _signalled(self, sig: Sig) -> None:
        """Handle a signal without an effect."""

    async def mend(self, fault: Fault) -> None:
        """Grant access by a system call."""
        await self.process.protect(fault.va, 1, Rights.WRITE)

    async def wait(self, fault: Fault) -> None:
        """Wait, then grant access."""
        done = self.host.event("the time-out of the handler")
        self.lab.kernel.at(self.lab.kernel.now + PS * self.lab.option("wait_us"), done.set)
        await self.process.block(done)
        await self.mend(fault)

    async def bring(self, fault: Fault) -> None:
        """Load the page by the NIC's DMA, as a driver."""
        self.host.close(self.frame, "")  # for DMA it is open, for the process it is not there yet
        done = self.host.event("the page to arrive")
        transfer = self.nic.transfer(self.nic.sizes[-1], self.frame, False)
        self.transfers = [self.host.spawn(transfer, "DMA"), self.host.spawn(self._come(done), "driver")]
        await self.process.block(done)
        self.process.set_present(self.page, PAGE, True)

    async def _come(self, done: Signal) -> None:
        """Complete the load when the last bytes of the page have arrived."""
        last = self.frame + self.nic.sizes[-1] - 1
        while self.host.load_bytes(last, 1) == OLD:
            await self.lab.kernel.sleep(LOOK_PS)
        done.set()

    def leave(self) -> None:
        """Remove the page; its frame holds old bytes."""
        self.process.store_bytes(self.page, OLD * PAGE)
        self.process.set_present(self.page, PAGE, False)

    async def measure(self, name: str, prepare: Callable[[], object], act: Callable[[], Awaitable[object]]) -> None:
        """Record the mean time of an operation of the process."""
        took = 0
        for _ in range(self.lab.option("repetitions")):
            await self.lab.kernel.sleep(SETTLE_PS)
            prepare()
            begun = self.lab.kernel.now
            await act()
            took += self.lab.kernel.now - begun
            for transfer in self.transfers:
                await transfer.finished
        self.lab.metric(f"{name}_us", took / self.lab.option("repetitions") / PS)


async def run(lab: Lab) -> None:
    """Run the study."""
    faults = Faults(lab)
    await faults.host.spawn(_run(lab, faults), "app").finished


async def _run(lab: Lab, faults: Faults) -> None:
    """Run the process."""
    process, page = faults.process, faults.page
    await process.syscall()

    def nothing() -> None:
        """Leave the page unchanged."""

    def protected() -> None:
        process.set_rights(page, PAGE, Rights.READ)

    def store() -> Awaitable[object]:
        return process.write(page + 64, b"word")

    await faults.measure("store", nothing, store)
    await faults.measure("protect", nothing, lambda: process.protect(page, PAGE, Rights.WRITE))
    process.on_fault(faults.mend)
    await faults.measure("store_that_faults", protected, store)
    process.on_fault(faults.wait)
    await faults.measure("store_that_faults_and_waits", protected, store)
    process.page_by(page, PAGE, faults.bring)
    await faults.measure("store_that_brings_its_page", faults.leave, store)
    await faults.measure("signal_to_itself", nothing, lambda: process.kill(process.number, Sig.USR1))
    lab.check(
        "number of page faults",
        process.faults == 3 * lab.option("repetitions"),
        "the number of faults differs from the number of protected stores",
    )
    lab.check("protected store", process.load_bytes(page + 64, 4) == b"word", "the store was lost")
    lab.metric("faults", process.faults)
    lab.metric("context_switches", faults.host.scheduler.switches)
