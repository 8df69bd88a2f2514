"""Who has a host's CPU, to the picosecond, when processes compute while interrupts and signals come?

Strategy: two processes of one host compute beyond the scheduler's quantum. Meanwhile the NIC interrupts the host again
and again; each routine clears the interrupt over the bus and sends the first process IO, whose handler computes. An
interval timer sends it ALRM. The trace says when computing had the CPU: its stretches must add up to what was asked,
and never overlap. A routine counts the CPU time that passes while it runs; deliveries, switches and system calls are
counted, and cost what the profile says. Together these are all CPU time that was used, to the picosecond, and since the
CPU is never idle also all that passed.
"""

from __future__ import annotations

from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import numpy as np

from pymodels.host import Process, Sig
from pymodels.registers import Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies._engines import engines

OPTIONS = {
    "computing_us": Option(15_000, "that each process computes", 100, 1_000_000),
    "handler_us": Option(20, "that a handler of a signal computes", 0, 10_000),
    "interrupt_us": Option(400, "from the end of a routine to the next interrupt", 20, 1_000_000),
    "timer_us": Option(1_000, "period of the interval timer", 100, 1_000_000),
}
PS = 1_000_000


class Sharing:
    """The host, its interrupt routine, and what it took each time."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.nic = engines(lab)
        self.served = self.host.event("an interrupt to be served")
        self.took: list[int] = []
        self.tells: Process | None = None
        """The process that gets IO."""
        self.host.on_interrupt(self._service)

    async def _service(self) -> None:
        card, used = self.host.card, self.host.cpu_ps
        isr = card.register(Reg.ISR)
        await self.host.pio_write(isr, card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))
        await self.host.pio_read(isr)
        self.took.append(self.host.cpu_ps - used)
        if self.tells is not None:
            self.host.signal(self.tells.number, Sig.IO)
        self.served.set()

    async def interrupt(self) -> None:
        """Interrupt the host, until it is served."""
        self.nic.interrupt()
        await self.served.wait()


async def run(lab: Lab) -> None:
    """The study."""
    sharing = Sharing(lab)
    host, profile = sharing.host, lab.plan.profile
    first, second = host.process("first"), host.process("second")
    sharing.tells = first

    async def handler(sig: Sig) -> None:
        await first.compute(1000 * lab.option("handler_us"))

    async def with_timer() -> None:
        await first.set_timer(1000 * lab.option("timer_us"), 1000 * lab.option("timer_us"))
        await first.compute(1000 * lab.option("computing_us"))
        await first.set_timer(0)

    for sig in (Sig.IO, Sig.ALRM):
        first.on_signal(sig, handler)
    begun, used, computing = lab.kernel.now, host.cpu_ps, Computing(lab)
    programs: list[Coroutine[Any, Any, None]] = [with_timer(), second.compute(1000 * lab.option("computing_us"))]
    threads = [host.spawn(program, "program") for program in programs]
    while not threads[0].finished.done:
        await lab.kernel.sleep(PS * lab.option("interrupt_us"))
        if not threads[0].finished.done:
            await sharing.interrupt()
    for thread in threads:
        await thread.finished
    handled = first.signals.delivered
    parts = {
        "computing": 2 * PS * lab.option("computing_us"),
        "handlers": PS * lab.option("handler_us") * handled,
        "deliveries": 1000 * profile.integer("host.signal_ns") * handled,
        "switches": 1000 * profile.integer("host.context_switch_ns") * host.scheduler.switches,
        "system_calls": 1000 * profile.integer("host.kernel_entry_ns") * 2,
    }
    parts["routines"] = sum(sharing.took)
    taken, elapsed = host.cpu_ps - used, lab.kernel.now - begun
    traced = computing.stretches()
    asked = parts["computing"] + parts["handlers"]
    lab.check(sum(end - at for at, end in traced) == asked, "computing had the CPU for another time than it asked for")
    lab.check(all(a[1] <= b[0] for a, b in pairwise(traced)), "two computed at a time")
    lab.check(sum(parts.values()) == taken, f"{taken - sum(parts.values())} ps of CPU time are nobody's")
    lab.check(taken <= elapsed, "more CPU time was used than has passed")
    for name, took in parts.items():
        lab.metric(f"{name}_us", took / PS)
    lab.metric("used_us", taken / PS)
    lab.metric("idle_us", (elapsed - taken) / PS)
    lab.metric("elapsed_us", elapsed / PS)
    lab.metric("interrupts", len(sharing.took))
    lab.metric("signals", handled)
    lab.metric("context_switches", host.scheduler.switches)


class Computing:
    """What the trace tells of computing on host 0 from now on."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._since = lab.kernel.now

    def stretches(self) -> list[tuple[int, int]]:
        """Begin and end of each stretch for which computing had the CPU, in order."""
        trace = self._lab.trace()
        ended = (trace["unit"] == unit(0, Part.HOST_CPU)) & (trace["event"] == TraceEvent.SPEND_END)
        rows = trace[ended & (trace["time"] > self._since)]
        begins = rows["time"].astype(np.int64) - rows["argument2"].astype(np.int64)
        return sorted(zip(begins.tolist(), rows["time"].tolist(), strict=True))
