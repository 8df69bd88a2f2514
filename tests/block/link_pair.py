"""Bench around `sim_link_pair`: two ports back to back, their streams, and the wires between them."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import cocotb

from pymodels.link.characters import Symbol
from pymodels.settings import LINK
from tb.agents.grid import Grid
from tb.agents.link import PacketSink, PacketSource
from tb.agents.settings import SettingsPort, drive

DEFAULTS = {
    "cfg_delay": 3,
    "cfg_lasting": 1,
    "cfg_slack": 80,
    "cfg_stop_mark": 56,
    "cfg_go_mark": 40,
    "cfg_refresh": 8,
    "cfg_short_timeout": 16,
    "cfg_long_timeout": 4_000_000,
    "cfg_beat_period": 1600,
    "cfg_beats": 3,
}


class Bench:
    """Both ends, their streams and the wires between them."""

    def __init__(self, dut: Any, sleeping: bool = False, **settings: int) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        inputs = {**DEFAULTS, **settings, "ab_force": 0, "ab_char": 0, "ba_force": 0, "ba_char": 0}
        drive(dut, inputs, [SettingsPort(dut.cfg, LINK)])
        self.grid = Grid(dut, sleeping)
        self.sent: dict[str, list[bytes]] = {"a": [], "b": []}
        self.got: dict[str, list[bytes]] = {"a": [], "b": []}
        self.sources = {end: PacketSource(dut, f"{end}_s", self.grid) for end in "ab"}
        self.sinks = {end: PacketSink(dut, f"{end}_m", self.grid, self.got[end].append) for end in "ab"}
        self.wire: dict[str, list[tuple[int, int]]] = {"a": [], "b": []}
        self.seen: dict[str, list[tuple[int, int]]] = {}
        self.forced: dict[str, deque[int | None]] = {"ab": deque(), "ba": deque()}
        self.grid.samplers.append(self._watch)
        self.grid.drivers.append(self._force)

    async def start(self, at: int = 0) -> None:
        await self.grid.reset(at)

    def send(self, end: str, wire: bytes) -> None:
        self.sent[end].append(wire)
        self.sources[end].send(wire)

    def packet(self, longest: int = 200) -> bytes:
        return self.rng.randbytes(self.rng.randint(1, longest))

    def _watch(self, now: int) -> None:
        for end in "ab":
            character = int(self.dut[f"{end}_tx"].value)
            if character:
                self.wire[end].append((now, character))
        for name in ("ev_overflow", "ev_illegal", "ev_forward_reset", "ev_short_timeout"):
            value = int(self.dut[name].value)
            if value:
                self.seen.setdefault(name, []).append((now, value))

    def _force(self, now: int) -> None:
        for way, queue in self.forced.items():
            character = queue.popleft() if queue else None
            self.dut[f"{way}_force"].value = int(character is not None)
            if character is not None:
                self.dut[f"{way}_char"].value = character

    def symbols(self, end: str, symbol: Symbol) -> list[int]:
        """Return the grid points at which one side sent a control character."""
        return [now for now, character in self.wire[end] if character == int(symbol)]

    async def settle(self, limit: int = 200_000) -> None:
        """Wait until all sent packets have arrived."""
        await self.grid.run(limit, lambda: self.got["a"] == self.sent["b"] and self.got["b"] == self.sent["a"])
        assert self.got["b"] == self.sent["a"] and self.got["a"] == self.sent["b"]
        await self.grid.run(100)
        assert "ev_overflow" not in self.seen and "ev_illegal" not in self.seen


class Gate:
    """Stall that blocks until it is opened."""

    def __init__(self) -> None:
        self.closed = True

    def __iter__(self) -> Gate:
        return self

    def __next__(self) -> bool:
        return self.closed


def bursts(rng: random.Random) -> Iterator[bool]:
    """Yield long stalls and long runs, so that the slack buffer crosses both marks."""
    while True:
        for stalled in (True, False):
            for _ in range(rng.randint(40, 250)):
                yield stalled
