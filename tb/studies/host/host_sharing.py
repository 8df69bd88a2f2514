"""Who has a host's CPU, to the picosecond, when processes compute while interrupts and signals come?

Strategy: two processes of one host compute for longer than the scheduler's quantum. Meanwhile the NIC interrupts the
host repeatedly. Each interrupt routine clears the interrupt over the bus and sends IO to the first process, whose
handler computes. An interval timer sends it ALRM. Each interval of CPU use is recorded with its owner: for a path or a
computation from the trace, for a delivery, switch or system call at its end. An interrupt routine has the CPU while it
runs and no other owner has it. No two intervals may overlap, computing must get its requested time, and together they
must cover all time to the picosecond: the CPU is never idle.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from pymodels.host import Process, Sig
from pymodels.registers import Isr, Reg
from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.kit.engines import engines

OPTIONS = {
    "computing_us": Option(15_000, "computing time of each process", 100, 1_000_000),
    "handler_us": Option(20, "computing time of a signal handler", 0, 10_000),
    "interrupt_us": Option(400, "from the end of a routine to the next interrupt", 20, 1_000_000),
    "timer_us": Option(1_000, "period of the interval timer", 100, 1_000_000),
}
TINY = "computing_us=300 handler_us=5 interrupt_us=20 timer_us=100"
PS = 1_000_000


Stretch = tuple[int, int]
"""Begin and end of an interval in which one owner had the CPU, ps."""


class Owners:
    """Owners of a host's CPU over time, except computing and interrupt routines."""

    def __init__(self, lab: Lab, host: Any) -> None:
        self._kernel, profile = lab.kernel, lab.plan.profile
        self.had: dict[str, list[Stretch]] = {"deliveries": [], "switches": [], "system_calls": []}
        host.overhead = self._noted("deliveries", host.overhead, profile.integer("host.signal_ns"))
        host.syscall = self._noted("system_calls", host.syscall, profile.integer("host.kernel_entry_ns"))
        host.scheduler.switch = self._noted(
            "switches", host.scheduler.switch, profile.integer("host.context_switch_ns")
        )

    def _noted(self, owner: str, verb: Callable[..., Any], took_ns: int) -> Callable[..., Any]:
        """Wrap a verb so that it records at its end that it had the CPU for `took_ns`."""

        async def noted(*words: Any) -> None:
            await verb(*words)
            now = self._kernel.now
            self.had[owner].append((now - 1000 * took_ns, now))

        return noted


class Sharing:
    """Host of the study, and the intervals in which its interrupt routine ran."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.host: Any = lab.running.hosts[0]
        self.nic = engines(lab)
        self.served = self.host.event("an interrupt to be served")
        self.ran: list[Stretch] = []
        self.tells: Process | None = None
        """Process that receives IO."""
        self.host.on_interrupt(self._service)

    async def _service(self) -> None:
        card, begun = self.host.card, self.lab.kernel.now
        isr = card.register(Reg.ISR)
        await self.host.pio_write(isr, card.signal(1 << Isr.HOST_SIG).to_bytes(4, "big"))
        await self.host.pio_read(isr)
        self.ran.append((begun, self.lab.kernel.now))
        if self.tells is not None:
            self.host.signal(self.tells.number, Sig.IO)
        self.served.set()

    async def interrupt(self) -> None:
        """Interrupt the host and wait until the interrupt is served."""
        self.nic.interrupt()
        await self.served.wait()


async def run(lab: Lab) -> None:
    """Run the study."""
    sharing = Sharing(lab)
    host = sharing.host
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
    owners = Owners(lab, host)
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
    had = {"computing": computing.stretches(), **owners.had}
    others = sorted(stretch for stretches in had.values() for stretch in stretches)
    had["routines"] = [piece for ran in sharing.ran for piece in without(ran, others)]
    every = sorted(stretch for stretches in had.values() for stretch in stretches)
    parts = {name: sum(end - at for at, end in stretches) for name, stretches in had.items()}
    asked = PS * (2 * lab.option("computing_us") + lab.option("handler_us") * handled)
    taken, elapsed = host.cpu_ps - used, lab.kernel.now - begun
    lab.check(
        "CPU time of computing",
        parts["computing"] == asked,
        "computing had the CPU for a different time than requested",
    )
    lab.check(
        "users of the CPU", all(a[1] <= b[0] for a, b in pairwise(every)), "two users had the CPU at the same time"
    )
    lab.check(
        "CPU time by user", sum(parts.values()) == taken, f"{taken - sum(parts.values())} ps of CPU time have no user"
    )
    lab.check("use of the CPU", taken == elapsed, f"{elapsed - taken} ps passed in which the CPU was not used")
    for name, took in parts.items():
        lab.metric(f"{name}_us", took / PS)
    lab.metric("used_us", taken / PS)
    lab.metric("elapsed_us", elapsed / PS)
    lab.metric("interrupts", len(sharing.ran))
    lab.metric("signals", handled)
    lab.metric("context_switches", host.scheduler.switches)


class Computing:
    """Computing on host 0 from now on, according to the trace."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._since = lab.kernel.now

    def stretches(self) -> list[Stretch]:
        """Return begin and end of each interval in which computing had the CPU, in order."""
        trace = self._lab.trace()
        ended = (trace["unit"] == unit(0, Part.HOST_CPU)) & (trace["event"] == TraceEvent.SPEND_END)
        rows = trace[ended & (trace["time"] > self._since)]
        begins = rows["time"].astype(np.int64) - rows["argument2"].astype(np.int64)
        return sorted(zip(begins.tolist(), rows["time"].tolist(), strict=True))


def without(stretch: Stretch, others: list[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of an interval that are not covered by the others, which are in order."""
    at, last = stretch
    for begin, end in others:
        if end > at and begin < last:
            if begin > at:
                yield at, begin
            at = end
    if at < last:
        yield at, last
