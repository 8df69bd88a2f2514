"""Bridge of a board: bursts, and an error for every lost, doubled or damaged byte, after which a new start works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from pymodels.board.identity import BoardIdentityError
from pymodels.board.map import ControlRegister, Region, address, control
from tb.board.bridge import Bridge, NoBoardError
from tb.board.found import WrongBoardError, connected
from tb.board.transport import LineError, open_port
from tests.unit.board.model_board import Behind, ModelBoard, other_device, silent

PATIENCE_S = 0.6
LIMIT_S = 12.0
"""Limit of wall time for a failure on a busy machine."""
PLACE = address(Region.MEMORY, 0x100, 1)
Fault = Callable[[bytes], bytes]


class Once:
    """Fault of one byte: the one with a given number is replaced."""

    def __init__(self, number: int, replace: Fault) -> None:
        self.number, self.replace, self.seen = number, replace, 0

    def __call__(self, data: bytes) -> bytes:
        at, self.seen = self.number - self.seen, self.seen + len(data)
        if not 0 <= at < len(data):
            return data
        return data[:at] + self.replace(data[at : at + 1]) + data[at + 1 :]


FAULTS: dict[str, Fault] = {
    "lost": lambda byte: b"",
    "doubled": lambda byte: byte + byte,
    "damaged": lambda byte: bytes([byte[0] ^ 0x10]),
}


@pytest.fixture(name="line")
def fixture_line() -> Iterator[Behind]:
    """Yield a port with a model board behind it."""
    line = Behind(ModelBoard().execute)
    yield line
    line.close()


def bridge_of(line: Behind, patience_s: float = PATIENCE_S) -> Bridge:
    """Return a connected bridge of a port."""
    bridge = Bridge(open_port(line.port, 1_000_000), patience_s)
    bridge.connect()
    return bridge


def work(bridge: Bridge) -> None:
    """Write and read some words, and verify them."""
    bridge.write(PLACE, range(40))
    assert bridge.read(PLACE, 40) == tuple(range(40))
    bridge.verify()


def test_long_bursts_arrive_in_order(line: Behind) -> None:
    bridge = bridge_of(line)
    bridge.write(PLACE, range(1000))
    assert bridge.read(PLACE, 1000) == tuple(range(1000))
    bridge.verify()
    bridge.port.close()


@pytest.mark.parametrize("number", [0, 5, 8, 100, 168])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_byte_to_the_board_ends_in_an_error_and_a_new_start_works(
    line: Behind, fault: str, number: int
) -> None:
    bridge = bridge_of(line)
    line.damage = Once(number, FAULTS[fault])
    begun = time.monotonic()
    with pytest.raises((LineError, AssertionError)):
        work(bridge)
    with pytest.raises(LineError):
        bridge.verify()
    assert time.monotonic() - begun < LIMIT_S
    bridge.port.close()
    line.damage = bytes
    again = bridge_of(line)
    work(again)
    again.port.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_byte_from_the_board_ends_in_an_error_and_a_new_start_works(line: Behind, fault: str) -> None:
    bridge = bridge_of(line)
    line.reply = Once(70, FAULTS[fault])
    with pytest.raises((LineError, AssertionError)):
        work(bridge)
    with pytest.raises(LineError, match=r"lost, doubled or damaged|answers no more"):
        bridge.verify()
    bridge.port.close()
    line.reply = bytes
    again = bridge_of(line)
    work(again)
    again.port.close()


def test_a_command_cut_short_by_another_program_is_skipped(line: Behind) -> None:
    port = open_port(line.port, 1_000_000)
    port.send(b"\x01\x04\x10", 1)
    port.close()
    bridge = bridge_of(line, 10 * PATIENCE_S)
    work(bridge)
    bridge.port.close()


def test_a_late_answer_to_an_earlier_request_does_not_shift_the_next_ones(line: Behind) -> None:
    replies: list[bytes] = []

    def second_with_first(reply: bytes) -> bytes:
        replies.append(reply)
        return {1: b"", 2: b"".join(replies)}.get(len(replies), reply)

    line.reply = second_with_first
    bridge = Bridge(open_port(line.port, 1_000_000), PATIENCE_S)
    bridge.connect()
    bridge.write(PLACE, [7, 8])
    assert bridge.read(PLACE, 2) == (7, 8)
    bridge.port.close()


@pytest.mark.parametrize(
    ("device", "said"), [(silent, "nothing answers"), (other_device, "it answers 4f 4b 0d 0a")], ids=["silent", "other"]
)
def test_a_port_without_a_board_is_rejected(device: Fault, said: str) -> None:
    line = Behind(device)
    with pytest.raises(NoBoardError, match=f"{said} to the request") as error, connected(line.port, PATIENCE_S):
        pass
    assert error.value.exit_code == 2
    line.close()


def test_a_board_with_another_address_map_is_rejected_with_both_versions() -> None:
    board = ModelBoard()
    board.registers[ControlRegister.MAP_VERSION] = 7
    line = Behind(board.execute)
    said = r"version 7, this program has version \d"
    with pytest.raises(WrongBoardError, match=said) as error, connected(line.port, PATIENCE_S):
        pass
    assert isinstance(error.value, BoardIdentityError)
    assert error.value.exit_code == 2
    line.close()


def test_an_unplugged_board_ends_the_run_at_once(line: Behind) -> None:
    bridge = bridge_of(line)
    line.unplug()
    begun = time.monotonic()
    with pytest.raises(LineError, match="connection was lost"):
        bridge.read(control(ControlRegister.SCRATCH))
    assert time.monotonic() - begun < PATIENCE_S
    bridge.port.close()
