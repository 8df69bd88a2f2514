"""What the round trips of VIA studies measure: messages, and nothing that comes before them.

Strategy: the round trips of studies on the machine. A thread that has just been given the CPU pays for a context
switch, and so the first message of a thread is no measure of the others; messages between kernels are no message of a
process.
Few and many round trips must give the same times.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pymodels.machine import Machine
from pymodels.trace import TraceEvent
from tb.studies.via._via_case import Case
from tb.studies.via._via_ends import End
from tb.studies.via._via_rounds import latency
from tb.studies.via.firmvia_pio_dma import host_sends
from tests.unit.via.via_lab import MachineLab


class Hosts(MachineLab):
    """With what round trips need of a lab."""

    @property
    def running(self) -> Any:
        """Its hosts."""
        return SimpleNamespace(hosts=[self.machine.host(i) for i in range(2)])


def measured(rounds: int) -> tuple[float, float]:
    """The host's time of a send of 64 bytes, and one way of a round trip, us."""
    machine = Machine(2)
    lab = Hosts(machine, 1, {}, {"inline": 64})

    async def run() -> Any:
        libraries = lab.start_layer("via")
        for library in libraries:
            await library.start()
        near, far = [await End.open(lab, libraries, node) for node in range(2)]  # type: ignore[arg-type]
        begun = machine.kernel.now
        result = await latency(near, far, Case(64), rounds)
        trace = machine.trace.array()
        late = trace[trace["time"] >= begun]
        assert (late["event"] == TraceEvent.SEND_CALL).sum() > 2 * (rounds + 1), "kernels' messages are traced too"
        return host_sends(late, 0), result.value

    (found,) = machine.finish(run())
    return found  # type: ignore[no-any-return]


def test_few_and_many_round_trips_measure_the_same() -> None:
    few, many = measured(3), measured(12)
    assert few[0] == pytest.approx(many[0], rel=0.001)
    assert few[1] == pytest.approx(many[1], rel=0.005)
