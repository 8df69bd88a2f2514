"""cocotb-bus scoreboard of block benches: a list of expected transactions for each monitor.

The scoreboard has a file of its own, because its import loads a packet library that no agent needs.
"""

from __future__ import annotations

from cocotb_bus.scoreboard import Scoreboard


class Checker(Scoreboard):  # type: ignore[misc]  # cocotb-bus has no annotations
    """Scoreboard that compares received with expected transactions in order; the first difference fails the test."""

    def finish(self) -> None:
        """Raise AssertionError if an expected transaction was not received or a comparison failed."""
        open_items = {str(monitor): len(expected) for monitor, expected in self.expected.items() if expected}
        assert not open_items, f"expected transactions not received: {open_items}"
        assert not self.errors, f"{self.errors} transactions differ from the expected ones"
