"""Round trips over requests and replies, and records of one part of a node.

Strategy: a made-up port calls handlers as a layer does, with the data it was given or with other data. A trace of
made-up records has the requested event and the same event of other nodes, parts and times.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pymodels.trace import RECORD, Part, TraceEvent, unit
from tb.studies.kit.echo import Echo
from tb.studies.kit.records import since, times
from tests.unit.studies.made_up_mail import MadeUpLab

TRIP_PS = 1000
Handler = Callable[[Any], Awaitable[None]]


class MadeUpPort:
    """A port whose far program is called at once; `changed`: replies have other data."""

    def __init__(self, lab: MadeUpLab, changed: bool) -> None:
        self._lab, self._changed = lab, changed
        self.asked: list[int] = []

    async def request(self, node: int, handler: Handler, data: bytes) -> None:
        """Take the time of a trip and call both handlers."""
        self.asked.append(node)
        await self._lab.kernel.sleep(TRIP_PS)

        async def reply(back: Handler, data: bytes) -> None:
            await back(SimpleNamespace(data=b"?" if self._changed else data))

        await handler(SimpleNamespace(data=data, reply=reply))

    async def until(self, condition: Callable[[], bool], why: str) -> None:
        """Everything has happened by then."""
        assert condition(), why


@pytest.mark.parametrize(("changed", "failures"), [(False, 0), (True, 3)])
def test_data_come_back_unchanged_or_fail_the_run(changed: bool, failures: int) -> None:
    lab = MadeUpLab()
    echo, port = Echo(lab), MadeUpPort(lab, changed)
    trips = lab.finish(echo.round_trips(port, 7, 20, 3))
    assert trips.took == [TRIP_PS] * 3 and port.asked == [7, 7, 7] and len(echo.came) == 3
    assert lab.findings.failures == ["echoed bytes: 20 bytes returned corrupted"] * failures
    assert lab.findings.messages == 0, "the study counts its messages"


def test_the_far_program_serves_until_the_round_trips_are_over() -> None:
    lab = MadeUpLab()
    echo = Echo(lab)
    with pytest.raises(AssertionError, match="the end of the round trips"):
        lab.finish(echo.serve(MadeUpPort(lab, False)))
    echo.over = True
    lab.finish(echo.serve(MadeUpPort(lab, False)))


def made_up_trace() -> Any:
    """Records of one event at several nodes and parts, and of another event."""
    rows = [
        (10, unit(0, Part.HOST_CPU), TraceEvent.POLL_HIT),
        (20, unit(1, Part.HOST_CPU), TraceEvent.POLL_HIT),
        (30, unit(0, Part.NIC_CPU), TraceEvent.POLL_HIT),
        (40, unit(0, Part.HOST_CPU), TraceEvent.SEND_CALL),
        (50, unit(0, Part.HOST_CPU), TraceEvent.POLL_HIT),
    ]
    trace = np.zeros(len(rows), dtype=RECORD)
    for row, (time, where, event) in zip(trace, rows, strict=True):
        row["time"], row["unit"], row["event"] = time, where, event
    return trace


def test_times_are_those_of_one_event_at_one_part_of_one_node() -> None:
    assert times(made_up_trace(), 0, Part.HOST_CPU, TraceEvent.POLL_HIT).tolist() == [10, 50]


@pytest.mark.parametrize(("begun", "left"), [(0, 5), (20, 4), (21, 3), (51, 0)])
def test_the_trace_since_a_time_includes_that_time(begun: int, left: int) -> None:
    lab: Any = SimpleNamespace(trace=made_up_trace)
    assert len(since(lab, begun)) == left
