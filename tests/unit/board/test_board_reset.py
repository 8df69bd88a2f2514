"""Failures of the line of a board that was reset during a run, and of one that was not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pymodels.board.map import Region, address
from pymodels.kernel import Kernel
from tb.board.bridge import Bridge
from tb.board.link import BoardLink, BoardResetError
from tb.board.transport import LineError, open_port
from tests.unit.board.model_board import Behind, ModelBoard

PLACE = address(Region.MEMORY, 0x100, 1)
PATIENCE_S = 2.0


@pytest.fixture(name="board")
def fixture_board() -> ModelBoard:
    """Return a board."""
    return ModelBoard()


@pytest.fixture(name="line")
def fixture_line(board: ModelBoard) -> Iterator[Behind]:
    """Yield a port with the board behind it."""
    line = Behind(board.execute)
    yield line
    line.close()


def failure(board: ModelBoard, line: Behind, event: Callable[[], object]) -> tuple[BoardLink, LineError]:
    """Return the link of a run and the failure of its line after an event between two commands."""
    bridge = Bridge(open_port(line.port, 1_000_000), PATIENCE_S)
    bridge.connect()
    link = BoardLink(bridge, board.identity, Kernel())
    link.start(False)
    bridge.verify()
    bridge.write(PLACE, range(40))
    assert bridge.read(PLACE, 1) == (0,)
    event()
    with pytest.raises(LineError, match="lost, doubled or damaged") as raised:
        bridge.verify()
    return link, raised.value


def test_a_reset_that_restarts_the_checksums_is_reported_as_a_reset(board: ModelBoard, line: Behind) -> None:
    link, failed = failure(board, line, board.power_up)
    assert isinstance(link.cause_of(failed), BoardResetError)
    link.bridge.port.close()


def test_damaged_bytes_without_a_reset_are_reported_as_damaged_bytes(board: ModelBoard, line: Behind) -> None:
    link, failed = failure(board, line, board.sums.reverse)
    assert link.cause_of(failed) is failed
    link.bridge.port.close()


def test_damaged_bytes_are_the_cause_of_any_failure_that_follows_them(board: ModelBoard, line: Behind) -> None:
    bridge = Bridge(open_port(line.port, 1_000_000), PATIENCE_S)
    bridge.connect()
    link = BoardLink(bridge, board.identity, Kernel())
    link.start(False)
    symptom = ValueError("the processor has halted")
    assert link.cause_of(symptom) is symptom
    board.sums.reverse()
    found = link.cause_of(symptom)
    assert isinstance(found, LineError)
    assert "lost, doubled or damaged" in str(found)
    link.bridge.port.close()


def test_an_unplugged_board_is_not_reported_as_reset(board: ModelBoard, line: Behind) -> None:
    link, failed = failure(board, line, board.power_up)
    line.unplug()
    assert link.cause_of(failed) is failed
    link.bridge.port.close()
