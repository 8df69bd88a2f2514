"""Monitor of cocotb-bus for a place of a running cluster, whose wires are sampled and decoded elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Protocol

from tb.agents.bus import PassiveMonitor
from tb.agents.checker import Checker


class Decoded(Protocol):
    """Source of decoded transactions (tb/monitors)."""

    name: str
    """Name of the place, such as `paris.pci`."""

    @property
    def transactions(self) -> Sequence[Any]:
        """Finished transactions up to now, oldest first."""

    def add_callback(self, callback: Callable[[Any], object]) -> None:
        """Call a function with each transaction from now on."""


class ClusterMonitor(PassiveMonitor):
    """Monitor of cocotb-bus: callbacks, `wait_for_recv`, and scoreboards for the transactions of a source."""

    def __init__(self, source: Decoded) -> None:
        super().__init__()
        self.source = source
        self.name = source.name
        source.add_callback(self._recv)

    def __str__(self) -> str:
        return self.name

    @property
    def transactions(self) -> Sequence[Any]:
        """Finished transactions up to now, oldest first, with those from before the monitor."""
        return self.source.transactions

    def scoreboard(self, expected: list[Any]) -> Checker:
        """Return a scoreboard that expects these transactions next, in this order; the test may append more."""
        board = Checker(SimpleNamespace(_name=str(self)))
        board.add_interface(self, expected)
        return board
