"""Round trips of VIA studies measure messages only.

Strategy: the round trips of studies run on the machine. A thread that has just got the CPU pays for a context switch,
so the first message of a thread must not count. Nor must messages between kernels. Few and many round trips must give
the same times.
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
    """Parts of a lab that round trips use."""

    @property
    def running(self) -> Any:
        """Hosts of the machine."""
        return SimpleNamespace(hosts=[self.machine.host(i) for i in range(2)])


def measured(rounds: int) -> tuple[float, float]:
    """Return the host's time of a send of 64 bytes, and the one-way time of a round trip, in us."""
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


def test_few_and_many_round_trips_give_the_same_times() -> None:
    few, many = measured(3), measured(12)
    assert few[0] == pytest.approx(many[0], rel=0.001)
    assert few[1] == pytest.approx(many[1], rel=0.005)
