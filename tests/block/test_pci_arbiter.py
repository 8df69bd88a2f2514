"""PCI arbiter against four agents that behave as PCI masters.

Strategy: agents request at random, start when they see GNT# on an idle bus, and hold the bus for a random time. Checked
on every clock: there is at most one grant, and one clock without a grant separates two owners on an idle bus. No agent
waits for more than one turn of each other agent, and without requests the grant returns to agent 0. When all agents
request all the time, the bus must be shared equally.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

AGENTS = 4


class Agents:
    """Four masters on the wires of the arbiter, in one coroutine."""

    def __init__(self, dut: Any, share: float) -> None:
        self.dut, self.share = dut, share
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.asks = [False] * AGENTS
        self.turns: list[int] = []
        """Owners of the bus, in order."""
        self.waited = [0] * AGENTS
        """Turns of other agents since each agent's request."""
        self.worst = 0
        self.hidden = 0
        """Number of transactions begun directly after the one idle clock."""
        self.stop = False
        self._owner, self._left, self._idle_for, self._last_gnt = -1, 0, 0, 1
        self._driven = [False, False]
        """Bus busy, as driven after each edge; the current grant was chosen two edges ago."""

    async def run(self, clocks: int) -> None:
        """Drive, check and count for `clocks` clocks."""
        for _ in range(clocks):
            await RisingEdge(self.dut.clk)
            self._watch(~int(self.dut.gnt_n.value) & (1 << AGENTS) - 1)
            self._ask()
            self.dut.req_n.value = sum((not asks) << k for k, asks in enumerate(self.asks))
            self.dut.frame_n.value = int(self._left < 2)
            self.dut.irdy_n.value = int(self._left < 1)

    def _watch(self, gnt: int) -> None:
        assert gnt & (gnt - 1) == 0, "two grants"
        moved = gnt != self._last_gnt and gnt and self._last_gnt
        assert self._driven[-2] or not moved, "grant moved on an idle bus without a clock between"
        self._last_gnt = gnt
        self._idle_for = 0 if self._left else self._idle_for + 1
        if self._left:
            self._left -= 1
        elif gnt and self.asks[gnt.bit_length() - 1]:
            self._owner = gnt.bit_length() - 1
            self._left, self.asks[self._owner] = self.rng.randrange(2, 7), False
            self.hidden += self._idle_for == 1
            self._turn(self._owner)
        self._driven.append(self._left > 0)

    def _ask(self) -> None:
        for k in range(AGENTS):
            running = self._left > 0 and k == self._owner
            if not self.asks[k] and not self.stop and not running and self.rng.random() < self.share:
                self.asks[k], self.waited[k] = True, 0

    def _turn(self, owner: int) -> None:
        self.turns.append(owner)
        self.waited[owner] = 0
        for k in range(AGENTS):
            if self.asks[k]:
                self.waited[k] += 1
                self.worst = max(self.worst, self.waited[k])


async def begin(dut: Any, share: float) -> Agents:
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    dut.rst.value, dut.frame_n.value, dut.irdy_n.value, dut.req_n.value = 1, 1, 1, (1 << AGENTS) - 1
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    return Agents(dut, share)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(share=[0.02, 0.2, 1.0])
async def no_agent_waits_longer_than_a_turn_of_each_other(dut: Any, share: float) -> None:
    agents = await begin(dut, share)
    await agents.run(4000)
    # One turn of each other agent, and the one already granted at the request.
    assert agents.worst <= AGENTS
    assert len(agents.turns) > 200 * share


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_full_bus_is_shared_equally_and_without_lost_clocks(dut: Any) -> None:
    agents = await begin(dut, 1.0)
    await agents.run(4000)
    counts = [agents.turns.count(k) for k in range(AGENTS)]
    assert max(counts) - min(counts) <= 2, counts
    assert agents.hidden > 0.95 * len(agents.turns)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_grant_parks_on_agent_0_and_the_arbiter_sleeps(dut: Any) -> None:
    agents = await begin(dut, 0.3)
    await agents.run(200)
    agents.stop = True
    await agents.run(60)
    assert int(dut.gnt_n.value) == 0b1110
    assert not int(dut.busy.value)
