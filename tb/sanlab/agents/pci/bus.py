"""PCI bus of a design, shared by agents: one sample of all wires at each clock edge, one drive after it.

The bus samples at the rising edge and resolves the wires at the falling edge. Agents therefore see registered and
combinational outputs of the design alike, and the design has half a period of set-up time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cocotb
from cocotb.triggers import Event, FallingEdge, RisingEdge

from .errors import PciError
from .forms import Form, find_form, integer
from .pins import BusSample, Levels, Pins, resolve, sample_of


class ResetActive(Exception):  # noqa: N818  # a signal between agents, not an error
    """Reset of the bus during a wait for the next clock edge."""


class PciBus:
    """Wires of one PCI bus and the agents on it.

    Use `from_prefix`. Agents start the bus with their clock and reset; all agents of a bus have the same.

    Attributes:
        width: 32 or 64 bits.
        clocks: Number of clock edges outside of reset.
        sample: Wires at the last clock edge.
    """

    def __init__(self, form: Form, entity: Any, start: str, slot: int) -> None:
        self._form = form
        self.width = form.width
        self.clocks = 0
        self.sample = BusSample()
        self.hooks: list[Callable[[BusSample], None]] = []
        """Functions called with each sample before the agents continue."""
        self.resets: list[Callable[[], None]] = []
        """Functions called at each clock edge with the reset asserted."""
        self._pins: list[Pins] = []
        self._edge = Event()
        self._clock: tuple[Any, Any, bool] | None = None
        self._resetting = True
        self._idsel = entity[f"{start}idsel"] if hasattr(entity, f"{start}idsel") else None
        self._slot = slot
        self.requests = Requests(entity, start, passive=not form.drivable)
        """REQ# and GNT# of all masters."""

    @classmethod
    def from_prefix(cls, entity: Any, prefix: str, slot: int = 0) -> PciBus:
        """Return the bus on the wires `<prefix>_<wire>` of an entity.

        Args:
            entity: Handle of the design, or of an instance of `pci_nets`.
            prefix: Prefix of the wires; empty for wires without prefix and underscore.
            slot: Slot of the design: its `idsel` follows AD[16 + slot].

        Raises:
            MissingWiresError: Wires are missing; the message names them.
        """
        return cls(find_form(entity, prefix), entity, f"{prefix}_" if prefix else "", slot)

    @property
    def idle(self) -> bool:
        """True if FRAME# and IRDY# were deasserted at the last clock edge."""
        return not (self.sample.frame or self.sample.irdy)

    def start(self, clock: Any, reset: Any, active_level: bool) -> None:
        """Start sampling. Raises PciError if another agent has given another clock or reset."""
        given = clock, reset, active_level
        if self._clock is None:
            self._clock = given
            cocotb.start_soon(self._run(clock, reset, active_level))
        elif self._clock != given:
            raise PciError("PCI bus", "agents have different clocks or resets", "give all agents of a bus the same")

    def pins(self) -> Pins:
        """Return the pins of a new agent. Raises PciError if the wires are resolved."""
        if not self._form.drivable:
            remedy = "use inputs <wire>_i with <wire>_o and <wire>_oe, or an instance of pci_nets"
            raise PciError("PCI bus", "resolved wires cannot be driven", remedy)
        self._pins.append(Pins(self._form.bits))
        return self._pins[-1]

    async def edge(self) -> BusSample:
        """Wait for the next clock edge and return its sample. Raises ResetActive if the reset is asserted at it."""
        await self._edge.wait()
        if self._resetting:
            raise ResetActive
        return self.sample

    async def out_of_reset(self) -> None:
        """Wait until the reset has been deasserted at a clock edge."""
        while self._resetting:
            await self._edge.wait()

    async def _run(self, clock: Any, reset: Any, active_level: bool) -> None:
        rising, falling = RisingEdge(clock), FallingEdge(clock)
        levels, conflict = resolve([], self._form.bits)
        while True:
            await rising
            if not self._form.drivable:
                levels, conflict = await self._form.settle([])
            self._resetting = reset is not None and bool(integer(reset)) == active_level
            if self._resetting:
                self._clear()
            else:
                self.clocks += 1
                gnt, req = self.requests.read()
                self.sample = sample_of(levels, self.sample, gnt, req, conflict)
                for hook in self.hooks:
                    hook(self.sample)
            self._edge.set()
            self._edge.clear()
            if self._form.drivable:
                await falling
                levels, conflict = await self._drive()

    def _clear(self) -> None:
        self.sample = BusSample()
        for pins in self._pins:
            pins.clear()
        self.requests.clear()
        for reset in self.resets:
            reset()

    async def _drive(self) -> tuple[Levels, bool]:
        """Drive the wires for the next clock edge."""
        for pins in self._pins:
            pins.advance()
        levels, conflict = await self._form.settle([dict(pins.drives) for pins in self._pins])
        for pins in self._pins:
            pins.follow(levels)
        if self._idsel is not None:
            self._idsel.value = levels["ad"] >> 16 + self._slot & 1
        self.requests.write()
        return levels, conflict


class Requests:
    """REQ# and GNT# of the masters on a bus: those of the design first, then the agents.

    Without an arbiter a single master always has the bus.
    """

    def __init__(self, entity: Any, start: str, passive: bool) -> None:
        self._req, self._gnt = (
            entity[f"{start}{name}"] if hasattr(entity, f"{start}{name}") else None for name in ("req_n", "gnt_n")
        )
        self.designs = len(self._req) if self._req is not None else 0
        """Number of masters in the design."""
        self.arbiter_in_design = False
        """True if the design grants: `req_n` is its input and `gnt_n` its output."""
        self.passive = passive
        """True if the wires are resolved, so that both are only read."""
        self.arbitrated = False
        """True if an agent grants."""
        self.granted = 0
        """Bit of the master that the arbiter grants."""
        self._asked = self._agents = 0
        self._shown, self._given = 0, 1

    def add(self, port: int | None) -> int:
        """Return the bit of a new master. `port` is its bit in an arbiter of the design."""
        if port is not None:
            self.arbiter_in_design = True
            return port
        self._agents += 1
        return self.designs + self._agents - 1

    def check(self) -> None:
        """Raise PciError if several masters have no arbiter."""
        if self.masters > 1 and not (self.arbitrated or self.arbiter_in_design):
            raise PciError("PCI bus", "several masters without an arbiter", "add a PciArbiter to the bus")

    @property
    def masters(self) -> int:
        """Number of masters on the bus."""
        return self.designs + self._agents

    def ask(self, bit: int, wanted: bool) -> None:
        """Assert or deassert REQ# of an agent."""
        self._asked = self._asked & ~(1 << bit) | wanted << bit

    def clear(self) -> None:
        """Deassert all REQ# and GNT#."""
        self._asked = self.granted = 0

    def read(self) -> tuple[int, int]:
        """Return the grants and requests at this clock edge, one bit for each master."""
        gnt, req = self._given, self._shown
        if self._gnt is not None and (self.arbiter_in_design or self.passive):
            gnt = ~integer(self._gnt) & (1 << len(self._gnt)) - 1
        if self._req is not None and not self.arbiter_in_design:
            req |= ~integer(self._req) & (1 << self.designs) - 1
        return gnt, req

    def write(self) -> None:
        """Show requests and grants to the design, from now to the next clock edge."""
        self._shown = self._asked
        self._given = self.granted if self.arbitrated else 1
        if self.arbiter_in_design and self._req is not None:
            self._req.value = ~self._shown & (1 << self.designs) - 1
        elif self._gnt is not None:
            self._gnt.value = ~self._given & (1 << len(self._gnt)) - 1
