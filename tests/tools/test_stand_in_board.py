"""Stand-in for a board: the generic top in Verilator behind a port, as a host sees it.

Strategy: the stand-in is started as `make board SIM=1` starts it, and a small client sends commands of
`pymodels.board.bone`. Its identity must be that of its manifest, or the given one of an older bitstream. Registers,
memories and the NIC's SRAM must keep what is written, over a pseudo-terminal and over TCP, for several seeds of the
clocks. The reset button must bring the board into its state after power-up.
"""

from __future__ import annotations

import os
import select
import socket
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pytest

from pymodels.board.bone import CHECK_COMMAND, Checks, read_command, reply_words, write_command
from pymodels.board.identity import FIRST, WORDS, BoardIdentityError, Identity
from pymodels.board.map import UNANSWERED, ControlRegister, NodeRegister, Region, address, control
from tb.fpga.board_design import find_design
from tb.fpga.board_sim import start

PATIENCE_S = 60
TCP = "tcp:localhost:"


class Client:
    """Host with nothing but an open descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.checks = descriptor, Checks()

    def _send(self, data: bytes) -> None:
        self.checks.send(data)
        os.write(self.descriptor, data)

    def _arrived(self, size: int, patience_s: float) -> bytes:
        got, end = b"", time.monotonic() + patience_s
        while len(got) < size and time.monotonic() < end:
            if select.select([self.descriptor], [], [], 1)[0]:
                got += os.read(self.descriptor, size - len(got))
        return got

    def _receive(self, size: int) -> bytes:
        got = self._arrived(size, PATIENCE_S)
        assert len(got) == size, f"{len(got)} of {size} bytes arrived"
        self.checks.receive(got)
        return got

    def read(self, place: int, count: int = 1) -> tuple[int, ...]:
        self._send(read_command(place, count))
        return reply_words(self._receive(4 * count))

    def read_after_loss(self, place: int) -> int:
        """Read a word of a board that may have lost bytes: be quiet until it drops the command, and repeat."""
        for _ in range(PATIENCE_S):
            self._send(read_command(place))
            if len(got := self._arrived(4, 1)) == 4:
                return reply_words(got)[0]
        raise AssertionError("no answer")

    def write(self, place: int, words: Sequence[int]) -> None:
        self._send(write_command(place, words))

    def compare_checks(self) -> None:
        self._send(CHECK_COMMAND)
        expected = self.checks.expected()
        assert reply_words(self._receive(8)) == expected

    def release(self) -> None:
        """Release the reset of the nodes, and wait until they answer."""
        self.write(control(ControlRegister.RESET), [0])
        for _ in range(50):
            if self.read(address(Region.NODE, NodeRegister.PC)) != (UNANSWERED,):
                return
        raise AssertionError("the nodes stay in reset")


@contextmanager
def opened(port: str) -> Iterator[Client]:
    if port.startswith(TCP):
        with socket.create_connection(("localhost", int(port.removeprefix(TCP)))) as stream:
            yield Client(stream.fileno())
        return
    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(descriptor)
    try:
        yield Client(descriptor)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("seed", [1, 2])
def test_registers_memories_and_sram_keep_what_is_written(seed: int) -> None:
    with start(find_design("pair"), seed=seed) as board, opened(board.port) as client:
        assert Identity.read(client.read(FIRST, WORDS)) == board.manifest.identity
        client._send(CHECK_COMMAND)
        client.checks.expected()
        client._receive(8)
        client.release()
        for node in range(2):
            memory, sram = address(Region.MEMORY, 0x80, node), address(Region.NIC, 0x4000, node)
            words = [0x01020304 + node, 0xA5A5A5A5, seed]
            client.write(memory, words)
            client.write(sram, words[::-1])
            assert client.read(memory, 3) == tuple(words)
            assert client.read(sram, 3) == tuple(words[::-1])
        client.compare_checks()


def test_the_port_is_that_of_tcp_and_outlives_a_host() -> None:
    with start(find_design("pair"), tcp=0) as board:
        for number in range(2):
            with opened(board.port) as client:
                client.write(control(ControlRegister.SCRATCH), [number])
                assert client.read(control(ControlRegister.SCRATCH)) == (number,)


def test_a_node_in_reset_is_not_answered_and_counted() -> None:
    with start(find_design("pair")) as board, opened(board.port) as client:
        assert client.read(control(ControlRegister.RESET)) == (1,)
        assert client.read(address(Region.MEMORY, 0)) == (UNANSWERED,)
        assert client.read(address(Region.NIC, 0, node=3)) == (UNANSWERED,)
        assert client.read(control(ControlRegister.BUS_ERRORS)) == (2,)


def test_the_reset_button_restores_the_state_after_power_up() -> None:
    with start(find_design("pair")) as board, opened(board.port) as client:
        client.write(control(ControlRegister.SCRATCH), [77])
        client.release()
        board.press_reset()
        words = [client.read_after_loss(control(ControlRegister.SCRATCH)) for _ in range(3)]
        assert words[-1] == 0, "the button has an effect"
        assert client.read(control(ControlRegister.RESET)) == (1,)


def test_an_older_bitstream_reports_its_own_identity() -> None:
    design = find_design("pair")
    with start(design) as board:
        known = board.manifest
    with start(design, reported=replace(known.identity, hash="0" * 32)) as board, opened(board.port) as client:
        words = client.read(FIRST, WORDS)
    with pytest.raises(BoardIdentityError, match="its hash is 0000"):
        known.check(Identity.read(words))
