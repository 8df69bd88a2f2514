"""Boards that fall silent in the middle of a program: each ends it with an error that says what it has waited for.

Strategy: a model board answers every command, but its NIC does nothing, its clock stops, or its host polls a card for
ever. The limits are short, and every program must end within them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from firmware.common.host.card import HOLD
from pymodels.cards import SLOT
from pymodels.kernel import Kernel
from pymodels.profiles import load_profile
from tb.board.bridge import Bridge
from tb.board.host import BoardHost
from tb.board.link import BoardLink
from tb.board.running import RunningBoard
from tb.board.transport import LineError, open_port
from tb.plan.on_board import with_board
from tb.sim.engine import HangError
from tb.tools.watchdog import RunLimitError
from tests.unit.board.model_board import IDENTITY, Behind, ModelBoard

PATIENCE_S = 2.0
LIMIT_S = 60.0
"""Limit of wall time for an end on a busy machine."""


@contextmanager
def running(board: ModelBoard) -> Iterator[tuple[RunningBoard, Behind]]:
    """Yield the hosts of a model board, and its line."""
    line = Behind(board.execute)
    bridge = Bridge(open_port(line.port, 1_000_000), PATIENCE_S)
    try:
        bridge.connect()
        link = BoardLink(bridge, replace(IDENTITY, core=False), Kernel())  # without the program that clears the SRAM
        link.start(trace=False)
        profile = with_board(load_profile("lanai4"), {"sram.bytes": str(1 << IDENTITY.sram_log2)})
        yield RunningBoard(link, profile, ("near", "far")), line
    finally:
        bridge.port.close()
        line.close()


async def polls(host: BoardHost) -> None:
    """Poll a word of host memory that no NIC writes."""
    await host.poll([(host.allocate(64).address, 0)], "look_flag")


@pytest.fixture(autouse=True)
def fixture_limit() -> Iterator[None]:
    """Check that the test has ended in time."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < LIMIT_S


def test_a_board_on_which_nothing_happens_ends_the_program_with_the_polled_word() -> None:
    said = "nothing has happened on the board for 0.005 s .*near's memory to change"
    with running(ModelBoard()) as (board, _), pytest.raises(HangError, match=said):
        board.run(polls(board.hosts[0]), hang_us=5000)


def test_a_stopped_clock_ends_the_program_with_the_polled_word() -> None:
    model = ModelBoard()
    with running(model) as (board, _):
        model.advance = lambda ps: None  # type: ignore[method-assign]
        model._wait = lambda: 0  # type: ignore[method-assign]
        with pytest.raises(HangError, match="NIC clock of the board has stopped: no edge in .*near's memory to change"):
            board.run(polls(board.hosts[0]), limit_s=LIMIT_S / 2)


def test_an_unplugged_board_ends_the_program() -> None:
    with running(ModelBoard()) as (board, line):

        async def program() -> None:
            line.unplug()
            await polls(board.hosts[0])

        with pytest.raises(LineError, match="the connection was lost"):
            board.run(program())


def test_a_board_that_answers_no_more_ends_the_program() -> None:
    with running(ModelBoard()) as (board, line):

        async def program() -> None:
            line.reply = lambda reply: b""
            await polls(board.hosts[0])

        with pytest.raises(LineError, match="the board answers no more"):
            board.run(program())


def test_a_host_that_polls_a_card_for_ever_is_ended_by_the_limit_of_the_run() -> None:
    with running(ModelBoard()) as (board, _):
        near, far = board.hosts

        async def program() -> None:
            near.spawn(polls(far), "other host")
            while await near.pio_read(SLOT) != HOLD:
                pass

        with pytest.raises(RunLimitError, match="longer than run.limit_s=1 s: .*far's memory to change"):
            board.run(program(), limit_s=1)
