"""Rates of single hosts against the rate of all hosts.

Strategy: with equal shares, the sender whose last message is handled last has the rate of all hosts divided by their
number; no sender can be slower. Times until the last `send` returns would give several times that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.runs import must


@pytest.mark.parametrize("pattern", ["ring", "all-to-all"])
def test_the_slowest_sender_of_a_stream_has_its_share_of_the_total_rate(pattern: str, tmp_path: Path) -> None:
    done = must("grim_streaming", "verilator", tmp_path, f"messages=64 size=16 pattern={pattern}", cluster="four_hosts")
    rates = done.results.series["rate_by_host"].y
    assert len(rates) == 4
    assert min(rates) == pytest.approx(done.metrics["messages_per_s_per_host"])
    assert max(rates) < 2 * min(rates), "senders of equal shares end at about the same time"
