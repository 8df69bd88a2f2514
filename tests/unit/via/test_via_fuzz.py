"""Fuzz test of VIA on the machine.

Strategy: the study `via_fuzz`, whose checks are the test: hostile processes on both hosts beside honest ones, with the
kernel's doorbell and with user-level doorbells. A deliberately disturbed receiver shows that the checks can fail.
"""

from __future__ import annotations

from typing import Any

import pytest

from pymodels.machine import Machine
from tb.studies.via import via_fuzz
from tests.unit.via.via_lab import MachineLab


def lab(tries: int, seed: int, **layer: Any) -> MachineLab:
    """Return a lab with two hosts on the machine."""
    machine = Machine(2, seed=seed, trace=False)
    return MachineLab(machine, seed, {"tries": tries, "every_us": 4}, {"vis": 8, **layer})


@pytest.mark.parametrize("rdma", ["buffer", "table"])
@pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
def test_hostile_processes_do_not_affect_others(preset: str, rdma: str) -> None:
    fuzz = lab(300, seed=7, preset=preset, rdma=rdma)
    fuzz.machine.finish(via_fuzz.run(fuzz))  # type: ignore[arg-type]
    assert fuzz.findings.failures == []
    assert fuzz.findings.metrics["acts_posts"] > 50
    assert fuzz.findings.metrics["acts_stopped"] > 20
    assert fuzz.findings.metrics["honest_messages"] > 10


def test_a_corrupted_message_is_detected() -> None:
    fuzz = lab(40, seed=1)

    async def flip() -> None:
        """Change the first byte of the honest receiver's memory repeatedly."""
        await fuzz.machine.host(1).sleep(100_000_000)
        for _ in range(200):
            await fuzz.machine.host(1).sleep(3_000_000)
            process = fuzz.machine.host(1).processes[0]
            process.store_bytes(0x1000_0000, b"?")

    fuzz.machine.host(1).spawn(flip(), "a fault")
    fuzz.machine.finish(via_fuzz.run(fuzz))  # type: ignore[arg-type]
    assert fuzz.findings.failures
