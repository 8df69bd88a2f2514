"""Single crossbar in the simulator with traffic at each port, for `switch_saturation`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymodels.kernel import Kernel
from tb.bind.actor import PathNumbers
from tb.plan.request import Plan
from tb.sim.doorway import Doorway
from tb.sim.engine import Engine

FULL = 65536


@dataclass(frozen=True)
class Throughput:
    """Counters of one measurement."""

    clocks: int
    chars: int
    packets: int
    backlog: int
    errors: int
    wall_s: float

    def load(self, ports: int) -> float:
        """Return the accepted load in characters a clock and port."""
        return self.chars / self.clocks / ports


class RunningSwitch:
    """Crossbar of `sim_switch_study` in the present simulation."""

    def __init__(self, dut: Any, plan: Plan) -> None:
        self.plan = plan
        self.doorway = Doorway()
        self.kernel = self.doorway.backend(Kernel)()
        self.engine = Engine(dut, self.doorway, self.kernel, direct=False)  # measure() writes signals by handles
        self.paths = PathNumbers()
        self.layers: tuple[str, ...] = ()
        self._dut = dut.study
        self._period = plan.profile.integer("clock.link_ps")
        self._errors = 0
        self.doorway.lib.dw_clock(0, self._period)
        self.doorway.lib.dw_unit_clock(0, 0)
        self.doorway.trace_create(1)

    async def measure(
        self, load: float, length: int, seed: int, warm_clocks: int, clocks: int, self_too: bool = True
    ) -> Throughput:
        """Offer traffic and return the counters of the output.

        Args:
            load: Characters a clock and port.
            length: Packet length in characters.
            seed: Seed of the traffic.
            warm_clocks: Clocks before the measurement.
            clocks: Clocks of the measurement.
            self_too: True if a port may send to itself.
        """
        dut = self._dut
        dut.clear.value, dut.enable.value = 1, 1
        dut.load.value, dut.length.value, dut.seed.value, dut.self_too.value = (
            round(load * FULL),
            length,
            seed,
            int(self_too),
        )
        await self._run(16)
        dut.clear.value = 0
        await self._run(warm_clocks)
        before = self._counters()
        rtl = self.engine.cost.wall_rtl_s
        await self._run(clocks)
        after = self._counters()
        dut.enable.value = 0
        await self._run(4)
        self._errors += after[3]
        spent = self.engine.cost.wall_rtl_s - rtl
        return Throughput(after[4] - before[4], after[0] - before[0], after[1] - before[1], after[2], after[3], spent)

    async def _run(self, clocks: int) -> None:
        await self.kernel.sleep(clocks * self._period, "the traffic to run")

    def _counters(self) -> tuple[int, ...]:
        dut = self._dut
        return tuple(int(signal.value) for signal in (dut.chars, dut.packets, dut.backlog, dut.errors, dut.clocks))

    async def boot(self) -> None:
        """Do nothing: a switch does not boot."""

    async def drain(self) -> None:
        """Do nothing: the traffic never ends by itself."""

    def broken_invariants(self) -> list[str]:
        """Return a description of CRC-8 errors and lost characters."""
        return [f"{self._errors} packets with a wrong CRC-8 or characters lost"] if self._errors else []

    def invariants_by_name(self) -> dict[str, tuple[list[str], int]]:
        """Return the descriptions of violations, and the number of explained ones (0), by invariant."""
        return {"packets": (self.broken_invariants(), 0)}
